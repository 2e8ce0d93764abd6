// Wheel, drag and click.

const deltaOf = (e) => e.deltaMode === 1 ? [e.deltaX * 20, e.deltaY * 20] : [e.deltaX, e.deltaY];
const perPixel = () => (view.to - view.from) / (view.width - view.gutter);
const xWithin = (e) => e.clientX - byId("lanes").getBoundingClientRect().left;
const yWithin = (e) => e.clientY - byId("lanes").getBoundingClientRect().top + scrolled();

function pointers() {
  const scroll = byId("scroll"), axis = byId("axis"), overview = byId("overview");
  const zoomed = (e) => { e.preventDefault(); zoom(Math.exp(Math.sign(deltaOf(e)[1]) * Math.min(Math.abs(deltaOf(e)[1]), 120) / 400), tOf(xWithin(e))); };
  axis.addEventListener("wheel", zoomed, { passive: false });
  overview.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(deltaOf(e)[1] / 400), ot(xWithin(e))); }, { passive: false });
  scroll.addEventListener("wheel", (e) => {
    const [x, y] = deltaOf(e);
    if (e.ctrlKey || e.metaKey || e.altKey || tops[rows.length] <= view.height) zoomed(e);
    else if (e.shiftKey || Math.abs(x) > Math.abs(y)) { e.preventDefault(); pan((x || y) * perPixel()); }
  }, { passive: false });
  scroll.addEventListener("scroll", redraw, { passive: true });
  axis.addEventListener("click", (e) => setCursor(tOf(xWithin(e))));
  dragged(overview, (e) => { const half = (view.to - view.from) / 2, t = ot(xWithin(e)); show(t - half, t + half); }, true);
  lanesDragged(scroll);
  scroll.addEventListener("dblclick", (e) => { if (xWithin(e) > view.gutter) zoom(0.4, tOf(xWithin(e))); else toggle(rowAt(yWithin(e))); });
  scroll.addEventListener("mousemove", (e) => { if (e.buttons === 0) tip(e); });
  scroll.addEventListener("mouseleave", () => { byId("tip").hidden = true; });
  byId("feed").addEventListener("scroll", redraw, { passive: true });
}

// dragged calls back for each move of a pressed pointer, and with now for the press as well.
function dragged(on, move, now = false) {
  on.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    on.setPointerCapture(e.pointerId);
    if (now) move(e);
    const stop = () => { on.removeEventListener("pointermove", move); };
    on.addEventListener("pointermove", move);
    on.addEventListener("pointerup", stop, { once: true });
    on.addEventListener("pointercancel", stop, { once: true });
  });
}

// lanesDragged pans by a drag, chooses a stretch by a drag with shift, and selects by a press without one.
function lanesDragged(scroll) {
  let began = null;
  scroll.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || e.clientX - scroll.getBoundingClientRect().left > scroll.clientWidth) return;
    began = { x: e.clientX, y: e.clientY, at: tOf(xWithin(e)), moved: false, from: view.from, to: view.to, top: scrolled(), range: e.shiftKey };
    scroll.setPointerCapture(e.pointerId);
  });
  scroll.addEventListener("pointermove", (e) => {
    if (!began) return;
    if (!began.moved && Math.hypot(e.clientX - began.x, e.clientY - began.y) < 4) return;
    began.moved = true;
    byId("tip").hidden = true;
    if (began.range) { view.band = [began.at, tOf(xWithin(e))].sort((a, b) => a - b); redraw(); return; }
    scroll.classList.add("dragging");
    const by = (e.clientX - began.x) * perPixel();
    show(began.from - by, began.to - by);
    if (e.pointerType === "mouse") scroll.scrollTop = began.top - (e.clientY - began.y);
  });
  const stop = (e) => {
    if (!began) return;
    scroll.classList.remove("dragging");
    const was = began;
    began = null;
    if (was.moved) { if (was.range && view.band) show(view.band[0], view.band[1]); return; }
    press(e);
  };
  scroll.addEventListener("pointerup", stop);
  scroll.addEventListener("pointercancel", () => { began = null; scroll.classList.remove("dragging"); });
}

// press selects a row and sets the cursor; on a title or the sign of a node it opens or closes.
function press(e) {
  const i = rowAt(yWithin(e)), x = xWithin(e);
  if (i >= 0 && (rows[i].kind === "section" || (rows[i].kind === "node" && x < 20))) { toggle(i); return; }
  if (x > view.gutter) { unmark(); setCursor(tOf(x)); }
  select(i, false);
}

// tip says what is below the pointer.
function tip(e) {
  const box = byId("tip"), i = rowAt(yWithin(e)), x = xWithin(e);
  const text = i < 0 ? "" : tipText(rows[i], x > view.gutter ? tOf(x) : -1);
  box.hidden = text === "";
  if (text === "") return;
  if (box.textContent !== text) box.textContent = text;
  const y = yWithin(e) - scrolled();
  box.style.left = `${Math.max(Math.min(x + 14, view.width - Math.min(box.offsetWidth, 420) - 6), 0)}px`;
  box.style.top = `${y + 18 + box.offsetHeight > view.height ? Math.max(y - box.offsetHeight - 8, 0) : y + 18}px`;
}

function tipText(row, t) {
  const title = fullTitle(row);
  if (row.kind === "section") return "";
  if (t < 0) return title;
  const parts = [title, stampOf(t, sideOfRow(row))];
  if (row.kind === "node") {
    const n = data.nodes, w = n.waits;
    for (let s = spanFirst[row.of]; s < spanFirst[row.of + 1]; s++) {
      if (n.spans.from.at[s] <= t && t < n.spans.to[s]) parts.push(`${str(n.spans.phase[s])} for ${lasting(n.spans.to[s] - n.spans.from.at[s])}, line ${n.spans.from.line[s]}`);
    }
    let shown = 0;
    for (let k = waitFirst[row.of]; k < waitFirst[row.of + 1] && shown < 6; k++) if (w.from.at[k] <= t && t <= w.to.at[k]) { parts.push(waitText(k)); shown++; }
  } else if (row.kind === "waits") for (const k of row.waits.slice(0, 6)) parts.push(waitText(k));
  else if (row.kind === "budget") parts.push(`${valueAt(data.budgets[row.of].allowed, t)} allowed, ${valueAt(data.budgets[row.of].healthy, t)} healthy, ${valueAt(data.budgets[row.of].desired, t)} wanted`);
  else if (row.kind === "workload") parts.push(`${valueAt(data.workloads[row.of].available, t)} available of ${data.workloads[row.of].replicas}`);
  else if (row.kind === "roll") for (const s of data.rolls[row.of].path) if (s.from <= t && t < s.to) parts.push(s.text);
  return parts.join("\n");
}
