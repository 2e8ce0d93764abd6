package tapediff_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// A comparison that looks at little would find nothing, too.
func TestTapeIsLikeItself(t *testing.T) {
	for name, want := range map[string]tapediff.Report{
		"surge":             {Nodes: 6, Pods: 48, Budgets: 1, Others: 1, Alike: 400},
		"spot-vanish":       {Nodes: 3, Pods: 32, Budgets: 1, Others: 1, Alike: 190},
		"stuck-drain":       {Nodes: 3, Pods: 16, Budgets: 1, Others: 0, Alike: 80},
		"stuck-drain-force": {Nodes: 4, Pods: 32, Budgets: 1, Others: 1, Alike: 270},
	} {
		got := compare(t, tape(t, name), tape(t, name), tapediff.Options{InOrder: true})
		if !got.Equal() || got.Cut > 0 || got.Excluded > 0 || got.Aside > 0 {
			t.Errorf("%s: found %s", name, got)
		}
		if got.Nodes != want.Nodes || got.Pods < want.Pods || got.Budgets != want.Budgets || got.Others != want.Others ||
			got.Alike < want.Alike {
			t.Errorf("%s: found %s, want at least what is in %+v", name, got.Summary(), want)
		}
	}
}

func TestExamplesDiffer(t *testing.T) {
	for _, a := range examples {
		for _, b := range examples {
			if a != b && compare(t, tape(t, a), tape(t, b), tapediff.Options{}).Equal() {
				t.Errorf("%s and %s: found no difference", a, b)
			}
		}
	}
}

// Names, UIDs, hashes and the pace are not those of another run.
func TestNamesAndTimesDontCount(t *testing.T) {
	for _, name := range examples {
		slower := edited(t, name, func(ev timeline.Event) []timeline.Event {
			ev.At = ev.At * 5 / 4
			return []timeline.Event{ev}
		})
		if report := compare(t, tape(t, name), slower, tapediff.Options{InOrder: true}); !report.Equal() {
			t.Errorf("%s, slower: %s", name, report)
		}
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range []struct{ what, by string }{
			{`ip-10-0-([0-9])-1([0-9])`, `ip-172-31-9$1-4$2`},
			{`"uid":"[0-9a-f]{4}`, `"uid":"ffff`},
			{`(web|workers|batch)-[0-9a-f]{8,10}`, `$1-5d5d5d5d5d`},
			{`("pod-template-hash":)"[0-9a-f]{8,10}"`, `$1"5d5d5d5d5d"`},
		} {
			text = regexp.MustCompile(change.what).ReplaceAll(text, []byte(change.by))
		}
		if bytes.Contains(text, []byte("ip-10-0")) || !bytes.Contains(text, []byte("-5d5d5d5d5d")) {
			t.Fatal("nothing has another name")
		}
		report := compare(t, tape(t, name), read(t, text), tapediff.Options{InOrder: true})
		if !report.Equal() {
			t.Errorf("%s, renamed: %s", name, report)
		}
		for _, p := range report.Pairs {
			if p.A == "" || p.B == "" || p.A == p.B {
				t.Errorf("%s, renamed: found %+v, want a pair of two names", name, p)
			}
		}
	}
}

// A tape that begins earlier is like one that begins where the comparison begins.
func TestCompareFromAPosition(t *testing.T) {
	for _, from := range []time.Duration{20 * time.Second, 27 * time.Second, 50 * time.Second} {
		whole := tape(t, "surge")
		header, events := timeline.Window(from, time.Hour)(whole.Header(), whole.All())
		var text bytes.Buffer
		w, err := timeline.NewWriter(&text, *header)
		if err != nil {
			t.Fatal(err)
		}
		for ev, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(ev); err != nil {
				t.Fatal(err)
			}
		}
		report := compare(t, tape(t, "surge"), read(t, text.Bytes()), tapediff.Options{FromA: from, InOrder: true})
		if !report.Equal() {
			t.Errorf("from %s: %s", from, report)
		}
	}
}
