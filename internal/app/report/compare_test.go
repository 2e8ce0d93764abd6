package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/analysis/diff"
)

// sidesOf are two samples; B's roll begins a minute later on its tape and has another node.
func sidesOf(nodes int) (a, b Side) {
	a.Analysis, a.Feed = sample(nodes, 30)
	b.Analysis, b.Feed = sample(nodes+1, 30)
	b.Analysis.Rolls[0].Start.At += time.Minute
	return a, b
}

func compareWritten(t testing.TB, a, b Side) string {
	t.Helper()
	var page bytes.Buffer
	if err := WriteDiff(&page, diff.Of(a.Analysis, b.Analysis), a, b); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// dataOf is the block of data of a page.
func dataOf(t testing.TB, page string) (d document) {
	t.Helper()
	_, rest, _ := strings.Cut(page, `id="data">`)
	block, _, _ := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(block), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBothRollsBeginInOnePlace(t *testing.T) {
	a, b := sidesOf(3)
	page := compareWritten(t, a, b)
	if again := compareWritten(t, a, b); again != page {
		t.Error("found two pages of one comparison: want one")
	}
	d := dataOf(t, page)
	if len(d.Tapes) != 2 || d.Compared == nil {
		t.Fatalf("found %d tapes: want both", len(d.Tapes))
	}
	if d.Rolls[0].From != d.Compared.Zero || d.Rolls[d.Tapes[1].First.Roll].From != d.Compared.Zero {
		t.Errorf("found rolls that begin at %d and %d: want both at %d", d.Rolls[0].From, d.Rolls[1].From, d.Compared.Zero)
	}
	if d.Tapes[0].By != 60_000 || d.Tapes[1].By != 0 {
		t.Errorf("found the sides moved by %d and %d ms: want A by a minute", d.Tapes[0].By, d.Tapes[1].By)
	}
	// A moment of A is later by what A is moved, and one that the tape doesn't have stays so.
	own := dataOf(t, written(t, a.Analysis, a.Feed))
	for i, at := range own.Nodes.Joined.At {
		want := at
		if at >= 0 {
			want += 60_000
		}
		if got := d.Nodes.Joined.At[i]; got != want {
			t.Errorf("node %d: found it joined at %d: want %d", i, got, want)
		}
	}
	if last := len(d.Nodes.Spans.Node) - 1; d.Nodes.Spans.Node[last] != len(d.Nodes.Name)-1 {
		t.Errorf("found the last span of node %d: want the last node's, %d", d.Nodes.Spans.Node[last], len(d.Nodes.Name)-1)
	}
	for i := 1; i < len(d.Feed.At); i++ {
		if d.Feed.At[i] < d.Feed.At[i-1] {
			t.Fatalf("entry %d of the feed is at %d, after one at %d: want them by time", i, d.Feed.At[i], d.Feed.At[i-1])
		}
	}
	if len(d.Feed.Side) != len(a.Feed)+len(b.Feed) {
		t.Errorf("found %d sides of entries: want %d", len(d.Feed.Side), len(a.Feed)+len(b.Feed))
	}
}

// TestDifferencesHaveTheirPlaces wants what a difference leads to within the lists, A's before B's.
func TestDifferencesHaveTheirPlaces(t *testing.T) {
	a, b := sidesOf(3)
	d := dataOf(t, compareWritten(t, a, b))
	if len(d.Compared.Rows) == 0 || d.Compared.Headline == "" {
		t.Fatal("found no differences")
	}
	for _, r := range d.Compared.Rows {
		kind := rowOf(diff.Scope(r.Scope))
		first, count := d.Tapes[1].First.of(kind), map[string]int{
			"roll": len(d.Rolls), "node": len(d.Nodes.Name), "workload": len(d.Workloads), "budget": len(d.Budgets), "finding": len(d.Findings),
		}[kind]
		if in := r.Places[0]; in >= first || in < 0 && r.A != "-" {
			t.Errorf("%+v: found its place in A %d: want one below %d where A has it", r, in, first)
		}
		if in := r.Places[1]; in >= count || in >= 0 && in < first || in < 0 && r.B != "-" {
			t.Errorf("%+v: found its place in B %d: want one from %d up to %d where B has it", r, in, first, count)
		}
	}
	for kind, pairs := range d.Compared.Pairs {
		for _, p := range pairs {
			if first := d.Tapes[1].First.of(kind); p[0] >= first || p[1] < first {
				t.Errorf("found the pair %v of kind %s: want A's below %d and B's not", p, kind, first)
			}
		}
	}
}

func TestTapesWithoutRollsBeginTogether(t *testing.T) {
	a, b := Side{Analysis: &analysis.Analysis{}}, Side{Analysis: &analysis.Analysis{}}
	b.Analysis.Rolls = []analysis.Roll{{Start: analysis.Moment{At: time.Hour}}}
	d := dataOf(t, compareWritten(t, a, b))
	if d.Tapes[0].By != 0 || d.Tapes[1].By != 0 || d.Compared.Zero != 0 {
		t.Errorf("found the sides moved by %d and %d ms: want neither", d.Tapes[0].By, d.Tapes[1].By)
	}
}

// Positions of centuries, which only a made-up tape has, don't run over.
func TestTapesOfCenturiesBeginTogether(t *testing.T) {
	const long = 200 * 365 * 24 * time.Hour
	a, b := Side{Analysis: &analysis.Analysis{Rolls: []analysis.Roll{{}}}}, Side{Analysis: &analysis.Analysis{}}
	b.Analysis.Rolls = []analysis.Roll{{Start: analysis.Moment{At: long}}}
	a.Analysis.Tape.Duration, b.Analysis.Tape.Duration = long, long
	d := dataOf(t, compareWritten(t, a, b))
	if d.Tapes[0].By != 0 || d.Tapes[0].End != long.Milliseconds() {
		t.Errorf("found side A moved by %d ms, to its end at %d ms: want it where it is, and the end at %d ms", d.Tapes[0].By, d.Tapes[0].End, long.Milliseconds())
	}
}

func TestHostileStringsOfTwoTapesStayStrings(t *testing.T) {
	for _, text := range hostile {
		a, b := sidesOf(1)
		b.Analysis.Tape.Name, b.Analysis.Nodes[0].Group, b.Analysis.Rolls[0].Group, b.Analysis.Workloads[0].Name, b.Analysis.Findings[0].Object = text, text, text, text, text
		page := compareWritten(t, a, b)
		if n := strings.Count(page, "<script"); n != 2 {
			t.Errorf("name %q: found %d scripts: want the data and the page's own", text, n)
		}
		if d := dataOf(t, page); d.Tapes[1].Name != noderoll.OneLine(text) {
			t.Errorf("name %q: found %q: want it as text", text, d.Tapes[1].Name)
		}
	}
}

// TestSizeOfTwo holds the limit of a comparison: 4 MB of twice 40 nodes.
func TestSizeOfTwo(t *testing.T) {
	a, b := sidesOf(40)
	if got := len(compareWritten(t, a, b)); got > 4<<20 {
		t.Errorf("found %d bytes: want at most 4 MiB", got)
	}
}
