package spec

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Whatever a file holds, Parse says one line about it or hands out a document
// that resolves to the same file every time.
func FuzzParse(f *testing.F) {
	f.Add(everything(f))
	f.Add(small)
	for _, m := range append(append([]mistake{}, ofForm...), ofMeaning...) {
		f.Add(strings.Replace(small, "{workload: web, maxUnavailable: 1}", m.new, 1))
		f.Add(m.new)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse("fuzz.yaml", []byte(text))
		var bad *Error
		if err != nil {
			if !errors.As(err, &bad) || strings.IndexFunc(err.Error(), unicode.IsControl) >= 0 || len(err.Error()) > 4*phrase.Longest+8 {
				t.Fatalf("%T %q is no *Error of one line", err, err)
			}
			return
		}
		one, err := d.Resolve(nil, nil)
		if err != nil {
			t.Fatalf("parsed, and then: %v", err)
		}
		nodes, limit := 0, MaxDuration
		for _, g := range one.Groups {
			nodes += g.Nodes
		}
		if nodes > MaxNodes || one.TimeLimit > limit || len(one.Groups) == 0 {
			t.Fatalf("%d nodes in %d groups for %s", nodes, len(one.Groups), one.TimeLimit)
		}
		for _, p := range d.Parameters {
			set := []Setting{{p.Name, text[:min(len(text), 20)]}, {p.Name, string(p.Max)}, {p.Name, string(p.Default)}}
			for _, s := range set {
				if _, err := d.Resolve([]Setting{s}, nil); err != nil && !errors.As(err, &bad) {
					t.Fatalf("--set %v: %T", s, err)
				}
			}
		}
	})
}
