// The nodes as a table, for readers of screens and for paper, and what else is printed.

const tableAtMost = 2000;

function nodeTable() {
  const n = data.nodes, shown = nodesShown(), table = element("table");
  const head = table.createTHead().insertRow();
  for (const title of [...(compared ? ["Side"] : []), "Node", "Group", "Role", "Joined", "Join", "Cordoned", "Drain", "Terminated", "Waited most for"]) {
    const th = head.appendChild(element("th", "", title));
    th.scope = "col";
  }
  const body = table.createTBody();
  for (const i of shown.slice(0, tableAtMost)) {
    const row = body.insertRow();
    const cell = (text, cls = "") => row.appendChild(element("td", cls, text));
    const side = sideOf("node", i), at = (m) => cell(m.at[i] < 0 ? "" : stampOf(m.at[i], side), "n");
    if (compared) cell(letter(side));
    cell(str(n.name[i]));
    cell(str(n.group[i]));
    cell(str(n.role[i]));
    at(n.joined);
    cell(between(n.joined, n.ready, i), "n");
    at(n.cordoned);
    cell(drained(i) < 0 ? "" : lasting(drained(i)) + (n.drained.at[i] < 0 ? ", goes on" : ""), "n");
    at(n.terminated);
    cell(longestWait(i));
  }
  if (shown.length > tableAtMost) body.insertRow().appendChild(element("td", "", `and ${shown.length - tableAtMost} more`));
  return table;
}

function longestWait(i) {
  const w = data.nodes.waits;
  let longest = -1;
  for (let k = waitFirst[i]; k < waitFirst[i + 1]; k++) if (longest < 0 || w.duration[k] > w.duration[longest]) longest = k;
  return longest < 0 ? "" : `${str(w.kind[longest])} ${str(w.object[longest])} ${lasting(w.duration[longest])}`;
}

function showTable() {
  byId("table-body").replaceChildren(nodeTable());
  byId("table").showModal();
}

const printedAtMost = 400;

// onPaper adds findings, nodes and feed as text, in light colours.
function onPaper() {
  const place = byId("printed"), findings = element("ol"), entries = element("ul");
  for (const i of costly(printedAtMost)) findings.appendChild(element("li", "", tagged(sideOf("finding", i), `${lasting(data.findings[i].cost)}: ${data.findings[i].text} ${data.findings[i].remedy}`)));
  if (data.findings.length > printedAtMost) findings.appendChild(element("li", "", `and ${data.findings.length - printedAtMost} more`));
  for (const i of shownEntries.slice(0, printedAtMost)) entries.appendChild(element("li", "", `${tagged(sideOfEntry(i), stampOf(feed.at[i], sideOfEntry(i)))}  ${str(feed.kind[i])}  ${str(feed.node[i])}  ${entryDetails(i)}`.trim()));
  if (shownEntries.length > printedAtMost) entries.appendChild(element("li", "", `and ${shownEntries.length - printedAtMost} more`));
  place.replaceChildren(...printedDifferences(), element("h2", "", "Findings"), findings, element("h2", "", "Nodes"), nodeTable(), element("h2", "", "Feed"), entries);
}

function printing() {
  let before = theme;
  window.addEventListener("beforeprint", () => {
    before = theme;
    onPaper();
    setTheme("light");
    frame();
  });
  window.addEventListener("afterprint", () => {
    byId("printed").replaceChildren();
    setTheme(before);
  });
}
