// The data of the page, as encode.go writes it.

const data = JSON.parse(byId("data").textContent);
const strings = data.strings;
const tapes = data.tapes; // one, or the two that are compared
const stops = tapes.map((t) => Math.max(t.end, 1));
const end = Math.max(...stops);

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
