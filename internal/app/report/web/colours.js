// Colours come from the style sheet, so that light and dark are written once.

const phases = ["booting", "joining", "serving", "notready", "cordoned", "draining", "terminating"];
const waitKinds = ["budget", "grace", "finalizer", "volume", "image-pull", "scheduling", "pod-start", "node-ready", "machine", "controller", "node-shutdown"];
const colours = {};
const themes = ["auto", "light", "dark"];
let theme = "auto";

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "raised", "line", "text", "faint", "accent", "mark", "hit", "band", "alarm", "row", "area", "area-low", "wanted", ...phases]) {
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  }
  patterns.clear();
}

function setTheme(name) {
  theme = name;
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId("theme").textContent = `Theme: ${name}`;
  readColours();
  drawLegend();
  drawOverview();
  redraw();
}

// Each kind of wait has a colour of a phase and a dash, so that either is enough to tell it.
const waitLook = {
  budget: ["alarm", []], grace: ["draining", [6, 2]], finalizer: ["notready", [2, 2]], volume: ["mark", [8, 3, 2, 3]],
  "image-pull": ["joining", [6, 2]], scheduling: ["cordoned", [2, 2]], "pod-start": ["serving", [6, 2]],
  "node-ready": ["joining", [2, 2]], machine: ["booting", [8, 3, 2, 3]], controller: ["faint", [1, 3]],
  "node-shutdown": ["terminating", [6, 2]],
};
const waitColour = (kind) => colours[(waitLook[kind] || ["faint"])[0]];
const waitDash = (kind) => (waitLook[kind] || ["", [1, 3]])[1];
