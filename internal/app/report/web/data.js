// The data of the page, as encode.go writes it.

const data = JSON.parse(byId("data").textContent);
const strings = data.strings;
const tape = data.tape;
const end = Math.max(tape.end, 1);

// str is a string by its number.
const str = (id) => strings[id];

// bounds gives for columns that are sorted by node the place of each node's first row, and the end as the last element.
function bounds(column, count) {
  const first = new Int32Array(count + 1);
  for (const n of column || []) first[n + 1]++;
  for (let i = 0; i < count; i++) first[i + 1] += first[i];
  return first;
}

const nodeCount = (data.nodes.name || []).length;
const spanFirst = bounds(data.nodes.spans.node, nodeCount);
const waitFirst = bounds(data.nodes.waits.node, nodeCount);
const podCount = (data.pods.name || []).length;

// podsOf are the pods of each node, by creation. Pods name their node, which several nodes may have had one after the
// other; a pod is of the one whose life it was scheduled in.
const podsOf = (() => {
  const named = new Map();
  for (let i = 0; i < nodeCount; i++) {
    const name = data.nodes.name[i];
    if (!named.has(name)) named.set(name, []);
    named.get(name).push(i);
  }
  const of = Array.from({ length: nodeCount }, () => []);
  for (let p = 0; p < podCount; p++) {
    const nodes = named.get(data.pods.node[p]);
    if (!nodes) continue;
    let best = nodes[0];
    if (nodes.length > 1) {
      const at = Math.max(data.pods.scheduled.at[p], data.pods.created.at[p], 0);
      for (const n of nodes) if (Math.max(data.nodes.joined.at[n], 0) <= at) best = n;
    }
    of[best].push(p);
  }
  return of;
})();

// atOrBefore is the place of the last time that isn't after t, or -1.
function atOrBefore(times, t) {
  let low = 0, high = times.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (times[mid] <= t) low = mid + 1; else high = mid;
  }
  return low - 1;
}

// domain is what all nodes' names end in, from their first dot on: lanes and feed leave it out.
const domain = (() => {
  let of = null;
  for (const id of data.nodes.name || []) {
    const dot = str(id).indexOf("."), rest = dot > 0 ? str(id).slice(dot) : "";
    if (of === null) of = rest;
    if (rest !== of || !/^(\.[a-z0-9-]+)+$/.test(rest)) return "";
  }
  return of || "";
})();
const withoutDomain = (name) => domain !== "" && name.endsWith(domain) ? name.slice(0, -domain.length) : name;

// nodeNamed finds the node of a name that was there at a time, or the last one before; -1 if there is none.
function nodeNamed(name, at) {
  let best = -1;
  for (let i = 0; i < nodeCount; i++) {
    if (str(data.nodes.name[i]) !== name) continue;
    if (best < 0 || Math.max(data.nodes.joined.at[i], 0) <= at) best = i;
  }
  return best;
}
