package media

import (
	"bytes"
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// everyForm calls do with all Forms, those that no negotiation gives included.
func everyForm(do func(Form)) {
	for i := range forms {
		for _, stream := range []bool{false, true} {
			do(Form{
				encoding: encoding(i & 3), shape: shape(i >> 2 & 3), include: include(i >> 4 & 3),
				beta: i>>6&1 == 1, pretty: i>>7&1 == 1, stream: stream,
			})
		}
	}
}

// Each Form has a place of its own for what is kept.
func TestFormsAreNumbered(t *testing.T) {
	seen := map[int]Form{}
	everyForm(func(f Form) {
		f.stream = false
		if other, ok := seen[f.index()]; ok && other != f || f.index() >= forms {
			t.Errorf("%+v and %+v are both %d", f, other, f.index())
		}
		seen[f.index()] = f
	})
	if len(seen) != forms {
		t.Errorf("%d numbers, want %d", len(seen), forms)
	}
}

// Whatever bytes an object is made of, nothing panics; and text made of JSON
// is JSON.
func FuzzText(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `"x"`, ``, `{`, `{"kind":`, `{"kind":"Node"}`, `{"apiVersion":"v1","metadata":{"name":"a"}}`,
		`{"metadata":[],"kind":{},"apiVersion":null}`, `{"kind":"Node","apiVersion":"v1","metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}`,
		`{"a":1,"kind":2,"b":3,"apiVersion":4,"c":5}`, `{"kind":"\ud800"}`, `{"metadata":{"creationTimestamp":7}}`, "{\"kind\"\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		compact, err := rawjson.Compact(nil, raw)
		for _, r := range []timeline.Resource{nodes, widgets} {
			m := NewMaker(r, printed)
			everyForm(func(f Form) {
				if f.stream || f.include == 3 || f.beta && f.pretty {
					return // the same again
				}
				text, textErr := m.text(f, raw, true)
				if textErr == nil {
					_, _ = finish(f, text)
				}
				_, _ = m.bodyOf(f, raw)
				if err != nil || f.encoding != asJSON || f.pretty {
					return
				}
				if text, textErr = m.text(f, compact, false); textErr == nil && !json.Valid(text) {
					t.Fatalf("%+v of %s: %s", f, compact, text)
				}
			})
			_ = appendBare(nil, raw) // whatever it is
			if err == nil {
				bare := appendBare(nil, compact)
				if !json.Valid(bare) {
					t.Fatalf("%s without its kind: %s", compact, bare)
				}
				if rawjson.IsObject(bare) && (rawjson.Get(bare, "kind") != nil || rawjson.Get(bare, "apiVersion") != nil) {
					t.Fatalf("%s still has a kind", bare)
				}
			}
		}
	})
}

// An object that isn't one of its kind is an error where it has to be decoded,
// and shown as it is where it hasn't.
func TestObjectOfAnotherKind(t *testing.T) {
	m := NewMaker(nodes, Options{})
	o := object(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"1"},"spec":"none"}`)
	if _, err := m.Object(form(t, nodes, Single, protobufAccept, ""), o); err == nil {
		t.Error("a node whose spec is a string was decoded")
	}
	if _, err := m.Frame(form(t, nodes, Stream, protobufAccept, ""), replay.Event{Type: watch.Added, Object: o}, true); err == nil {
		t.Error("and framed")
	}
	var out bytes.Buffer
	if err := m.List(form(t, nodes, Collection, protobufAccept, ""), &replay.List{Resource: nodes, Items: []*replay.Object{o}}, &out); err == nil || out.Len() > 0 {
		t.Errorf("and listed: %v, %d bytes", err, out.Len())
	}
	got, err := m.Object(form(t, nodes, Single, "", ""), o)
	if err != nil || !bytes.Contains(got, []byte(`"spec":"none"`)) {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err = m.Object(form(t, nodes, Single, protobufAccept+partialAccept, ""), o); err != nil || len(got) == 0 {
		t.Errorf("its metadata: %q, %v", got, err)
	}
}
