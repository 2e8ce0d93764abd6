package rawjson

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// walk builds the value that a Walker is before.
func walk(t *testing.T, w *Walker, words *Words) any {
	t.Helper()
	if w.AtObject() {
		m := map[string]any{}
		for name := range w.Members() {
			key, ok := words.Name(name)
			if !ok {
				t.Fatalf("name %q", name)
			}
			m[key] = walk(t, w, words)
		}
		return m
	}
	if w.i < len(w.raw) && w.raw[w.i] == '[' {
		all := []any{}
		for range w.Elements() {
			all = append(all, walk(t, w, words))
		}
		return all
	}
	raw := w.Value()
	if s, ok := words.Text(raw); ok {
		return s
	}
	return decode(t, raw)
}

// A Walker sees what encoding/json does, and has read everything in the end.
func TestWalkerAgreesWithEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	words := &Words{}
	for range 2000 {
		raw, err := Compact(nil, fmt.Appendf(nil, "%s", randomJSON(r, 4)))
		if err != nil {
			t.Fatal(err)
		}
		w := Walk(raw)
		if d := cmp.Diff(decode(t, raw), walk(t, &w, words)); d != "" || w.i != len(raw) {
			t.Fatalf("%s: stopped at %d (-encoding/json +walked):\n%s", raw, w.i, d)
		}
	}
}

func randomJSON(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return []string{"null", "true", "-12.5e3", `""`, `"a"`, `"\"\\ä\u0085]},{["`, `{}`, `[]`}[r.IntN(8)]
	}
	var all []string
	object := r.IntN(2) == 0
	for i := range r.IntN(5) {
		v := randomJSON(r, depth-1)
		if object {
			v = fmt.Sprintf(`"m%d\n":%s`, i, v)
		}
		all = append(all, v)
	}
	if object {
		return "{" + strings.Join(all, ",") + "}"
	}
	return "[" + strings.Join(all, ",") + "]"
}

// Of bytes that aren't JSON a Walker makes nonsense, but it comes to an end.
func FuzzWalker(f *testing.F) {
	for _, s := range []string{`{"a":[1,{}]}`, `[}`, `{"a"`, `{]`, `[,,]`, `{"a":,"b"}`, `[x[`, `"`, `{"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		steps := 0
		var look func(w *Walker)
		look = func(w *Walker) {
			if steps++; steps > 4*len(raw)+4 {
				t.Fatalf("%q: no end", raw)
			}
			switch {
			case w.AtObject():
				for range w.Members() {
					look(w)
				}
			case w.i < len(w.raw) && w.raw[w.i] == '[':
				for range w.Elements() {
					look(w)
				}
			default:
				w.Value()
			}
		}
		w := Walk(raw)
		look(&w)
	})
}

// However many different texts come, a few are held.
func TestWordsAreBounded(t *testing.T) {
	var w Words
	for i := range 3 * mostWords {
		if s, ok := w.Text(fmt.Appendf(nil, `"w%d"`, i)); !ok || s != fmt.Sprint("w", i) {
			t.Fatalf("%q, %t", s, ok)
		}
	}
	long := strings.Repeat("x", longestWord+1)
	if s, ok := w.Name([]byte(long)); !ok || s != long {
		t.Errorf("%q, %t", s, ok)
	}
	if _, held := w.held[long]; held || len(w.held) > mostWords {
		t.Errorf("%d words are held, the long one %t", len(w.held), held)
	}
	for _, raw := range []string{``, `"`, `1`, `null`, `"\x"`} {
		if s, ok := w.Text([]byte(raw)); ok {
			t.Errorf("%s is %q, want none", raw, s)
		}
	}
}

// Two nodes have the words of their labels in common; escapes are read, and what is no
// string is empty.
func TestWordsAreShared(t *testing.T) {
	var w Words
	one := w.Texts([]byte(`{"kubernetes.io/os":"linux","a\"b":"c\\d","e":"","n":7}`))
	if diff := cmp.Diff(map[string]string{"kubernetes.io/os": "linux", `a"b`: `c\d`, "e": "", "n": ""}, one); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	other := w.Texts([]byte(`{"kubernetes.io/os":"linux"}`))
	if unsafe.StringData(one["kubernetes.io/os"]) != unsafe.StringData(other["kubernetes.io/os"]) {
		t.Error("two nodes have a word each: want one")
	}
}

// An Outline of a text that is compacted is that of the canonical form.
func TestOutlines(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var made, read Outline
	for range 2000 {
		text := []byte(strings.ReplaceAll(randomJSON(r, 5), `,"`, " ,\n\""))
		raw, err := CompactOutline([]byte("before"), text, &made)
		if err != nil {
			t.Fatal(err)
		}
		read.Read(raw[len("before"):])
		if d := cmp.Diff(read.Parts, made.Parts, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s\n(-read +made):\n%s", text, d)
		}
		for i, p := range made.Parts {
			var names []string
			for _, q := range made.Inside(i) {
				if q.Depth == p.Depth+1 {
					names = append(names, string(q.Name))
				}
			}
			var want []string
			if p.Depth < outlined {
				for name := range Members(p.Value) {
					want = append(want, string(name))
				}
			}
			if d := cmp.Diff(want, names); d != "" {
				t.Fatalf("inside of %s (-want +got):\n%s", p.Value, d)
			}
		}
	}
	if _, err := CompactOutline(nil, []byte(`{"a":1`), &made); err == nil || len(made.Parts) > 0 {
		t.Errorf("%v, %d parts of a text that is none", err, len(made.Parts))
	}
}
