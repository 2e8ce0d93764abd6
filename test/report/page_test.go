package report

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// stuck is the report of a drain that a budget holds up.
func stuck(t testing.TB) *tab { return report(t, "--simulate", "stuck-drain") }

// shown is the part of the overview that isn't covered, in pixels.
const shown = `document.querySelectorAll("#overview > rect:last-of-type")[0].getAttribute("x") - (() => {
	const left = document.querySelectorAll("#overview > rect:nth-last-of-type(2)")[0];
	return Number(left.getAttribute("x")) + Number(left.getAttribute("width"));
})()`

// drawn is how many colours the canvas has.
const drawn = `(() => {
	const c = document.getElementById("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
	for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
	return seen.size;
})()`

func TestPageShowsTheRoll(t *testing.T) {
	b := stuck(t)
	if got := b.text("name"); !strings.Contains(got, "stuck-drain") {
		t.Errorf("found the title %q: want the tape's name", got)
	}
	if got := value[int](b, drawn); got < 20 {
		t.Errorf("found %d colours in the lanes: want a picture", got)
	}
	if got := b.text("findings"); !strings.Contains(got, "PodDisruptionBudget") && !strings.Contains(got, "budget") {
		t.Errorf("found the findings %q: want the budget that held the drain", got)
	}
	if got := b.text("feed"); !strings.Contains(got, "joining ") || strings.Contains(got, ".compute.internal") {
		t.Errorf("found the feed %q: want its first entries, and nodes without their domain", got)
	}
	b.quiet()
}

func TestZoom(t *testing.T) {
	b := stuck(t)
	before := value[float64](b, shown)
	b.press("+")
	near := value[float64](b, shown)
	if near >= before {
		t.Errorf("after + the part shown has %v pixels of the overview, before it %v: want fewer", near, before)
	}
	b.press("-")
	if far := value[float64](b, shown); far <= near {
		t.Errorf("after - the part shown has %v pixels, before it %v: want more", far, near)
	}
	b.js(`document.getElementById("scroll").dispatchEvent(new WheelEvent("wheel", {deltaY: -300, ctrlKey: true, clientX: 700, clientY: 400, cancelable: true}))`)
	if wheel := value[float64](b, shown); wheel >= before {
		t.Errorf("after the wheel the part shown has %v pixels, before it %v: want fewer", wheel, before)
	}
	b.press("0")
	if all := value[float64](b, shown); all < before-1 {
		t.Errorf("after 0 the part shown has %v pixels: want the whole tape's %v", all, before)
	}
	b.quiet()
}

func TestPan(t *testing.T) {
	b := stuck(t)
	b.press("++++")
	const left = `Number(document.querySelectorAll("#overview > rect:nth-last-of-type(2)")[0].getAttribute("width"))`
	before := value[float64](b, left)
	b.press("d")
	if after := value[float64](b, left); after <= before {
		t.Errorf("after d the part shown begins at %v, before it at %v: want it later", after, before)
	}
	b.quiet()
}

// search opens the search by its key and types words. The protocol sends a key's character apart from the key, so that it lands in
// the field, which a keyboard's doesn't.
func (b *tab) search(words string) {
	b.t.Helper()
	b.press("/")
	if got := value[string](b, "document.activeElement.id"); got != "search" {
		b.t.Errorf("found the focus on %q after /: want the search", got)
	}
	b.js(`document.getElementById("search").value = ""`)
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), words))
}

func TestSearch(t *testing.T) {
	b := stuck(t)
	b.search("ip-10-")
	if got := b.text("hits"); !strings.Contains(got, "hit") {
		t.Fatalf("found %q for the nodes' names: want hits", got)
	}
	b.press("n")
	if got := b.text("hits"); !strings.HasPrefix(got, "1 of ") {
		t.Errorf("found %q after n: want the first hit", got)
	}
	if got := b.text("details-title"); !strings.Contains(got, "ip-10-") {
		t.Errorf("found %q selected after n: want a node", got)
	}
	b.press("N")
	if got := b.text("hits"); strings.HasPrefix(got, "1 of ") {
		t.Errorf("found %q after N: want the last hit", got)
	}
	b.search("nothing has this name")
	if got := b.text("hits"); got != "nothing" {
		t.Errorf("found %q for a name that nothing has: want nothing", got)
	}
	b.quiet()
}

func TestKeysAndFindings(t *testing.T) {
	b := stuck(t)
	b.press("f")
	if got := value[int](b, `document.querySelectorAll('#findings [aria-current="true"]').length`); got != 1 {
		t.Errorf("found %d findings marked after f: want one", got)
	}
	if got := b.text("spoken"); !strings.HasPrefix(got, "Finding 1 of ") {
		t.Errorf("found %q for readers of screens: want the finding", got)
	}
	b.press(".")
	if got := value[int](b, `document.querySelectorAll("#feed .now").length`); got != 1 {
		t.Errorf("found %d entries of the feed at the cursor after a step: want one", got)
	}
	b.press("t")
	if got := value[string](b, `document.documentElement.dataset.theme`); got != "light" {
		t.Errorf("found the theme %q after t: want light", got)
	}
	b.press("v")
	if got := value[int](b, `document.querySelectorAll("#table[open] tbody tr").length`); got == 0 {
		t.Error("found no table of nodes after v")
	}
	b.js(`document.getElementById("table").close()`)
	b.press("?")
	if got := value[bool](b, `document.getElementById("keys").open`); !got {
		t.Error("found no help after ?")
	}
	b.quiet()
}

// TestNodesOpen opens the first node by keys, and wants its pods as rows: the list of rows grows.
func TestNodesOpen(t *testing.T) {
	b := stuck(t)
	const height = `document.getElementById("tall").offsetHeight`
	before := value[int](b, height)
	b.search("ip-10-")
	b.press("n\r")
	if after := value[int](b, height); after <= before {
		t.Errorf("found rows of %d pixels after Enter on a node, before it %d: want its pods", after, before)
	}
	b.quiet()
}

func TestFilterThatMatchesNothingSaysSo(t *testing.T) {
	b := stuck(t)
	b.js(`
		const set = (id, value) => { const e = document.getElementById(id); e.appendChild(new Option(value, value)); e.value = value; e.dispatchEvent(new Event("change")); };
		set("role", "none")`)
	if got := b.text("nothing"); !strings.Contains(got, "No node matches: role none") {
		t.Errorf("found %q for a filter that matches nothing: want it said", got)
	}
}

func TestControlsHaveNames(t *testing.T) {
	b := stuck(t)
	nameless := value[[]string](b, `[...document.querySelectorAll("button, input, select, [tabindex], [role=img], [role=application], dialog")]
		.filter((e) => !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.title || e.labels?.length))
		.map((e) => e.outerHTML.slice(0, 80))`)
	if len(nameless) > 0 {
		t.Errorf("found controls without a name: %s", strings.Join(nameless, ", "))
	}
}

func TestPrints(t *testing.T) {
	b := stuck(t)
	pdf := run(b, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if len(pdf) < 10_000 {
		t.Errorf("found a print of %d bytes: want a picture and tables", len(pdf))
	}
	if got := value[int](b, `document.getElementById("printed").childElementCount`); got != 0 {
		t.Errorf("found %d parts of the print left on the page: want none", got)
	}
	b.quiet()
}
