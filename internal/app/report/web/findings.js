// The findings, the most expensive first; each jumps to its place.

let finding = -1;
const findingsAtMost = 200;

function listFindings() {
  const list = byId("findings"), all = data.findings.slice(0, findingsAtMost);
  byId("findings-title").textContent = `Findings · ${data.findings.length}`;
  all.forEach((f, i) => {
    const button = element("button");
    button.type = "button";
    button.append(element("span", "cost", tagged(sideOf("finding", i), `${lasting(f.cost)}${f.delays ? "" : " (delays nothing)"} `) + " "), f.text || `${f.kind} ${f.object}`);
    if (f.remedy) button.append(element("span", "remedy", f.remedy));
    if (f.lines.length > 0) button.append(element("span", "proof", `lines ${f.lines.join(", ")}`));
    button.addEventListener("click", () => goToFinding(i));
    list.appendChild(element("li")).appendChild(button);
  });
  if (data.findings.length > all.length) list.appendChild(element("li", "", `and ${data.findings.length - all.length} more, which cost less`));
  if (all.length === 0) list.appendChild(element("li", "", "Nothing was found."));
}

function goToFinding(i) {
  const f = data.findings[i];
  if (!f) return;
  finding = i;
  const buttons = byId("findings").querySelectorAll("button");
  buttons.forEach((b, k) => b.setAttribute("aria-current", String(k === i)));
  if (buttons[i]) buttons[i].scrollIntoView({ block: "nearest" });
  focusTime(f.from, f.to);
  const side = sideOf("finding", i);
  if (!jumpToNode(f.node, f.from, side)) jumpToObject(f.object, side);
  say(`Finding ${i + 1} of ${data.findings.length}: ${f.text}`);
}

function stepFinding(by) {
  const count = Math.min(data.findings.length, findingsAtMost);
  if (count > 0) goToFinding((finding + by + count) % count);
}
