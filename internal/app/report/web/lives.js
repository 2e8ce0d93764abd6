// Which node a pod was on, and which one a name was. Nodes of one name may come one after the other, and both sides may have it.

// podsOf are the pods of each node, by creation. Pods name their node, which several nodes may have had one after the
// other; a pod is of the one whose life it was scheduled in.
const podsOf = (() => {
  const named = new Map();
  for (let i = 0; i < nodeCount; i++) {
    const name = data.nodes.name[i] + strings.length * sideOf("node", i);
    if (!named.has(name)) named.set(name, []);
    named.get(name).push(i);
  }
  const of = Array.from({ length: nodeCount }, () => []);
  for (let p = 0; p < podCount; p++) {
    const nodes = named.get(data.pods.node[p] + strings.length * sideOf("pod", p));
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

// nodeNamed finds a side's node of a name that was there at a time, or the last one before; -1 if there is none.
function nodeNamed(name, at, side) {
  let best = -1;
  for (let i = 0; i < nodeCount; i++) {
    if (str(data.nodes.name[i]) !== name || sideOf("node", i) !== side) continue;
    if (best < 0 || Math.max(data.nodes.joined.at[i], 0) <= at) best = i;
  }
  return best;
}
