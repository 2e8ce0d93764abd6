package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/analysis"
)

func written(t testing.TB, a *analysis.Analysis, feed []Line) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, a, feed); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheSameValuesGiveTheSameBytes(t *testing.T) {
	a, feed := sample(4, 3)
	if first, second := written(t, a, feed), written(t, a, feed); first != second {
		t.Error("found two reports of one analysis: want one")
	}
}

func TestNoPlaceholderIsLeft(t *testing.T) {
	if left := regexp.MustCompile(`\{\{[a-z-]+\}\}`).FindString(written(t, &analysis.Analysis{}, nil)); left != "" {
		t.Errorf("found %s in a report: want it replaced", left)
	}
}

// TestThePolicyNamesTheScriptAndTheStyle holds the hashes of the policy against what is on the page.
func TestThePolicyNamesTheScriptAndTheStyle(t *testing.T) {
	a, feed := sample(2, 2)
	page := written(t, a, feed)
	for name, element := range map[string]*regexp.Regexp{
		"script": regexp.MustCompile(`(?s)<script>(.*?)</script>`), "style": regexp.MustCompile(`(?s)<style>(.*?)</style>`),
	} {
		parts := element.FindAllStringSubmatch(page, -1)
		if len(parts) != 1 {
			t.Fatalf("found %d elements %s without attributes: want one", len(parts), name)
		}
		sum := sha256.Sum256([]byte(parts[0][1]))
		if want := name + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(page, want) {
			t.Errorf("found no %s in the policy: want the hash of the page's %s", want, name)
		}
	}
	if !strings.Contains(page, "default-src 'none'") || strings.Contains(page, "unsafe-") {
		t.Error("found a policy that allows more than the page's own script and style")
	}
}

// TestThePageMakesNoMarkup holds the script to the ways of making elements that take text for text.
func TestThePageMakesNoMarkup(t *testing.T) {
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(", "XMLHttpRequest", "WebSocket", "import(", ".src =", ".href ="} {
		if strings.Contains(string(thePage().before)+string(thePage().after), bad) {
			t.Errorf("found %s on the page: want elements by createElement, text by textContent, and no request", bad)
		}
	}
}

// hostile are strings that would do something if they were taken for markup.
var hostile = []string{
	"</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "{{data}}", "{{title}}", "a\x1b[31mb\u202ec",
	"\xff\xfe", "]]>", "&lt;b&gt;",
}

func TestHostileStringsStayStrings(t *testing.T) {
	for _, text := range hostile {
		a, feed := sample(1, 1)
		a.Tape.Name, a.Nodes[0].Name, a.Findings[0].Text, a.Pods[0].Name, a.Budgets[0].Name = text, text, text, text, text
		a.Nodes[0].Waits[0].Message, a.Rolls[0].Path[0].Text, a.Workloads[0].PendingWhy = text, text, text
		feed = append(feed, Line{noderoll.Entry{Kind: noderoll.EvtWarning, Node: text, Object: text, Reason: text, Message: text}, 1})
		page := written(t, a, feed)
		if n := strings.Count(page, "<script"); n != 2 {
			t.Errorf("name %q: found %d scripts: want the data and the page's own", text, n)
		}
		_, rest, _ := strings.Cut(page, `id="data">`)
		block, _, _ := strings.Cut(rest, "</script>")
		var d document
		if err := json.Unmarshal([]byte(block), &d); err != nil {
			t.Fatalf("name %q: %v: want the block of data whole", text, err)
		}
		if want := noderoll.OneLine(text); d.Tapes[0].Name != want || d.Strings[d.Nodes.Name[0]] != want || d.Findings[0].Text != want {
			t.Errorf("name %q: found %q, %q and %q: want it as text", text, d.Tapes[0].Name, d.Strings[d.Nodes.Name[0]], d.Findings[0].Text)
		}
	}
}

// encoded is the data of the page of an analysis.
func encoded(t *testing.T, a *analysis.Analysis) (d document) {
	t.Helper()
	data, err := encode(a, nil)
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A wait may have pauses: it is as long as the analysis says, not as from its beginning to its end.
func TestWaitsHaveTheirDuration(t *testing.T) {
	a, _ := sample(1, 1)
	w := &a.Nodes[0].Waits[0]
	w.Duration = 7 * time.Second
	if got := encoded(t, a).Nodes.Waits.Duration; len(got) != 1 || got[0] != 7000 || w.To.At-w.From.At == w.Duration {
		t.Errorf("found durations %v of a wait of %s: want [7000]", got, w.Duration)
	}
	if bad := regexp.MustCompile(`lasting\(w\.to\.at|w\.to\.at\[\w+\] - w\.from`).FindString(string(thePage().before) + string(thePage().after)); bad != "" {
		t.Errorf("found %s on the page: want the wait's duration", bad)
	}
}

// What goes on at the end of the tape is told from what ended earlier without an end.
func TestOnlyWhatGoesOnEndsWithTheTape(t *testing.T) {
	script := string(thePage().before) + string(thePage().after)
	for _, want := range []string{
		`r.outcome === "unfinished" && r.to >= stops[side]`, `roll.outcome === "unfinished" && roll.to >= stop)`,
		`r.outcome === "unfinished" && (r.left > 0 || r.to >= stops[side])`, `n.terminated.at[i] < 0 && n.spans`, `to < 0 && !data.nodes.unfinished[i]`,
	} {
		if !strings.Contains(script, want) {
			t.Errorf("found no %s on the page", want)
		}
	}
}

func TestRollsOfPodsHaveTheirScope(t *testing.T) {
	a := &analysis.Analysis{Rolls: []analysis.Roll{{Pods: "shop/app=web"}}}
	if got := encoded(t, a).Rolls[0].Group; got != "shop/app=web" {
		t.Errorf("found a roll of %q: want its scope", got)
	}
}

func TestATapeWithoutAStartHasNone(t *testing.T) {
	if got := encoded(t, &analysis.Analysis{}).Tapes[0].Start; got != "" {
		t.Errorf("found the start %q: want none", got)
	}
}

func TestEmptyTape(t *testing.T) {
	page := written(t, &analysis.Analysis{}, nil)
	if !strings.Contains(page, `"rolls":[]`) || !strings.Contains(page, `"findings":[]`) {
		t.Error("found null in place of an empty list")
	}
}

// TestSizes holds the limits that a report has: 2 MB of 40 nodes with 30 pods each, 25 MB of 1,000.
func TestSizes(t *testing.T) {
	for _, c := range []struct{ nodes, most int }{{40, 2 << 20}, {1000, 25 << 20}} {
		a, feed := sample(c.nodes, 30)
		if got := len(written(t, a, feed)); got > c.most {
			t.Errorf("%d nodes: found %d bytes: want at most %d", c.nodes, got, c.most)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	a, feed := sample(1000, 30)
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(written(b, a, feed))))
	}
}
