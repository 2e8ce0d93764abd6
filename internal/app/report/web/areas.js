// Budgets and workloads as areas over time.

// area fills a stepped figure, one step a pixel at most: of several in one pixel the least is drawn, since that is what is
// looked for.
function area(levels, top, height, most, colour, stop) {
  const { at, value } = levels;
  if (at.length === 0) return;
  const y = (v) => top + height - (most > 0 ? v / most : 0) * height;
  const bottom = top + height;
  let k = Math.max(atOrBefore(at, tOf(view.gutter)), 0);
  let x = Math.max(xOf(at[k]), view.gutter);
  ctx.fillStyle = colour;
  ctx.beginPath();
  ctx.moveTo(x, bottom);
  while (k < at.length && x <= view.width) {
    let least = value[k], last = k;
    while (last + 1 < at.length && xOf(at[last + 1]) < x + 1) least = Math.min(least, value[++last]);
    const next = last + 1 < at.length ? Math.min(xOf(at[last + 1]), view.width) : Math.min(xOf(stop), view.width);
    ctx.lineTo(x, y(least));
    if (last > k) { ctx.lineTo(Math.min(x + 1, next), y(least)); ctx.lineTo(Math.min(x + 1, next), y(value[last])); }
    ctx.lineTo(Math.max(next, x), y(value[last]));
    x = Math.max(next, x + 0.01);
    k = last + 1;
  }
  ctx.lineTo(Math.min(x, view.width), bottom);
  ctx.closePath();
  ctx.fill();
}

// zeros paints where a figure is at most a limit, as a hatched band at the bottom: what is missing has no height.
function zeros(levels, limit, top, height, stop) {
  const { at, value } = levels;
  ctx.fillStyle = pattern(ctx, "draining");
  let k = Math.max(atOrBefore(at, tOf(view.gutter)), 0), drawn = -1;
  for (; k < at.length && at[k] <= view.to; k++) {
    if (value[k] > limit) continue;
    let last = k;
    while (last + 1 < at.length && value[last + 1] <= limit) last++;
    const left = Math.max(xOf(at[k]), view.gutter), right = Math.min(xOf(last + 1 < at.length ? at[last + 1] : stop), view.width);
    if (right > left && right > drawn) { ctx.fillRect(left, top + height - 5, Math.max(right - left, 1), 5); drawn = right; }
    k = last;
  }
}

function most(...all) {
  let top = 1;
  for (const levels of all) for (const v of levels.value) if (v > top) top = v;
  return top;
}
const mosts = new Map();
const mostOf = (key, ...all) => {
  if (!mosts.has(key)) mosts.set(key, most(...all));
  return mosts.get(key);
};

function figures(row, title, sub, y) {
  name(ctx, title, 8, y + 12, colours.text, sideOfRow(row));
  name(ctx, sub, compared ? 21 : 8, y + 26, colours.faint);
}

// scaleOf is the figure at the top of a row: the same for both that are compared.
function scaleOf(kind, of, top) {
  const twin = twinOf(kind, of);
  return twin < 0 ? top(of) : Math.max(top(of), top(twin));
}
const budgetTop = (i) => mostOf(`b${i}`, data.budgets[i].allowed);
const workloadTop = (i) => Math.max(mostOf(`w${i}`, data.workloads[i].available), data.workloads[i].replicas, data.workloads[i].wanted);

function drawBudget(row, y, height) {
  const b = data.budgets[row.of], top = y + 4, tall = height - 7, stop = stopOf("budget", row.of);
  figures(row, b.name, b.held > 0 ? `held drains ${lasting(b.held)}` : `at zero ${lasting(b.atZero)}`, y);
  const tops = scaleOf("budget", row.of, budgetTop);
  area(b.allowed, top, tall, tops, colours.area, stop);
  zeros(b.allowed, 0, top, tall, stop);
  scaleText(tops, top);
}

function drawWorkload(row, y, height) {
  const w = data.workloads[row.of], top = y + 4, tall = height - 7, stop = stopOf("workload", row.of);
  figures(row, w.name, `least ${w.leastAvailable} of ${w.replicas}`, y);
  const tops = scaleOf("workload", row.of, workloadTop);
  area(w.available, top, tall, tops, colours.area, stop);
  if (w.wanted > 0) {
    zeros(w.available, w.wanted - 1, top, tall, stop);
    const wanted = Math.round(top + tall - (w.wanted / tops) * tall) + 0.5;
    ctx.strokeStyle = colours.wanted;
    ctx.lineWidth = 1;
    ctx.setLineDash([5, 3]);
    ctx.beginPath();
    ctx.moveTo(Math.max(xOf(tapes[sideOfRow(row)].by), view.gutter), wanted);
    ctx.lineTo(Math.min(xOf(stop), view.width), wanted);
    ctx.stroke();
    ctx.setLineDash([]);
  } else zeros(w.available, 0, top, tall, stop);
  scaleText(tops, top);
}

// scaleText writes the figure at the top of an area.
function scaleText(value, top) {
  ctx.fillStyle = colours.text;
  ctx.fillText(String(value), view.gutter + 3, top + 5);
}
