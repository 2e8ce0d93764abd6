// Details of the row that is selected, and what a screen reader is told.

function say(text) { byId("spoken").textContent = text; }

function select(i, scroll = true) {
  if (i < 0) return;
  view.selected = i;
  if (scroll) reveal(i);
  showDetails(rows[i]);
  redraw();
}

function facts(pairs) {
  const list = element("dl");
  for (const [term, value] of pairs) {
    if (value === "" || value === undefined) continue;
    list.append(element("dt", "", term), element("dd", "", String(value)));
  }
  return list;
}

const momentText = (m, i, side) => m.at[i] < 0 ? "" : `${stampOf(m.at[i], side)} (line ${m.line[i]})`;
const between = (a, b, i) => a.at[i] < 0 || b.at[i] < 0 ? "" : lasting(b.at[i] - a.at[i]);

// jumps is a list of places to go to.
function jumps(all) {
  const list = element("ul");
  for (const [text, go] of all) {
    const button = list.appendChild(element("li")).appendChild(element("button", "jump", text));
    button.type = "button";
    button.addEventListener("click", go);
  }
  return list;
}

const limit = 40;

const detailsOf = { roll: rollDetails, node: nodeDetails, pod: podDetails, budget: budgetDetails, workload: workloadDetails };

// showDetails tells of what a row is about, and of what that is compared with: A's first.
function showDetails(row) {
  const place = byId("details"), about = row.kind === "waits" ? { kind: "node", of: row.node } : row;
  const all = [about.of, twinOf(about.kind, about.of)].filter((of) => of >= 0).sort((a, b) => a - b);
  byId("details-part").hidden = row.kind === "section";
  byId("details-title").textContent = all.length > 1 ? about.kind : fullTitle(about);
  place.replaceChildren(...all.flatMap((of) => [
    all.length > 1 ? element("h3", "", fullTitle({ kind: about.kind, of })) : "", ...(detailsOf[about.kind] || (() => []))(of),
  ]));
  say(`${about.kind} ${fullTitle(about)}. ${[...place.querySelectorAll("dt")].slice(0, 6).map((t) => `${t.textContent} ${t.nextSibling.textContent}`).join(", ")}`);
}

const fullTitle = (row) => tagged(sideOfRow(row), titleOf(row));

const goTo = (from, to) => () => focusTime(from, to);

// focusTime shows a stretch of time with some room around it, and marks it.
function focusTime(from, to) {
  const room = Math.max((to - from) * 0.15, 1000);
  unmark();
  view.band = [from, to];
  show(from - room, to + room);
  setCursor(from);
}

function rollDetails(i) {
  const r = data.rolls[i], side = sideOf("roll", i), goesOn = r.outcome === "unfinished" && r.to >= stops[side];
  return [
    facts([["from", stampOf(r.from, side)], ["to", `${stampOf(r.to, side)}${goesOn ? ", where the tape ends" : ""}`], ["took", lasting(r.to - r.from)],
      ["outcome", r.outcome], ["replaced", r.replaced], ["joined", r.joined], ["left", r.left]]),
    element("h2", "", r.path.length > 0 ? "Critical path" : ""),
    jumps(r.path.slice(0, limit).map((s) => [`${lasting(s.to - s.from)} ${s.text || s.phase}`, () => { jumpToNode(s.node, s.from, side); focusTime(s.from, s.to); }])),
    element("h2", "", r.savings.length > 0 ? "Without these waits it would be shorter" : ""),
    jumps(r.savings.slice(0, limit).map((s) => [`by ${lasting(s.saves)}: ${s.text || `${s.wait} ${s.object}`}`, () => jumpToObject(s.object, side)])),
  ];
}

function nodeDetails(i) {
  const n = data.nodes, w = n.waits, side = sideOf("node", i), all = [];
  for (let k = waitFirst[i]; k < waitFirst[i + 1]; k++) all.push(k);
  all.sort((a, b) => w.duration[b] - w.duration[a]);
  return [
    facts([["role", str(n.role[i])], ["group", str(n.group[i])], ["image", str(n.image[i])], ["zone", str(n.zone[i])], ["type", str(n.type[i])],
      ["made for", str(n.claim[i])], ["requested", momentText(n.requested, i, side)], ["joined", momentText(n.joined, i, side)], ["ready", momentText(n.ready, i, side)],
      ["cordoned", momentText(n.cordoned, i, side)], ["drain began", momentText(n.drainBegan, i, side)], ["drained", momentText(n.drained, i, side)],
      ["terminated", momentText(n.terminated, i, side)], ["boot took", between(n.requested, n.joined, i)], ["join took", between(n.joined, n.ready, i)],
      ["drain took", n.unfinished[i] ? `${lasting(stops[side] - n.drainBegan.at[i])} and goes on` : between(n.drainBegan, n.drained, i)],
      ["pods to evict", n.evict[i] || ""], ["termination took", between(n.drained, n.terminated, i)], ["uid", str(n.uid[i])]]),
    element("h2", "", all.length > 0 ? `Waits (${all.length})` : ""),
    jumps(all.slice(0, limit).map((k) => [waitText(k), goTo(w.from.at[k], w.to.at[k])])),
  ];
}

function waitText(k) {
  const w = data.nodes.waits;
  const pods = w.pods[k].slice(0, 5).map(str), more = w.pods[k].length - pods.length + w.more[k];
  return [lasting(w.duration[k]), str(w.kind[k]), str(w.object[k]), pods.length > 0 ? `(${pods.join(", ")}${more > 0 ? ` and ${more} more` : ""})` : "",
    str(w.reason[k]), str(w.message[k]), `line ${w.from.line[k]}`].filter((s) => s !== "").join(" ");
}

function podDetails(i) {
  const p = data.pods, side = sideOf("pod", i);
  return [facts([["workload", str(p.workload[i])], ["node", str(p.node[i])], ["created", momentText(p.created, i, side)], ["scheduled", momentText(p.scheduled, i, side)],
    ["ready", momentText(p.ready, i, side)], [p.evicted[i] ? "evicted" : "deleted", momentText(p.deleted, i, side)], ["gone", momentText(p.gone, i, side)],
    ["waited for a node", between(p.created, p.scheduled, i)], ["started in", between(p.scheduled, p.ready, i)], ["ended in", between(p.deleted, p.gone, i)]])];
}

function budgetDetails(i) {
  const b = data.budgets[i];
  return [
    facts([["at zero", lasting(b.atZero)], ["held drains", b.held > 0 ? lasting(b.held) : "never"], ["refusals", b.refusals || ""],
      ["pods that waited", b.pods.length === 0 ? "" : b.pods.join(", ") + (b.morePods > 0 ? ` and ${b.morePods} more` : "")], ["at the cursor", budgetNow(b)]]),
    jumps(b.heldNodes.slice(0, limit).map((n) => [`held ${n}`, () => jumpToNode(n, end, sideOf("budget", i))])),
  ];
}

const valueAt = (levels, t) => {
  const k = atOrBefore(levels.at, t);
  return k < 0 ? "" : levels.value[k];
};

function budgetNow(b) {
  const [allowed, healthy, desired] = [b.allowed, b.healthy, b.desired].map((l) => valueAt(l, view.cursor));
  return allowed === "" ? "" : `${allowed} allowed, ${healthy} healthy, ${desired} wanted`;
}

function workloadDetails(i) {
  const w = data.workloads[i];
  return [facts([["replicas", w.replicas], ["least available", w.leastAvailable], ["its budgets want", w.wanted || ""],
    ["below that for", w.belowWanted > 0 ? lasting(w.belowWanted) : ""], ["below its replicas for", lasting(w.belowReplicas)], ["evicted", w.evicted],
    ["refused for", w.refused > 0 ? lasting(w.refused) : ""], ["refusals", w.refusals || ""], ["deleted", w.deleted || ""], ["lost", w.lost || ""],
    ["restarts", w.restarts || ""], ["pending", w.pending > 0 ? lasting(w.pending) : ""], ["longest wait", w.longestWait > 0 ? `${lasting(w.longestWait)}, ${w.pendingPod}` : ""],
    ["because", w.pendingWhy]])];
}

function jumpToNode(nodeName, at, side) {
  const i = nodeName === "" ? -1 : nodeNamed(nodeName, at, side);
  if (i >= 0) select(rowOf("node", i));
  return i >= 0;
}

// placeOf is the row of a side's object, Kind/namespace/name, as a kind and a place; null where it has none.
function placeOf(object, side) {
  const parts = object.split("/"), rest = parts.slice(1).join("/");
  const found = (kind, of) => of < 0 ? null : { kind, of };
  switch (parts[0]) {
    case "Node": return found("node", nodeNamed(rest, end, side));
    case "PodDisruptionBudget": return found("budget", data.budgets.findIndex((b, i) => b.name === rest && sideOf("budget", i) === side));
  }
  if (parts[0] === "Pod") {
    for (let p = podCount - 1; p >= 0; p--) if (str(data.pods.name[p]) === rest && sideOf("pod", p) === side) return found("pod", p);
  }
  return found("workload", data.workloads.findIndex((w, i) => w.name === object && sideOf("workload", i) === side));
}

// jumpToObject selects the row of an object where it has one.
function jumpToObject(object, side) {
  const at = placeOf(object, side);
  if (at) select(rowOf(at.kind, at.of));
  return at !== null;
}
