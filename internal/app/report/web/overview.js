// The overview: how many nodes are in which phase over the whole tape, and which part is shown. Two tapes have a strip each.

const stripHeight = compared ? 42 : 54, overviewHeight = stripHeight * tapes.length;
const ox = (t) => view.gutter + (t / end) * (view.width - view.gutter - 6);
const ot = (x) => (x - view.gutter) / (view.width - view.gutter - 6) * end;

// counts are for each of so many moments a side's nodes by phase.
function counts(moments, side) {
  const of = Object.fromEntries(phases.map((p) => [p, new Int32Array(moments + 1)]));
  const s = data.nodes.spans;
  for (let k = 0; k < (s.node || []).length; k++) {
    const phase = of[str(s.phase[k])];
    if (!phase || sideOf("node", s.node[k]) !== side) continue;
    const first = Math.ceil(s.from.at[k] / end * moments), last = s.to[k] >= end ? moments : Math.ceil(s.to[k] / end * moments) - 1;
    if (last < first) continue;
    phase[first]++;
    if (last < moments) phase[last + 1]--;
  }
  for (const p of phases) for (let i = 1; i <= moments; i++) of[p][i] += of[p][i - 1];
  return of;
}

const momentsDrawn = 400;

function drawOverview() {
  const overview = byId("overview"), all = tapes.map((_, side) => counts(momentsDrawn, side));
  overview.style.height = `${overviewHeight}px`;
  overview.replaceChildren();
  const sums = all.map((of) => Array.from({ length: momentsDrawn + 1 }, (_, i) => phases.reduce((sum, p) => sum + of[p][i], 0)));
  const mosts = sums.map((of) => Math.max(...of)), most = Math.max(1, ...mosts);
  tapes.forEach((tape, side) => drawStrip(overview, all[side], most, mosts[side], tape, side));
  parts.left = overview.appendChild(svg("rect", { y: 0, height: overviewHeight }));
  parts.right = overview.appendChild(svg("rect", { y: 0, height: overviewHeight }));
  parts.now = overview.appendChild(svg("line", { y1: 0, y2: overviewHeight }));
  for (const p of [parts.left, parts.right]) { p.style.fill = colours.ground; p.style.fillOpacity = 0.68; }
  parts.now.style.stroke = colours.accent;
}

// drawStrip draws one tape, its phases to the scale of the most nodes of all.
function drawStrip(overview, of, most, own, tape, side) {
  const moments = momentsDrawn, base = new Int32Array(moments + 1), top = side * stripHeight, bottom = top + stripHeight;
  const y = (v) => (bottom - 4 - v / most * (stripHeight - 10)).toFixed(1);
  const x = (i) => ox(i / moments * end).toFixed(1);
  for (const p of ["serving", "cordoned", "draining", "notready", "terminating", "joining", "booting"]) {
    if (!of[p].some((v) => v > 0)) continue;
    const upper = [], lower = [];
    for (let i = 0; i <= moments; i++) {
      lower.push(`${x(i)},${y(base[i])}`);
      base[i] += of[p][i];
      upper.push(`${x(i)},${y(base[i])}`);
    }
    const path = overview.appendChild(svg("path", { d: `M${upper.join("L")}L${lower.reverse().join("L")}Z` }));
    path.style.fill = colours[p];
    path.appendChild(svg("title", {}, p));
  }
  const nodes = compared ? (data.nodes.name || []).filter((_, i) => sideOf("node", i) === side).length : nodeCount;
  overview.appendChild(svg("text", { x: 8, y: top + 16 }, tagged(side, `${many(nodes, "node")}, at most ${own} at once`)));
  let drawn = 0;
  data.findings.forEach((f, i) => {
    if (sideOf("finding", i) !== side || drawn++ >= 200) return;
    const r = overview.appendChild(svg("rect", { x: ox(f.from), y: bottom - 4, width: Math.max(ox(f.to) - ox(f.from), 2), height: 3 }));
    r.style.fill = colours.alarm;
  });
  for (const [all, colour] of [[tape.gaps, colours.alarm], [tape.marks, colours.mark]]) {
    for (const n of all.slice(0, 500)) {
      const l = overview.appendChild(svg("line", { x1: ox(n.at), x2: ox(n.at), y1: top, y2: bottom }));
      l.style.stroke = colour;
      l.style.strokeDasharray = "3 2";
      l.appendChild(svg("title", {}, `${n.name} ${n.text}`.trim()));
    }
  }
}
const parts = {};

// drawWindow covers what isn't shown below.
function drawWindow() {
  if (!parts.left) return;
  const left = Math.max(ox(view.from), view.gutter), right = Math.min(ox(view.to), view.width);
  parts.left.setAttribute("x", view.gutter);
  parts.left.setAttribute("width", Math.max(left - view.gutter, 0));
  parts.right.setAttribute("x", right);
  parts.right.setAttribute("width", Math.max(view.width - right, 0));
  parts.now.setAttribute("x1", ox(view.cursor));
  parts.now.setAttribute("x2", ox(view.cursor));
}
