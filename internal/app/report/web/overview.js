// The overview: how many nodes are in which phase over the whole tape, and which part is shown.

const overviewHeight = 54;
const ox = (t) => view.gutter + (t / end) * (view.width - view.gutter - 6);
const ot = (x) => (x - view.gutter) / (view.width - view.gutter - 6) * end;

// counts are for each of so many moments the nodes by phase.
function counts(moments) {
  const of = Object.fromEntries(phases.map((p) => [p, new Int32Array(moments + 1)]));
  const s = data.nodes.spans;
  for (let k = 0; k < (s.node || []).length; k++) {
    const phase = of[str(s.phase[k])];
    if (!phase) continue;
    const first = Math.ceil(s.from.at[k] / end * moments), last = s.to[k] >= end ? moments : Math.ceil(s.to[k] / end * moments) - 1;
    if (last < first) continue;
    phase[first]++;
    if (last < moments) phase[last + 1]--;
  }
  for (const p of phases) for (let i = 1; i <= moments; i++) of[p][i] += of[p][i - 1];
  return of;
}

function drawOverview() {
  const moments = 400, overview = byId("overview");
  const of = counts(moments), base = new Int32Array(moments + 1);
  overview.replaceChildren();
  let most = 1;
  for (let i = 0; i <= moments; i++) most = Math.max(most, phases.reduce((sum, p) => sum + of[p][i], 0));
  const y = (v) => (overviewHeight - 4 - v / most * (overviewHeight - 10)).toFixed(1);
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
  overview.appendChild(svg("text", { x: 8, y: 16 }, `${many(nodeCount, "node")}, at most ${most} at once`));
  for (const f of data.findings.slice(0, 200)) {
    const r = overview.appendChild(svg("rect", { x: ox(f.from), y: overviewHeight - 4, width: Math.max(ox(f.to) - ox(f.from), 2), height: 3 }));
    r.style.fill = colours.alarm;
  }
  for (const [all, colour] of [[tape.gaps, colours.alarm], [tape.marks, colours.mark]]) {
    for (const n of all.slice(0, 500)) {
      const l = overview.appendChild(svg("line", { x1: ox(n.at), x2: ox(n.at), y1: 0, y2: overviewHeight }));
      l.style.stroke = colour;
      l.style.strokeDasharray = "3 2";
      l.appendChild(svg("title", {}, `${n.name} ${n.text}`.trim()));
    }
  }
  parts.left = overview.appendChild(svg("rect", { y: 0, height: overviewHeight }));
  parts.right = overview.appendChild(svg("rect", { y: 0, height: overviewHeight }));
  parts.now = overview.appendChild(svg("line", { y1: 0, y2: overviewHeight }));
  for (const p of [parts.left, parts.right]) { p.style.fill = colours.ground; p.style.fillOpacity = 0.68; }
  parts.now.style.stroke = colours.accent;
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
