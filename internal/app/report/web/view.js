// What is shown: a part of the tape, a time cursor, a row. Whatever changes it calls redraw, which draws once a frame.

const view = { from: 0, to: end, cursor: 0, selected: -1, band: null, places: [], density: "normal", width: 800, height: 400, gutter: 230 };
const shortest = 20; // milliseconds over the whole width

const xOf = (t) => view.gutter + (t - view.from) * (view.width - view.gutter) / (view.to - view.from);
const tOf = (x) => view.from + (x - view.gutter) * (view.to - view.from) / (view.width - view.gutter);

// show sets the part of the tape, within its bounds.
function show(from, to) {
  const length = Math.min(Math.max(to - from, shortest), end * 1.04);
  const middle = (from + to) / 2;
  from = middle - length / 2;
  from = Math.min(Math.max(from, -end * 0.02), end * 1.02 - length);
  view.from = from;
  view.to = from + length;
  redraw();
}

// zoom makes the part shorter or longer around a time that stays where it is.
function zoom(factor, around) {
  const length = Math.min(Math.max((view.to - view.from) * factor, shortest), end * 1.04);
  const share = (around - view.from) / (view.to - view.from);
  show(around - share * length, around + (1 - share) * length);
}

function pan(ms) { show(view.from + ms, view.to + ms); }

const whole = () => show(-end * 0.02, end * 1.02);

// setCursor moves the time cursor, and the part with it where it would leave.
function setCursor(t, follow = true) {
  view.cursor = Math.min(Math.max(t, 0), end);
  const length = view.to - view.from;
  if (view.cursor < view.from || view.cursor > view.to) show(view.cursor - length / 2, view.cursor + length / 2);
  if (follow) feedFollows = true;
  redraw();
}

// unmark takes the marks of a finding or a difference away.
function unmark() {
  view.band = null;
  view.places = [];
  redraw();
}

let due = false;
function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(frame);
}

// frame draws all that depends on the view, and leaves its time as a measure for benchmarks.
function frame() {
  due = false;
  const began = performance.now();
  drawAxis();
  drawLanes();
  drawWindow();
  drawFeed();
  performance.measure("frame", { start: began, end: performance.now() });
  if (++frames % 512 === 0) performance.clearMeasures("frame");
}
let frames = 0;
