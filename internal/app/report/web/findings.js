// The findings, the most expensive first; each jumps to its place.

let finding = -1; // a place in listedFindings
const findingsAtMost = 200;

// costly are the findings, as many as asked for, the most expensive first; of two tapes those of both in one order.
function costly(most) {
  const all = data.findings.map((_, i) => i), of = (i) => data.findings[i];
  if (compared) all.sort((i, k) => Number(of(k).delays) - Number(of(i).delays) || of(k).cost - of(i).cost || i - k);
  return all.slice(0, most);
}
const listedFindings = costly(findingsAtMost);

function listFindings() {
  const list = byId("findings"), all = listedFindings;
  byId("findings-title").textContent = `Findings · ${data.findings.length}`;
  all.forEach((i, k) => {
    const f = data.findings[i];
    const button = element("button");
    button.type = "button";
    button.append(element("span", "cost", tagged(sideOf("finding", i), `${lasting(f.cost)}${f.delays ? "" : " (delays nothing)"} `) + " "), f.text || `${f.kind} ${f.object}`);
    if (f.remedy) button.append(element("span", "remedy", f.remedy));
    if (f.lines.length > 0) button.append(element("span", "proof", `lines ${f.lines.join(", ")}`));
    button.addEventListener("click", () => goToFinding(k));
    list.appendChild(element("li")).appendChild(button);
  });
  if (data.findings.length > all.length) list.appendChild(element("li", "", `and ${data.findings.length - all.length} more, which cost less`));
  if (all.length === 0) list.appendChild(element("li", "", "Nothing was found."));
}

function goToFinding(place) {
  const i = listedFindings[place], f = data.findings[i];
  if (!f) return;
  finding = place;
  const buttons = byId("findings").querySelectorAll("button");
  buttons.forEach((b, k) => b.setAttribute("aria-current", String(k === place)));
  if (buttons[place]) buttons[place].scrollIntoView({ block: "nearest" });
  focusTime(f.from, f.to);
  const side = sideOf("finding", i);
  if (!jumpToNode(f.node, f.from, side)) jumpToObject(f.object, side);
  say(`Finding ${place + 1} of ${data.findings.length}: ${f.text}`);
}

function stepFinding(by) {
  const count = listedFindings.length;
  if (count > 0) goToFinding((finding + by + count) % count);
}
