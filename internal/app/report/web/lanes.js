// The lanes: rows that are seen, drawn on one canvas.

const canvas = byId("canvas");
const ctx = canvas.getContext("2d");

// resize fits the canvas to its place, in the screen's own pixels.
function resize() {
  const place = byId("lanes").getBoundingClientRect();
  view.width = Math.max(Math.round(byId("scroll").clientWidth || place.width), 200);
  view.height = Math.round(place.height);
  view.gutter = view.width < 700 ? 130 : 230;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  canvas.style.width = `${view.width}px`;
  canvas.style.height = `${view.height}px`;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  redraw();
}

function drawLanes() {
  ctx.fillStyle = colours.ground;
  ctx.fillRect(0, 0, view.width, view.height);
  ctx.font = "11px system-ui, sans-serif";
  ctx.textBaseline = "middle";
  const top = scrolled();
  const first = Math.max(rowAt(Math.max(top, 0)), 0);
  let i = first;
  for (; i < rows.length && tops[i] < top + view.height; i++) drawRow(i, tops[i] - top, heightOf(i));
  drawOver(first, i, top);
}

const drawers = { section: drawSection, roll: drawRoll, node: drawNode, waits: drawWaits, pod: drawPod, budget: drawBudget, workload: drawWorkload };

function drawRow(i, y, height) {
  const row = rows[i];
  if (i === view.selected) { ctx.fillStyle = colours.band; ctx.fillRect(0, y, view.width, height); }
  else if (compared ? sideOfRow(row) === 1 : i % 2 === 1 && row.kind !== "section") { ctx.fillStyle = colours.row; ctx.fillRect(0, y, view.width, height); }
  if (isHit(row)) { ctx.fillStyle = colours.hit; ctx.fillRect(0, y, view.gutter - 4, height); }
  drawers[row.kind](row, y, height);
  for (const p of view.places) if (p.kind === row.kind && p.of === row.of) framed(ctx, p.from, p.to, y, height);
}

function drawSection(row, y, height) {
  ctx.fillStyle = colours.raised;
  ctx.fillRect(0, y, view.width, height);
  ctx.fillStyle = colours.text;
  ctx.font = "600 11px system-ui, sans-serif";
  ctx.fillText(`${closed.has(row.key) ? "▸" : "▾"} ${row.title}`, 8, y + height / 2);
  ctx.font = "11px system-ui, sans-serif";
}

// drawRoll draws the critical path: one part after the other.
function drawRoll(row, y, height) {
  const roll = data.rolls[row.of];
  name(ctx, `${roll.group || "roll"} (${roll.outcome})`, 8, y + height / 2, colours.text, sideOf("roll", row.of));
  let drawn = -1; // what is within a pixel that is drawn is left out
  for (const step of roll.path) {
    const right = xOf(step.to);
    if (right < view.gutter || right - drawn < 0.5) continue;
    if (xOf(step.from) > view.width) break;
    drawn = right;
    const at = bar(ctx, step.phase === "between" ? "booting" : step.phase, step.from, step.to, y + 3, height - 10);
    if (!at) continue;
    if (step.wait) strip(ctx, step.wait, step.from, step.to, y + height - 4, 3);
    label(ctx, step.text || step.phase, at[0], at[1], y + 3 + (height - 10) / 2);
  }
  if (roll.path.length === 0) {
    const at = bar(ctx, "serving", roll.from, roll.to, y + 3, height - 10);
    if (at) label(ctx, roll.outcome, at[0], at[1], y + height / 2 - 2);
  }
  const stop = stopOf("roll", row.of);
  if (roll.outcome === "unfinished" && roll.to >= stop) ends(ctx, y + 3, height - 10, stop);
}

function drawNode(row, y, height) {
  const i = row.of, n = data.nodes, side = sideOf("node", i), compact = height < 14;
  if (compact) {
    ctx.font = "9px system-ui, sans-serif";
    name(ctx, withoutDomain(str(n.name[i])), 22, y + height / 2, str(n.role[i]) === "old" ? colours.faint : colours.text, side);
    ctx.font = "11px system-ui, sans-serif";
  } else {
    const middle = y + Math.min(height / 2, 11);
    ctx.fillStyle = colours.faint;
    ctx.fillText(open.has(i) ? "▾" : "▸", 8, middle);
    name(ctx, withoutDomain(str(n.name[i])), 22, middle, str(n.role[i]) === "old" ? colours.faint : colours.text, side);
  }
  const top = y + (compact ? 1 : 3), tall = compact ? height - 4 : 11;
  const begins = spanFirst[i], after = spanFirst[i + 1];
  for (let s = begins; s < after; s++) {
    const phase = str(n.spans.phase[s]);
    const at = bar(ctx, phase, n.spans.from.at[s], n.spans.to[s], top, tall);
    if (at && !compact && phase !== "serving") label(ctx, spanText(i, s), at[0], at[1], top + tall / 2);
  }
  let drawn = -1;
  for (let w = waitFirst[i]; w < waitFirst[i + 1]; w++) {
    const right = xOf(n.waits.to.at[w]);
    if (right - drawn < 0.2 && right >= drawn) continue;
    drawn = right;
    strip(ctx, str(n.waits.kind[w]), n.waits.from.at[w], n.waits.to.at[w], top + tall + (compact ? 0.5 : 2.5), compact ? 1.5 : 3);
  }
  if (after > begins && n.terminated.at[i] < 0 && n.spans.to[after - 1] >= stops[side] && str(n.spans.phase[after - 1]) !== "serving") ends(ctx, top, tall, stops[side]);
  if (height > 40) drawPodsWithin(i, top + tall + 7, y + height - 2);
}

// spanText is what a bar says: its phase, how long, and the longest wait in it.
function spanText(i, s) {
  const n = data.nodes, from = n.spans.from.at[s], to = n.spans.to[s];
  let longest = -1, least = 0;
  for (let w = waitFirst[i]; w < waitFirst[i + 1]; w++) {
    const overlap = Math.min(n.waits.to.at[w], to) - Math.max(n.waits.from.at[w], from), long = Math.min(n.waits.duration[w], overlap);
    if (long > least) { least = long; longest = w; }
  }
  const text = `${str(n.spans.phase[s])} ${lasting(to - from)}`;
  return longest < 0 ? text : `${text}: ${str(n.waits.kind[longest])} ${withoutDomain(shortName(str(n.waits.object[longest])))}`.trim();
}

const shortName = (object) => object.slice(object.lastIndexOf("/") + 1);

// drawPodsWithin draws a node's pods as thin lines, as many beside each other as there is room for.
function drawPodsWithin(i, top, bottom) {
  const p = data.pods, lanes = Math.floor((bottom - top) / 3);
  const pods = podsOf[i];
  for (let k = 0; k < pods.length; k++) {
    const pod = pods[k], y = top + (k % lanes) * 3;
    const from = Math.max(p.scheduled.at[pod] >= 0 ? p.scheduled.at[pod] : p.created.at[pod], 0);
    const to = p.gone.at[pod] < 0 ? stopOf("pod", pod) : p.gone.at[pod];
    const left = Math.max(xOf(from), view.gutter), right = Math.min(xOf(to), view.width);
    if (right < left) continue;
    ctx.fillStyle = colours.serving;
    ctx.fillRect(left, y, Math.max(right - left, 1), 2);
    if (p.deleted.at[pod] >= 0) {
      const ends = Math.max(xOf(p.deleted.at[pod]), view.gutter);
      if (ends < right) { ctx.fillStyle = colours.draining; ctx.fillRect(ends, y, Math.max(right - ends, 1), 2); }
    }
  }
}

function drawWaits(row, y, height) {
  const w = data.nodes.waits, kind = str(w.kind[row.waits[0]]);
  name(ctx, titleOf(row), 34, y + height / 2, colours.faint);
  for (const k of row.waits) {
    strip(ctx, kind, w.from.at[k], w.to.at[k], y + height / 2, 5);
    const left = Math.max(xOf(w.from.at[k]), view.gutter), right = Math.min(xOf(w.to.at[k]), view.width);
    label(ctx, `${lasting(w.duration[k])} ${str(w.message[k]) || str(w.reason[k])}`, left, right, y + height / 2);
    if (w.unfinished[k]) ends(ctx, y + 2, height - 4, stopOf("node", row.node));
  }
}

// drawPod draws a pod: waiting for a node as a frame, starting, ready, and on its way out.
function drawPod(row, y, height) {
  const p = data.pods, i = row.of, middle = y + height / 2, compact = height < 12;
  if (compact) ctx.font = "9px system-ui, sans-serif";
  name(ctx, str(p.name[i]), 34, middle, colours.faint);
  ctx.font = "11px system-ui, sans-serif";
  const top = y + 2, tall = height - 4;
  const gone = p.gone.at[i] < 0 ? stopOf("pod", i) : p.gone.at[i];
  const deleted = p.deleted.at[i] < 0 ? gone : p.deleted.at[i];
  const created = p.created.at[i] < 0 ? 0 : p.created.at[i];
  const scheduled = p.scheduled.at[i] < 0 ? created : p.scheduled.at[i];
  // Of a pod that was there when the tape began, nothing says when it became ready.
  const unknown = p.created.at[i] < 0 && p.ready.at[i] < 0;
  const ready = unknown ? scheduled : p.ready.at[i] < 0 ? deleted : Math.min(Math.max(p.ready.at[i], scheduled), deleted);
  if (scheduled > created) bar(ctx, "booting", created, scheduled, top, tall);
  if (ready > scheduled) bar(ctx, "joining", scheduled, ready, top, tall);
  if (deleted > ready) bar(ctx, "serving", ready, deleted, top, tall);
  if (gone > deleted) bar(ctx, "draining", deleted, gone, top, tall);
  if (p.evicted[i] && p.deleted.at[i] >= 0) {
    const x = xOf(p.deleted.at[i]);
    if (x > view.gutter) {
      ctx.fillStyle = colours.text;
      ctx.beginPath();
      ctx.moveTo(x - 4, y);
      ctx.lineTo(x + 4, y);
      ctx.lineTo(x, y + 6);
      ctx.fill();
    }
  }
}

// drawOver draws what lies over all lanes: gaps, markers, a finding's time, the end of the tape and the cursor. What is of one tape
// of two lies over its rows, of which those from first up to after are seen.
function drawOver(first, after, top) {
  const line = (t, colour, dash, width = 1, side = -1) => {
    const x = Math.round(xOf(t)) + 0.5;
    if (x < view.gutter || x > view.width) return;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.beginPath();
    if (side < 0 || !compared) {
      ctx.moveTo(x, 0);
      ctx.lineTo(x, view.height);
    } else {
      for (let i = first; i < after; i++) {
        if (sideOfRow(rows[i]) !== side) continue;
        ctx.moveTo(x, tops[i] - top);
        ctx.lineTo(x, tops[i + 1] - top);
      }
    }
    ctx.stroke();
    ctx.setLineDash([]);
  };
  if (view.band) {
    const left = Math.max(xOf(view.band[0]), view.gutter), right = Math.min(xOf(view.band[1]), view.width);
    if (right > left) { ctx.fillStyle = colours.band; ctx.fillRect(left, 0, right - left, view.height); }
  }
  tapes.forEach((tape, side) => {
    for (const gap of tape.gaps) line(gap.at, colours.alarm, [3, 3], 3, side);
    for (const mark of tape.marks) line(mark.at, colours.mark, [6, 3], 1, side);
    line(tape.by, colours.line, [], 1, side);
    line(stops[side], tape.complete ? colours.line : colours.alarm, tape.complete ? [] : [2, 2], tape.complete ? 1 : 2, side);
  });
  line(view.cursor, colours.accent, [], 1.5);
  ctx.strokeStyle = colours.line;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(view.gutter - 0.5, 0);
  ctx.lineTo(view.gutter - 0.5, view.height);
  ctx.stroke();
}
