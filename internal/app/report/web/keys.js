// Keys. Each is a row of the help as well.

const keys = [
  ["ArrowLeft ArrowRight", "← →", "move the time cursor", (e) => setCursor(view.cursor + (e.key === "ArrowLeft" ? -1 : 1) * perPixel() * (e.shiftKey ? 100 : 10))],
  ["ArrowUp ArrowDown", "↑ ↓", "the row above, the row below", (e) => stepRow(e.key === "ArrowUp" ? -1 : 1)],
  ["PageUp PageDown", "PgUp PgDn", "a page of rows", (e) => { byId("scroll").scrollTop += (e.key === "PageUp" ? -1 : 1) * view.height * 0.9; }],
  ["Home End", "Home End", "the beginning and the end of the tape", (e) => setCursor(e.key === "Home" ? 0 : end)],
  ["Enter", "Enter", "open a node or a section, and close it", () => toggle(view.selected)],
  ["+ =", "+", "zoom in at the cursor; also the wheel with ctrl, or over the axis", () => zoom(0.6, inView())],
  ["-", "-", "zoom out", () => zoom(1 / 0.6, inView())],
  ["0", "0", "the whole tape", whole],
  ["a d", "a d", "move the shown part; also a drag, or the wheel with shift", (e) => pan((view.to - view.from) * (e.key === "a" ? -0.2 : 0.2))],
  ["/", "/", "search", () => { byId("search").focus(); byId("search").select(); }],
  ["n N", "n N", "the next hit, the previous hit", (e) => stepHit(e.key === "n" ? 1 : -1)],
  ["f F", "f F", "the next finding, the previous finding", (e) => stepFinding(e.key === "f" ? 1 : -1)],
  ...(compared ? [["c C", "c C", "the next difference, the previous difference", (e) => stepDifference(e.key === "c" ? 1 : -1)]] : []),
  [". ,", ". ,", "the next entry of the feed, the previous one", (e) => stepEntry(e.key === "." ? 1 : -1)],
  ["p", "p", "the height of rows; tall ones show pods", () => setDensity(densities[(densities.indexOf(view.density) + 1) % densities.length])],
  ["v", "v", "nodes as a table", () => showTable()],
  ["t", "t", "light, dark, or as the system has it", () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length])],
  ["Escape", "Esc", "leave the search, unmark", unmark],
  ["?", "?", "this help", () => byId("keys").showModal()],
];

const inView = () => Math.min(Math.max(view.cursor, view.from), view.to);

function stepRow(by) {
  const at = view.selected < 0 ? rowAt(scrolled()) - (by > 0 ? 1 : 0) : view.selected;
  select(Math.min(Math.max(at + by, 0), rows.length - 1));
}

function keyboard() {
  const known = new Map();
  for (const [names, shown, text, does] of keys) {
    for (const k of names.split(" ")) known.set(k, does);
    byId("keys-list").append(element("dt", "", shown), element("dd", "", text));
  }
  byId("keys-list").append(element("dt", "", "shift+drag"), element("dd", "", "zoom to a stretch of time"));
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    const target = e.target;
    if (target === byId("search")) {
      if (e.key === "Enter") { e.preventDefault(); stepHit(e.shiftKey ? -1 : 1); }
      if (e.key === "Escape") byId("scroll").focus();
      return;
    }
    // A button and a list keep the keys that are theirs.
    if (/^(SELECT|INPUT)$/.test(target.tagName) || (target.tagName === "BUTTON" && (e.key === "Enter" || e.key === " "))) return;
    if (target === byId("feed") && /^(Arrow(Up|Down)|Page|Home|End)/.test(e.key)) return;
    const does = known.get(e.key);
    if (!does) return;
    e.preventDefault();
    does(e);
  });
}
