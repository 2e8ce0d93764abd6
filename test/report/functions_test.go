package report

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

func TestTexts(t *testing.T) {
	cases(t, stuck(t), [][2]string{
		{`[0, 412, 92412, 3723004, -1500].map(stamp)`, `["T+0.000s","T+0.412s","T+1m32.412s","T+1h02m03.004s","T-1.500s"]`},
		{`[0, 350, 9400, 59949, 59950, 552000, 7500000].map(lasting)`, `["0ms","350ms","9.4s","59.9s","1m00s","9m12s","2h05m"]`},
		{`[many(1, "node"), many(2, "node"), many(0, "entry", "entries")]`, `["1 node","2 nodes","0 entries"]`},
		{`shortName("PodDisruptionBudget/shop/web")`, `"web"`},
		{`[-1, 0, 3, 4, 9, 12].map((t) => atOrBefore([0, 4, 9], t))`, `[-1,0,0,1,2,2]`},
		{`[shortStamp(90000, 1000), shortStamp(90500, 500)]`, `["T+1m30s","T+1m30.500s"]`},
	})
}

// TestWhatIsShown holds the arithmetic of the shown part: within the tape, with a time that stays where it is.
func TestWhatIsShown(t *testing.T) {
	cases(t, stuck(t), [][2]string{
		{`(whole(), Math.abs(view.from + end * 0.02) < 1 && Math.abs(view.to - end * 1.02) < 1)`, `true`},
		{`(show(0, 1000), [view.from, view.to])`, `[0,1000]`},
		{`(show(1e12, 1e12 + 1000), Math.round(view.to - end * 1.02))`, `0`},
		{`(show(500, 501), view.to - view.from)`, `20`},
		{`(show(0, 1000), zoom(0.5, 250), [view.from, view.to])`, `[125,625]`},
		{`(show(0, 1000), Math.round(tOf(xOf(333))))`, `333`},
		{`(show(0, 1000), view.width = 1230, view.gutter = 230, [xOf(0), xOf(500), xOf(1000)])`, `[230,730,1230]`},
		{`(show(0, 1000), setCursor(900), setCursor(-5), view.cursor)`, `0`},
		{`(setCursor(end + 99), view.cursor === end)`, `true`},
		{`(show(0, 10000), view.width = 1230, tickStep())`, `1000`},
	})
}

// TestLayout holds where rows are: each below the last one, at the height of its kind.
func TestLayout(t *testing.T) {
	cases(t, stuck(t), [][2]string{
		{`(build(), rows.every((r, i) => heightOf(i) === heights.normal[r.kind]) && tops[0] === 0)`, `true`},
		{`(build(), [rowAt(-1), rowAt(0), rowAt(tops[1] - 1), rowAt(tops[1]), rowAt(tops[rows.length])])`, `[-1,0,0,1,-1]`},
		{`(build(), rows.filter((r) => r.kind === "section").map((r) => r.key.split(" ")[0]))`, `["rolls","group","budgets","workloads"]`},
		{`(closed.add("rolls"), build(), rows.some((r) => r.kind === "roll"))`, `false`},
		{`(rowOf("roll", 0) >= 0 && !closed.has("rolls"))`, `true`},
		{`(build(), view.selected = rowOf("node", 1), closed.add("budgets"), closed.add("rolls"), build(), rows[view.selected].of)`, `1`},
		{`(open.add(0), build(), rows.filter((r) => r.kind === "pod").map((r) => r.of).join() === podsOf[0].join())`, `true`},
		{`rows.filter((r) => r.kind === "waits" && r.node !== 0).length`, `0`},
		{`(view.density = "compact", place(), tops[rows.length] < rows.reduce((sum, r) => sum + heights.normal[r.kind], 0))`, `true`},
	})
}

func TestFilters(t *testing.T) {
	cases(t, stuck(t), [][2]string{
		{`nodesShown().length === nodeCount`, `true`},
		{`(filter.role = "old", [...new Set(nodesShown().map((i) => str(data.nodes.role[i])))])`, `["old"]`},
		{`(filter.role = "none", build(), [nodesShown().length, filterWords(), rows.some((r) => r.kind === "node"), rows.some((r) => r.kind === "budget")])`, `[0,"role none",false,true]`},
		{`(filter.role = "", filter.phase = "cordoned", nodesShown().length > 0 && nodesShown().every((i) => hasPhase(i, "cordoned")))`, `true`},
		{`(filter.phase = "", filter.group = "=" + groups[0], nodesShown().every((i) => groupOf(i) === groups[0]))`, `true`},
		{`(filter.group = "=nobody's", nodesShown().length)`, `0`},
		{`(filter.group = "", filter.order = "name", nodesShown().map((i) => str(data.nodes.name[i])).every((n, k, all) => k === 0 || all[k - 1].localeCompare(n) <= 0))`, `true`},
		{`(filter.order = "drain", nodesShown().map(drained).every((d, k, all) => k === 0 || all[k - 1] >= d))`, `true`},
		{`(filter.order = "time", nodesShown().map((i) => rolesInOrder.indexOf(str(data.nodes.role[i]))).every((r, k, all) => k === 0 || all[k - 1] <= r))`, `true`},
	})
}

func TestSearchFindsEachKind(t *testing.T) {
	cases(t, stuck(t), [][2]string{
		{`(search("  "), found.length)`, `0`},
		{`(search("nothing has this name"), [found.length, byId("hits").textContent])`, `[0,"nothing"]`},
		{`(search(str(data.nodes.name[0])), found.some((f) => f.kind === "node" && f.of === 0) && isHit({ kind: "node", of: 0 }) && !isHit({ kind: "node", of: 1 }))`, `true`},
		{`(search(str(data.nodes.name[0]).toUpperCase()), found.some((f) => f.kind === "node" && f.of === 0))`, `true`},
		{`(search(str(data.nodes.uid[1])), found.filter((f) => f.kind === "node").map((f) => f.of))`, `[1]`},
		{`(search(data.budgets[0].name), ["budget", "workload", "pod"].map((k) => found.some((f) => f.kind === k)))`, `[true,true,true]`},
		{`(search(str(data.pods.name[0])), found.filter((f) => f.kind === "pod").map((f) => f.of).includes(0))`, `true`},
		{`(filter.role = "new", search(str(data.nodes.name[nodesShown()[0]])), filter.role = "old", search(str(data.nodes.name.find((_, i) => str(data.nodes.role[i]) === "new"))), found.filter((f) => f.kind === "node").length)`, `0`},
		{`(search(".*"), found.length)`, `0`},
	})
}

// TestDrawnIsTheAnalysis draws all rows of each scenario with all nodes open, and holds lanes, bars and texts to what explain says: one
// lane for each node, roll, budget and workload, a bar for each phase that a node has both moments of, a line for each wait.
func TestDrawnIsTheAnalysis(t *testing.T) {
	for _, name := range shipped(t) {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), os.Getenv("NODESIM"), "explain", "--simulate", name, "-o", "json").Output()
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(out) {
				t.Fatalf("found %.80q: want JSON", out)
			}
			b := report(t, "--simulate", name)
			for _, wrong := range inside[[]string](b, fmt.Sprintf(drawnWrong, out)) {
				t.Error(wrong)
			}
			b.quiet()
		})
	}
}

// drawnWrong counts what is drawn, and returns what isn't as the analysis has it.
const drawnWrong = `((analysis) => {
	const wrong = [], bars = {}, strips = {}, names = [], labels = [];
	let kind = "";
	const add = (to, key) => { to[key] = (to[key] || 0) + 1; };
	for (const [k, draw] of Object.entries(drawers)) drawers[k] = (...args) => { kind = k; draw(...args); };
	const paints = { bar, strip, name, label };
	bar = (ctx, phase, ...rest) => { const at = paints.bar(ctx, phase, ...rest); if (at) add(bars, kind + " " + phase); return at; };
	strip = (ctx, of, ...rest) => { add(strips, kind + " " + of); paints.strip(ctx, of, ...rest); };
	name = (ctx, text, ...rest) => { names.push(kind + " " + text); paints.name(ctx, text, ...rest); };
	label = (ctx, text, ...rest) => { labels.push(kind + " " + text); paints.label(ctx, text, ...rest); };

	due = true; // no frame but this one
	readColours();
	for (let i = 0; i < nodeCount; i++) open.add(i);
	build();
	view.width = 4000;
	view.height = tops[rows.length] + 100;
	whole();
	drawLanes();

	const seconds = (text) => Math.trunc(parseFloat(text) * 1000 + 1e-6);
	const wants = (what, found, wanted) => { if (found !== wanted) wrong.push("found " + found + " " + what + ": want " + wanted); };
	const lanes = (k) => rows.filter((r) => r.kind === k).length;
	wants("lanes of nodes", lanes("node"), analysis.nodes.length);
	wants("lanes of rolls", lanes("roll"), analysis.rolls.length);
	wants("lanes of budgets", lanes("budget"), analysis.budgets.length);
	wants("lanes of workloads", lanes("workload"), analysis.workloads.length);
	wants("findings", byId("findings").querySelectorAll("button").length, analysis.findings.length);

	const parts = { joining: ["joined", "ready"], cordoned: ["cordoned", "drainBegan"], draining: ["drainBegan", "drained"], terminating: ["drained", "terminated"] };
	for (const [phase, [from, to]] of Object.entries(parts)) {
		// A node with one moment and not the other may have the phase, up to something else.
		const surely = analysis.nodes.filter((n) => n[from] && n[to] && seconds(n[to].at) > seconds(n[from].at)).length;
		const perhaps = analysis.nodes.filter((n) => n[from]).length;
		const found = bars["node " + phase] || 0;
		if (found < surely) wrong.push("found " + found + " bars of nodes " + phase + ": want at least " + surely);
		if (phase === "draining" && found > perhaps) wrong.push("found " + found + " bars of nodes " + phase + ": want at most " + perhaps);
	}
	const kinds = {};
	for (const n of analysis.nodes) for (const w of n.waits) add(kinds, w.kind);
	const perNode = analysis.nodes.every((n) => new Set(n.waits.map((w) => w.kind + " " + (w.object || ""))).size <= waitsAtMost);
	if (perNode) for (const k of waitKinds) wants("lines of waits for " + k, strips["waits " + k] || 0, kinds[k] || 0);

	for (const n of analysis.nodes) {
		if (!names.includes("node " + withoutDomain(n.name))) wrong.push("found no name " + n.name);
		if (!n.drain || !n.drained || seconds(n.drained.at) <= seconds(n.drainBegan.at)) continue;
		const text = "node draining " + lasting(seconds(n.drained.at) - seconds(n.drainBegan.at));
		if (!labels.some((l) => l === text || l.startsWith(text + ":"))) wrong.push("found no bar that says " + text + " (" + n.name + ")");
	}
	for (const r of analysis.rolls) if (!names.includes("roll " + (r.group || r.pods || "roll") + " (" + r.outcome + ")")) wrong.push("found no roll of " + r.group);
	for (const b of analysis.budgets) if (!names.includes("budget " + b.namespace + "/" + b.name)) wrong.push("found no name of budget " + b.name);
	for (const w of analysis.workloads) if (!names.includes("workload " + w.kind + "/" + w.namespace + "/" + w.name)) wrong.push("found no name of workload " + w.name);
	analysis.findings.forEach((f, i) => {
		if (!byId("findings").querySelectorAll("button")[i].textContent.includes(f.text)) wrong.push("found finding " + i + " without " + f.text);
	});
	return wrong;
})(%s)`
