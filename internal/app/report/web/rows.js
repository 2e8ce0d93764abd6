// Rows are what the lanes show, from top to bottom. A row has a kind, a height, and what it is of.

const open = new Set();   // nodes that show their waits and pods
const closed = new Set(); // sections that are folded
let rows = [];

const groups = [...new Set((data.nodes.group || []).map((_, i) => groupOf(i)))].sort((a, b) => a.localeCompare(b));
const filter = { group: "", role: "", phase: "", order: "time" };
const rolesInOrder = ["old", "new", "kept"];

// started is when a roll begins with a node: with its request or its cordon.
function started(i) {
  const n = data.nodes;
  const of = str(n.role[i]) === "old"
    ? [n.drainBegan.at[i], n.cordoned.at[i], n.terminated.at[i]] : [n.requested.at[i], n.joined.at[i]];
  for (const at of of) if (at >= 0) return at;
  return end + 1;
}

// drained is how long a node's drain took, up to the end of its tape where it goes on; -1 where it had no end.
function drained(i) {
  const from = data.nodes.drainBegan.at[i], to = data.nodes.drained.at[i];
  return from < 0 || (to < 0 && !data.nodes.unfinished[i]) ? -1 : (to < 0 ? stopOf("node", i) : to) - from;
}

const orders = {
  time: (a, b) => rolesInOrder.indexOf(str(data.nodes.role[a])) - rolesInOrder.indexOf(str(data.nodes.role[b])) || started(a) - started(b) || a - b,
  drain: (a, b) => drained(b) - drained(a) || a - b,
  name: (a, b) => str(data.nodes.name[a]).localeCompare(str(data.nodes.name[b])) || a - b,
};

function hasPhase(i, phase) {
  for (let s = spanFirst[i]; s < spanFirst[i + 1]; s++) if (str(data.nodes.spans.phase[s]) === phase) return true;
  return false;
}

function matches(i) {
  return (filter.group === "" || groupOf(i) === filter.group.slice(1)) && (filter.role === "" || str(data.nodes.role[i]) === filter.role) &&
    (filter.phase === "" || hasPhase(i, filter.phase));
}

// nodesShown are the nodes that the filter wants, each with the one that it is compared with.
function nodesShown() {
  const shown = [];
  for (let i = 0; i < nodeCount; i++) {
    const twin = twinOf("node", i);
    if (matches(i) || (twin >= 0 && matches(twin))) shown.push(i);
  }
  return inPairs("node", shown.sort(orders[filter.order]));
}

// waitsOf are the waits of a node, those of one kind for one object as one row.
function waitsOf(i) {
  const rows = new Map();
  for (let w = waitFirst[i]; w < waitFirst[i + 1]; w++) {
    const key = data.nodes.waits.kind[w] + "/" + data.nodes.waits.object[w];
    if (!rows.has(key)) rows.set(key, []);
    rows.get(key).push(w);
  }
  return [...rows.values()];
}

const waitsAtMost = 12;

// build makes the rows anew, and keeps what is selected.
function build() {
  const was = rows[view.selected];
  rows = [];
  const section = (key, title, fill) => {
    rows.push({ kind: "section", key, title });
    if (!closed.has(key)) fill();
  };
  const distinct = (kind, list) => list.filter((_, i) => sideOf(kind, i) === 0 || twinOf(kind, i) < 0).length;
  const paired = (kind, list) => inPairs(kind, list.map((_, i) => i)).forEach((of) => rows.push({ kind, of }));
  if (data.rolls.length > 0) {
    section("rolls", many(distinct("roll", data.rolls), "roll"), () => paired("roll", data.rolls));
  }
  const shown = nodesShown();
  for (const g of groups) {
    const of = shown.filter((i) => groupOf(i) === g);
    if (of.length === 0) continue;
    section(`group ${g}`, `${g || "nodes without a group"} · ${many(of.length, "node")}`, () => of.forEach(nodeRows));
  }
  if (data.budgets.length > 0) {
    section("budgets", `${many(distinct("budget", data.budgets), "budget")}: disruptions allowed`, () => paired("budget", data.budgets));
  }
  if (data.workloads.length > 0) {
    section("workloads", `${many(distinct("workload", data.workloads), "workload")}: pods available`, () => paired("workload", data.workloads));
  }
  view.selected = was ? rows.findIndex((r) => r.kind === was.kind && r.of === was.of && r.key === was.key) : -1;
  const nothing = byId("nothing");
  nothing.hidden = nodeCount > 0 && shown.length > 0;
  if (nodeCount === 0) nothing.textContent = compared ? "These tapes have no nodes." : "This tape has no nodes.";
  else if (shown.length === 0) nothing.textContent = `No node matches: ${filterWords()}.`;
  place();
}

function nodeRows(i) {
  rows.push({ kind: "node", of: i });
  if (!open.has(i)) return;
  const waits = waitsOf(i);
  waits.slice(0, waitsAtMost).forEach((of, n) => rows.push({ kind: "waits", of: `${i}/${n}`, node: i, waits: of }));
  for (const p of podsOf[i]) rows.push({ kind: "pod", of: p, node: i });
}

function filterWords() {
  const words = [];
  if (filter.group !== "") words.push(`group ${filter.group.slice(1) || "(none)"}`);
  if (filter.role !== "") words.push(`role ${filter.role}`);
  if (filter.phase !== "") words.push(`phase ${filter.phase}`);
  return words.join(", ");
}

// titleOf is what a row is called.
function titleOf(row) {
  switch (row.kind) {
    case "section": return row.title;
    case "roll": return data.rolls[row.of].group || "roll";
    case "node": return str(data.nodes.name[row.of]);
    case "waits": {
      const w = row.waits[0];
      return `${str(data.nodes.waits.kind[w])} ${withoutDomain(shortName(str(data.nodes.waits.object[w])))}`.trim();
    }
    case "pod": return str(data.pods.name[row.of]);
    case "budget": return data.budgets[row.of].name;
    default: return data.workloads[row.of].name;
  }
}

// rowOf finds the row of something, opening what hides it; -1 if a filter does.
function rowOf(kind, of) {
  let at = rows.findIndex((r) => r.kind === kind && r.of === of);
  if (at >= 0) return at;
  if (kind === "pod") {
    const node = podsOf.findIndex((pods) => pods.includes(of));
    if (node < 0) return -1;
    open.add(node);
    closed.delete(`group ${groupOf(node)}`);
  } else if (kind === "node") closed.delete(`group ${groupOf(of)}`);
  else closed.delete({ roll: "rolls", budget: "budgets", workload: "workloads" }[kind]);
  build();
  at = rows.findIndex((r) => r.kind === kind && r.of === of);
  return at;
}
