// The page begins here, when all its parts are known.

function heading() {
  byId("name").textContent = tapes.map((tape, side) => tagged(side, tape.name || "(a tape without a name)")).join(" · ");
  byId("facts").replaceChildren(...tapes.map((tape, side) => element("span", "", tagged(side, tapeFacts(tape, side)))));
  byId("warnings").textContent = tapes.flatMap((tape, side) => warningsOf(tape, side).slice(0, 4).map((text) => tagged(side, text))).join(" ");
}

const rollsOf = (side) => data.rolls.filter((_, i) => sideOf("roll", i) === side);

function tapeFacts(tape, side) {
  const rolls = rollsOf(side), own = (kind, count) => tapes.length === 1 ? count : side === 0 ? tapes[1].first[kind] : count - tape.first[kind];
  const facts = [
    { recording: "recorded", import: "imported", scenario: "simulated" }[tape.source] || tape.source, tape.start && tape.start.slice(0, 19).replace("T", " ") + " UTC",
    tape.provider, lasting(tape.end - tape.by), many(tape.events, "event"), many(own("node", nodeCount), "node"), many(own("pod", podCount), "pod"),
    ...rolls.slice(0, 3).map((r) => `${r.group || "roll"}: ${r.outcome}, ${r.replaced} replaced in ${lasting(r.to - r.from)}`),
  ];
  if (rolls.length > 3) facts.push(`and ${rolls.length - 3} more rolls`);
  return facts.filter((f) => f).join(" · ");
}

function warningsOf(tape, side) {
  const warnings = [];
  if (!tape.complete) warnings.push("The tape isn't complete: its recorder was cut off.");
  if (tape.gaps.length > 0) warnings.push(`${many(tape.gaps.length, "gap")}: events may be missing at ${tape.gaps.slice(0, 5).map((g) => `${stampOf(g.at, side)} (${g.name}, line ${g.line})`).join(", ")}${tape.gaps.length > 5 ? " and later" : ""}.`);
  for (const r of rollsOf(side)) if (r.outcome === "unfinished" && (r.left > 0 || r.to >= stops[side])) warnings.push(`The tape ends before the roll${r.group ? ` of ${r.group}` : ""} does${r.left > 0 ? `: ${many(r.left, "node")} left` : ""}.`);
  return warnings;
}

function drawLegend() {
  const legend = byId("legend");
  legend.replaceChildren();
  const entry = (text, paint) => {
    const item = legend.appendChild(element("span"));
    item.setAttribute("role", "listitem");
    const swatch = item.appendChild(document.createElement("canvas"));
    swatch.width = 26;
    swatch.height = 12;
    swatch.setAttribute("aria-hidden", "true");
    paint(swatch.getContext("2d"));
    item.append(text);
  };
  const used = new Set((data.nodes.spans.phase || []).map(str)), waits = new Set((data.nodes.waits.kind || []).map(str));
  for (const p of phases) if (used.has(p)) entry(p, (c) => { const [down, part] = shapes[p]; c.fillStyle = pattern(c, p); c.fillRect(0, down * 12, 26, part * 12); });
  for (const k of waitKinds) {
    if (!waits.has(k)) continue;
    entry(`waits: ${k}`, (c) => { c.strokeStyle = waitColour(k); c.lineWidth = 3; c.setLineDash(waitDash(k)); c.beginPath(); c.moveTo(0, 6); c.lineTo(26, 6); c.stroke(); });
  }
}

function buttons() {
  const click = (id, does) => byId(id).addEventListener("click", does);
  click("zoom-in", () => zoom(0.6, inView()));
  click("zoom-out", () => zoom(1 / 0.6, inView()));
  click("whole", whole);
  click("as-table", showTable);
  click("density", () => setDensity(densities[(densities.indexOf(view.density) + 1) % densities.length]));
  click("theme", () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length]));
  click("help", () => byId("keys").showModal());
  byId("search").addEventListener("input", (e) => search(e.target.value));
  byId("every").addEventListener("change", chooseEntries);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(theme));
  new ResizeObserver(() => { resize(); drawOverview(); }).observe(byId("lanes"));
}

heading();
readColours();
fillFilters();
if (nodeCount > 200) view.density = "compact";
byId("density").textContent = `Rows: ${view.density}`;
build();
chooseEntries();
listFindings();
listDifferences();
drawLegend();
resize();
drawOverview();
whole();
buttons();
pointers();
keyboard();
printing();
frame();
performance.measure("opened"); // since the navigation, for benchmarks
document.documentElement.dataset.ready = "true";
