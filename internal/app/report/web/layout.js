// Where rows are: the top of each in pixels of the whole list.

const heights = {
  compact: { section: 20, roll: 22, node: 12, waits: 14, pod: 11, budget: 34, workload: 34 },
  normal: { section: 24, roll: 26, node: 21, waits: 15, pod: 14, budget: 44, workload: 44 },
  tall: { section: 26, roll: 30, node: 52, waits: 17, pod: 17, budget: 72, workload: 72 },
};
const densities = Object.keys(heights);
let tops = new Float64Array(1);

const heightOf = (i) => tops[i + 1] - tops[i];

function place() {
  const height = heights[view.density];
  tops = new Float64Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) tops[i + 1] = tops[i] + height[rows[i].kind];
  byId("tall").style.height = `${tops[rows.length] + 12}px`;
  redraw();
}

// rowAt is the row at a height of the whole list, or -1.
function rowAt(y) {
  if (y < 0 || y >= tops[rows.length]) return -1;
  return atOrBefore(tops, y);
}

const scrolled = () => byId("scroll").scrollTop;

// reveal scrolls so that a row is seen.
function reveal(i) {
  if (i < 0) return;
  const scroll = byId("scroll");
  if (tops[i] < scroll.scrollTop + 24) scroll.scrollTop = Math.max(tops[i] - 60, 0);
  else if (tops[i + 1] > scroll.scrollTop + view.height) scroll.scrollTop = tops[i + 1] - view.height + 60;
}

function setDensity(name) {
  const at = view.selected >= 0 ? view.selected : rowAt(scrolled());
  const offset = at >= 0 ? tops[at] - scrolled() : 0;
  view.density = name;
  byId("density").textContent = `Rows: ${name}`;
  place();
  if (at >= 0) byId("scroll").scrollTop = tops[at] - offset;
}

// toggle opens or closes a row.
function toggle(i) {
  const row = rows[i];
  if (!row) return;
  const set = row.kind === "section" ? closed : open, key = row.kind === "section" ? row.key : row.of;
  if (row.kind !== "section" && row.kind !== "node") return;
  if (!set.delete(key)) set.add(key);
  build();
}
