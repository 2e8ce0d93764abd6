// Search: what has the words in its name, or in the text of its feed entry.

let found = []; // {kind, of}, kind as of rows or "entry"
let hit = -1;
const hitKeys = new Set();
const isHit = (row) => hitKeys.size > 0 && hitKeys.has(`${row.kind} ${row.of}`);

function search(text) {
  found = [];
  hit = -1;
  hitKeys.clear();
  const word = text.trim().toLowerCase();
  if (word !== "") {
    const matching = strings.map((s) => s.toLowerCase().includes(word));
    const n = data.nodes;
    const push = (kind, of) => { found.push({ kind, of }); hitKeys.add(`${kind} ${of}`); };
    data.rolls.forEach((r, i) => { if (r.group.toLowerCase().includes(word)) push("roll", i); });
    for (const i of nodesShown()) if ([n.name, n.uid, n.image, n.zone, n.type, n.claim].some((column) => matching[column[i]])) push("node", i);
    data.budgets.forEach((b, i) => { if (b.name.toLowerCase().includes(word)) push("budget", i); });
    data.workloads.forEach((w, i) => { if (w.name.toLowerCase().includes(word)) push("workload", i); });
    for (let i = 0; i < podCount; i++) if (matching[data.pods.name[i]]) push("pod", i);
    for (let i = 0; i < feed.at.length; i++) if ([feed.object, feed.reason, feed.message].some((column) => matching[column[i]])) push("entry", i);
  }
  showHits(word);
  redraw();
}

function showHits(word) {
  byId("hits").textContent = word === "" ? "" : found.length === 0 ? "nothing" : hit < 0 ? many(found.length, "hit") : `${hit + 1} of ${found.length}`;
}

// stepHit goes to the next or the previous hit.
function stepHit(by) {
  if (found.length === 0) return;
  unmark();
  hit = hit < 0 && by < 0 ? found.length - 1 : (hit + by + found.length) % found.length;
  const at = found[hit];
  if (at.kind === "entry") { jumpToEntry(at.of); feedFollows = true; redraw(); }
  else {
    const row = rowOf(at.kind, at.of);
    if (row >= 0) { select(row); focusRow(rows[row]); }
  }
  showHits(" ");
}

// focusRow moves the shown part so that something of a row is seen.
function focusRow(row) {
  let t = -1;
  if (row.kind === "node") t = started(row.of) <= end ? started(row.of) : 0;
  else if (row.kind === "pod") t = Math.max(data.pods.created.at[row.of], 0);
  if (t >= 0) setCursor(t);
}
