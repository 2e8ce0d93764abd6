// The differences of two rolls, as `nodesim diff` has them. Each leads to its place on both sides.

let difference = -1;
const differencesAtFirst = 20; // of a scope; the others are shown when they are asked for
const differences = compared ? compared.rows : [];
const scopes = { roll: "Rolls", phase: "Phases", node: "Nodes", workload: "Workloads", budget: "Budgets", finding: "Findings" };

function differenceHead(table) {
  const head = table.createTHead().insertRow();
  for (const title of ["Object", "Measure", "A", "B", "Change", "Why"]) head.appendChild(element("th", "", title)).scope = "col";
}

// differenceRow adds the row of a difference; what is done by its button, if there is one.
function differenceRow(body, d, does) {
  const row = body.insertRow();
  const first = row.appendChild(element("td", "", does ? "" : d.object));
  if (does) {
    const button = first.appendChild(element("button", "jump", d.object));
    button.type = "button";
    row.addEventListener("click", does);
  }
  row.append(element("td", "", d.measure), element("td", "n", d.a), element("td", "n", d.b));
  const sign = d.longer === 0 ? "" : d.longer > 0 ? "▲ " : "▼ ";
  row.append(element("td", `n ${d.longer > 0 ? "longer" : d.longer < 0 ? "shorter" : ""}`.trim(), sign + d.change), element("td", "", d.why));
  return row;
}

const differenceRows = [];

function listDifferences() {
  if (!compared) return;
  byId("differences-part").hidden = false;
  byId("headline").textContent = compared.headline;
  if (differences.length === 0) return;
  const table = byId("differences").appendChild(element("table"));
  differenceHead(table);
  for (const [scope, title] of Object.entries(scopes)) {
    const of = differences.map((_, i) => i).filter((i) => differences[i].scope === scope);
    if (of.length === 0) continue;
    const body = table.createTBody(), head = body.insertRow().appendChild(element("th", "", `${title} · ${of.length}`));
    head.colSpan = 6;
    head.scope = "rowgroup";
    for (const i of of) differenceRows[i] = differenceRow(body, differences[i], () => goToDifference(i));
    const later = of.slice(differencesAtFirst).map((i) => differenceRows[i]);
    if (later.length === 0) continue;
    for (const row of later) row.hidden = true;
    const more = body.insertRow().appendChild(element("td"));
    more.colSpan = 6;
    const button = more.appendChild(element("button", "jump", `and ${later.length} more`));
    button.type = "button";
    button.addEventListener("click", () => { for (const row of later) row.hidden = false; more.parentElement.remove(); });
  }
}

// longestSpan is the longest time that a node was in a phase, or its life.
function longestSpan(i, phase) {
  const s = data.nodes.spans;
  let longest = -1;
  for (let k = spanFirst[i]; k < spanFirst[i + 1]; k++) {
    if (str(s.phase[k]) === phase && (longest < 0 || s.to[k] - s.from.at[k] > s.to[longest] - s.from.at[longest])) longest = k;
  }
  if (longest >= 0) return [s.from.at[longest], s.to[longest]];
  const from = started(i), to = data.nodes.terminated.at[i];
  return [Math.min(from, stopOf("node", i)), to < 0 ? stopOf("node", i) : to];
}

// longestAt is the longest time that a figure was at most a limit, or all the time that it is known.
function longestAt({ at, value }, limit, stop) {
  let best = null;
  for (let k = 0; k < at.length; k++) {
    if (value[k] > limit) continue;
    let last = k;
    while (last + 1 < at.length && value[last + 1] <= limit) last++;
    const to = last + 1 < at.length ? at[last + 1] : stop;
    if (!best || to - at[k] > best[1] - best[0]) best = [at[k], to];
    k = last;
  }
  return best || [at.length > 0 ? at[0] : 0, stop];
}

// differencePlace is where a side shows a difference: a row of the lanes and a stretch of it; null where it has none.
function differencePlace(d, of) {
  const at = (kind, of, [from, to]) => ({ kind, of, from, to });
  switch (of < 0 ? "" : d.scope) {
    case "roll": return at("roll", of, [data.rolls[of].from, data.rolls[of].to]);
    case "phase": return at("node", of, longestSpan(of, d.object.slice(d.object.lastIndexOf(", ") + 2)));
    case "node": return at("node", of, longestSpan(of, d.measure === "unfinished" ? (phases.includes(d.a) ? d.a : d.b) : d.measure));
    case "workload": return at("workload", of, longestAt(data.workloads[of].available, data.workloads[of].leastAvailable, stopOf("workload", of)));
    case "budget": return at("budget", of, longestAt(data.budgets[of].allowed, 0, stopOf("budget", of)));
    case "finding": {
      const f = data.findings[of], side = sideOf("finding", of), node = f.node === "" ? -1 : nodeNamed(f.node, f.from, side);
      const row = node >= 0 ? { kind: "node", of: node } : placeOf(f.object, side);
      return row ? at(row.kind, row.of, [f.from, f.to]) : null;
    }
  }
  return null;
}

function goToDifference(i) {
  const d = differences[i];
  if (!d) return;
  difference = i;
  differenceRows.forEach((row, k) => { if (k === i) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current"); });
  differenceRows[i].scrollIntoView({ block: "nearest" });
  const places = d.places.map((of) => differencePlace(d, of)).filter((p) => p);
  for (const p of places) rowOf(p.kind, p.of); // opens what hides it
  const shown = places.map((p) => rowOf(p.kind, p.of)).filter((row) => row >= 0);
  if (shown.length > 0) {
    reveal(shown[shown.length - 1]);
    select(shown[0]);
    const from = Math.min(...places.map((p) => p.from)), to = Math.max(...places.map((p) => p.to));
    focusTime(from, to);
    view.band = null;
    view.places = places;
  }
  say(`Difference ${i + 1} of ${differences.length}: ${d.object}, ${d.measure}: ${d.a} in A, ${d.b} in B. ${d.why}`.trim());
}

// stepDifference goes to the next or the previous difference that is in the list.
function stepDifference(by) {
  const listed = differences.map((_, i) => i).filter((i) => !differenceRows[i].hidden);
  if (listed.length === 0) return;
  const at = listed.indexOf(difference);
  goToDifference(listed[at < 0 ? (by > 0 ? 0 : listed.length - 1) : (at + by + listed.length) % listed.length]);
}

// printedDifferences are those of the list, on paper.
function printedDifferences() {
  if (!compared) return [];
  const table = element("table"), body = table.createTBody();
  differenceHead(table);
  for (const d of differences.slice(0, printedAtMost)) differenceRow(body, d);
  if (differences.length > printedAtMost) body.insertRow().appendChild(element("td", "", `and ${differences.length - printedAtMost} more`)).colSpan = 6;
  return [element("h2", "", "Differences"), element("p", "", compared.headline), table];
}
