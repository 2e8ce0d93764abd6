// The axis: times above the lanes, with flags of markers and gaps.

const svgName = "http://www.w3.org/2000/svg";
function svg(name, attributes = {}, text = "") {
  const e = document.createElementNS(svgName, name);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== "") e.textContent = text;
  return e;
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 864e5];

// tickStep is the least step between two times that leaves room for their texts.
function tickStep() {
  const least = 90 * (view.to - view.from) / (view.width - view.gutter);
  return steps.find((s) => s >= least) || Math.ceil(least / 864e5) * 864e5;
}

const ticks = []; // elements that are used again

function drawAxis() {
  const axis = byId("axis"), step = tickStep();
  let used = 0;
  // Times stand below, flags above them; a text that would cover the last one of its line is left out.
  const taken = [-1, -1];
  const tick = (x, text, colour, flag, width = 76) => {
    let t = ticks[used];
    if (!t) {
      t = { line: axis.appendChild(svg("line", { y2: 38 })), text: axis.appendChild(svg("text")) };
      ticks.push(t);
    }
    used++;
    t.line.setAttribute("x1", x);
    t.line.setAttribute("x2", x);
    t.line.setAttribute("y1", flag ? 4 : 28);
    t.line.style.stroke = colour;
    t.text.setAttribute("y", flag ? 13 : 30);
    t.text.setAttribute("x", Math.min(x + 3, view.width - width));
    t.text.style.fill = flag ? colour : "";
    if (x < taken[flag ? 1 : 0]) text = "";
    else taken[flag ? 1 : 0] = x + 10 + text.length * 6;
    t.line.style.display = t.text.style.display = "";
    if (t.text.textContent !== text) t.text.textContent = text;
  };
  for (let t = zero + Math.ceil((Math.max(view.from, 0) - zero) / step) * step; t <= Math.min(view.to, end); t += step) tick(Math.round(xOf(t)), axisText(t, step), colours.faint, false, 0);
  const flags = [
    [view.cursor, cursorText(view.cursor), colours.accent],
    ...tapes.flatMap((tape, side) => [
      ...tape.gaps.map((g) => [g.at, tagged(side, `gap ${g.name.slice(0, 24)}`), colours.alarm]),
      ...tape.marks.map((m) => [m.at, tagged(side, m.name.slice(0, 24)), colours.mark]),
    ]),
  ].filter(([at]) => at >= view.from && at <= view.to).sort((a, b) => a[0] - b[0]);
  for (const [at, text, colour] of flags.slice(0, 60)) tick(Math.round(xOf(at)), text, colour, true, Math.max(76, text.length * 6));
  for (let i = used; i < ticks.length; i++) ticks[i].line.style.display = ticks[i].text.style.display = "none";
}

// axisText is a time of the axis: a position on the tape, or of two, how long after the begin of their rolls.
const axisText = (t, step) => compared ? shortStamp(t - zero, step).slice(1) : shortStamp(t, step);

// shortStamp leaves out what the step doesn't need.
function shortStamp(t, step) {
  const text = stamp(t);
  if (step >= 1000) return text.replace(/\.\d+s$/, "s");
  return text;
}
