package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// program runs nodesim.
func program(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), os.Getenv("NODESIM"), args...).CombinedOutput(); err != nil {
		t.Fatalf("nodesim %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// compared makes the page of two simulations of a scenario; the second one has other values.
func compared(t testing.TB, scenario []string, other ...string) string {
	t.Helper()
	folder := t.TempDir()
	a, b, page := filepath.Join(folder, "a.yaml"), filepath.Join(folder, "b.yaml"), filepath.Join(folder, "diff.html")
	program(t, append(append([]string{"simulate"}, scenario...), "--out", a)...)
	program(t, append(append(append([]string{"simulate"}, scenario...), other...), "--out", b)...)
	program(t, "diff", a, b, "--out", page)
	return page
}

// sideBySide is a drain that a budget holds up beside one that is forced.
func sideBySide(t testing.TB) *tab {
	t.Helper()
	return opened(t, compared(t, []string{"stuck-drain"}, "--set", "force=true"))
}

func TestDifferencesStandInFront(t *testing.T) {
	b := sideBySide(t)
	if got := b.text("headline"); !strings.HasPrefix(got, "PodDisruptionBudget/shop/web ") {
		t.Errorf("found the headline %q: want the budget first", got)
	}
	if got := b.text("differences"); !strings.Contains(got, "Rolls · ") || !strings.Contains(got, "▲ ") || !strings.Contains(got, "budget PodDisruptionBudget/shop/web +") {
		t.Errorf("found the differences %q: want what is longer, and the budget as the reason", got)
	}
	if got := b.text("name"); got != "A stuck-drain · B stuck-drain" {
		t.Errorf("found the title %q: want both tapes", got)
	}
	if got := value[int](b, drawn); got < 20 {
		t.Errorf("found %d colours in the lanes: want a picture", got)
	}
	b.quiet()
}

// TestWhatIsComparedStandsSideBySide wants for each pair its row in A and below it the one in B, both in one scale and one group.
func TestWhatIsComparedStandsSideBySide(t *testing.T) {
	b := sideBySide(t)
	cases(t, b, [][2]string{
		{`(build(), ["roll", "node", "budget", "workload"].map((kind) => compared.pairs[kind].every(([a, b]) => rowOf(kind, b) === rowOf(kind, a) + 1)))`, `[true,true,true,true]`},
		{`rows.filter((r) => r.kind === "node").length === nodeCount`, `true`},
		{`rows.filter((r) => r.kind === "section").map((r) => r.key.split(" ")[0])`, `["rolls","group","budgets","workloads"]`},
		{`compared.pairs.node.every(([a, b]) => data.nodes.role[a] === data.nodes.role[b] && sideOf("node", a) === 0 && sideOf("node", b) === 1)`, `true`},
		{`data.rolls.map((r) => r.from === zero)`, `[true,true]`},
		{`podsOf.every((pods, i) => pods.every((p) => sideOf("pod", p) === sideOf("node", i)))`, `true`},
		{`inPairs("node", [compared.pairs.node[0][1]])[0] === compared.pairs.node[0][1]`, `true`},
		{`compared.pairs.budget.every(([a, b]) => scaleOf("budget", a, budgetTop) === scaleOf("budget", b, budgetTop))`, `true`},
		{`(filter.phase = "terminating", nodesShown().every((i) => hasPhase(i, "terminating") || hasPhase(twinOf("node", i), "terminating")) && nodesShown().some((i) => !hasPhase(i, "terminating")))`, `true`},
		{`axisText(zero, 1000)`, `"+0s"`},
		{`data.feed.at.every((at, i) => i === 0 || data.feed.at[i - 1] <= at)`, `true`},
	})
}

func TestADifferenceLeadsToBothPlaces(t *testing.T) {
	b := sideBySide(t)
	b.press("c")
	if got := b.text("spoken"); !strings.HasPrefix(got, "Difference 1 of ") || !strings.Contains(got, " in A, ") {
		t.Errorf("found %q for readers of screens: want the first difference", got)
	}
	if got := value[[]string](b, `[...document.querySelectorAll("#details h3")].map((e) => e.textContent.slice(0, 2))`); strings.Join(got, ",") != "A ,B " {
		t.Errorf("found details of %q: want A's and B's", got)
	}
	b.press("C")
	if got := b.text("spoken"); strings.HasPrefix(got, "Difference 1 of ") {
		t.Errorf("found %q after C: want the last difference of the list", got)
	}
	b.js(`[...document.querySelectorAll("#differences button")].find((e) => e.textContent.includes("old 1")).click()`)
	if got := b.text("details-title"); got != "node" {
		t.Errorf("found %q selected after a click on a node's difference: want the node", got)
	}
	if got := value[int](b, `document.querySelectorAll('#differences [aria-current="true"]').length`); got != 1 {
		t.Errorf("found %d differences marked: want one", got)
	}
	// Each difference has a place on the sides that it has a value on, within the times of that side's tape.
	cases(t, b, [][2]string{
		{`(readColours(), build(), listDifferences(), differences.filter((d) => d.places.some((of, side) => {
			const p = differencePlace(d, of), value = side === 0 ? d.a : d.b;
			return p ? !(p.from <= p.to && p.from >= tapes[side].by && p.to <= stops[side] && rowOf(p.kind, p.of) >= 0 && sideOf(p.kind, p.of) === side) : value !== "-" && d.scope !== "finding";
		})))`, `[]`},
		{`(goToDifference(0), view.places.map((p) => [p.kind, sideOf(p.kind, p.of), p.from === zero]))`, `[["roll",0,true],["roll",1,true]]`},
		{`(unmark(), view.places.length)`, `0`},
	})
	b.quiet()
}

// TestRecordingsBeginTogether compares recordings of a real control plane, whose groups have other names and whose rolls begin at other
// positions.
func TestRecordingsBeginTogether(t *testing.T) {
	page := filepath.Join(t.TempDir(), "diff.html")
	examples := filepath.Join("..", "..", "examples")
	program(t, "diff", filepath.Join(examples, "stuck-drain.yaml"), filepath.Join(examples, "stuck-drain-force.yaml"), "--out", page)
	b := opened(t, page)
	if got := b.text("headline"); !strings.HasPrefix(got, "PodDisruptionBudget/default/workers ") {
		t.Errorf("found the headline %q: want the budget first", got)
	}
	cases(t, b, [][2]string{
		{`tapes[0].by !== tapes[1].by && data.rolls.every((r) => r.from === zero)`, `true`},
		{`groups`, `["workers / batch"]`},
		{`cursorText(zero).replace(/\d/g, "0")`, `"A T+0.000s · B T+0.000s"`},
		{`cursorText(end) === "B " + stamp(stops[1] - tapes[1].by)`, `true`},
		{`cursorText(Math.min(tapes[0].by, tapes[1].by)).includes("T-")`, `false`},
		{`data.feed.at.every((at, i) => stampOf(at, sideOfEntry(i)).startsWith("T+"))`, `true`},
	})
	b.quiet()
}

func TestATapeWithoutNodesIsCompared(t *testing.T) {
	folder := t.TempDir()
	none, stuck, page := filepath.Join(folder, "none.yaml"), filepath.Join(folder, "stuck.yaml"), filepath.Join(folder, "diff.html")
	const text = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: none}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}
`
	if err := os.WriteFile(none, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program(t, "simulate", "stuck-drain", "--out", stuck)
	for _, other := range []string{stuck, none} {
		program(t, "diff", none, other, "--out", page)
		b := opened(t, page)
		if got := b.text("facts"); !strings.HasPrefix(got, "A 0ms · 1 event · 0 nodes") {
			t.Errorf("found the facts %q: want nothing of A that it doesn't have", got)
		}
		if got := b.text("warnings"); !strings.Contains(got, "A The tape isn't complete") {
			t.Errorf("found the warnings %q: want A told of as cut off", got)
		}
		if got := value[string](b, `document.querySelector("#overview text").textContent`); got != "A 0 nodes, at most 0 at once" {
			t.Errorf("found the overview %q: want no node in A", got)
		}
		b.press("cCf.v")
		b.quiet()
	}
}

func TestDifferencesPrint(t *testing.T) {
	b := sideBySide(t)
	if pdf := run(b, chromedp.PrintToPDF(chromedp.PDFPrintBackground())); len(pdf) < 10_000 {
		t.Errorf("found a print of %d bytes: want a picture and tables", len(pdf))
	}
	cases(t, b, [][2]string{{`(chooseEntries(), onPaper(), byId("printed").querySelectorAll("table")[0].rows.length === differences.length + 1)`, `true`}})
	b.quiet()
}

func TestEqualRollsSaySo(t *testing.T) {
	b := opened(t, compared(t, []string{"surge"}))
	if got := b.text("headline"); got != "no difference" {
		t.Errorf("found %q of a tape and itself: want no difference", got)
	}
	b.press("cC")
	b.quiet()
}

func TestHostileNamesOfTwoTapesAreText(t *testing.T) {
	folder := t.TempDir()
	hostile, err := os.ReadFile(filepath.Join("testdata", "hostile.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	a, later, page := filepath.Join(folder, "a.yaml"), filepath.Join(folder, "b.yaml"), filepath.Join(folder, "diff.html")
	for file, text := range map[string]string{a: string(hostile), later: strings.NewReplacer(`"at":"60s"`, `"at":"90s"`, `"at":"61s"`, `"at":"91s"`).Replace(string(hostile))} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program(t, "diff", a, later, "--out", page)
	b := opened(t, page)
	b.press("cccf.v")
	if got := value[int](b, `document.querySelectorAll("script").length`); got != 2 {
		t.Errorf("found %d scripts: want the data and the page's own", got)
	}
	if got := value[int](b, `document.querySelectorAll("main img, table img, main a, table a, iframe, object, #differences-part img").length`); got != 0 {
		t.Errorf("found %d elements made of names: want none", got)
	}
	if got := value[string](b, `typeof window.hacked`); got != "undefined" {
		t.Error("found window.hacked: want no script from the tapes run")
	}
	b.quiet()
}

// TestSizeOfTwiceFortyNodes holds a comparison to its size. How long it takes to open is in the benchmark.
func TestSizeOfTwiceFortyNodes(t *testing.T) {
	info, err := os.Stat(compared(t, []string{"percentage", "--set", "nodes=40"}, "--seed", "7"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 4<<20 {
		t.Errorf("found a page of %d bytes: want at most 4 MiB", info.Size())
	}
}

// BenchmarkOpenDiff opens the comparison of twice 40 nodes. The limit is 1 s.
func BenchmarkOpenDiff(b *testing.B) {
	file := compared(b, []string{"percentage", "--set", "nodes=40"}, "--seed", "7")
	tab := opened(b, file)
	b.ResetTimer()
	for b.Loop() {
		tab.do(chromedp.Reload(), chromedp.WaitReady(chromedp.CSS(`html[data-ready="true"]`)))
	}
	if info, err := os.Stat(file); err == nil {
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
	}
	b.ReportMetric(value[float64](tab, `performance.getEntriesByName("opened")[0].duration`), "script-ms")
}
