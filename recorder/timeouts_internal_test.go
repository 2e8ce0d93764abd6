package recorder

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// A recording that ends, or loses its place, while Events wait for their
// objects gives up on them at that moment, and not five seconds ahead of it.
func TestGivingUpStaysInTime(t *testing.T) {
	h := timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind, Metadata: timeline.Metadata{Name: "test"},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
		},
	}
	event := func(name, about, version string) []byte {
		return []byte(`{"kind":"Event","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"default","uid":"u-` + name +
			`","resourceVersion":"` + version + `"},"involvedObject":{"kind":"Node","name":"` + about + `"}}`)
	}
	for _, c := range []struct {
		ends string
		end  func(*sequencer) error
	}{
		{"END", func(l *sequencer) error { return l.end(2*time.Second, "") }},
		{"GAP", func(l *sequencer) error { return l.lost(2*time.Second, l.states[1], "test") }},
	} {
		var tape bytes.Buffer
		w, err := timeline.NewWriter(&tape, h)
		if err != nil {
			t.Fatal(err)
		}
		scope, err := newScope(Scope{Selector: "pool=g"})
		if err != nil {
			t.Fatal(err)
		}
		l := newSequencer(&h, scope)
		l.tape = w
		node := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"9","labels":{"pool":"g"}}}`
		nodes, events := l.states[0], l.states[1]
		for _, err := range []error{
			l.begin(make([][]*object, 2), []string{"8", "8"}),
			l.change(0, nodes, timeline.Added, []byte(node)),
			l.change(time.Second, events, timeline.Added, event("early", "nobody-yet", "11")),
			l.change(time.Second, events, timeline.Added, event("known", "a", "12")),
			c.end(l),
		} {
			if err != nil {
				t.Fatalf("%s: %v", c.ends, err)
			}
		}
		if out := tape.String(); !strings.Contains(out, `{"at":"2s","type":"ADDED","resource":"events","namespace":"default","name":"known"`) ||
			strings.Contains(out, "early") || !strings.Contains(out, `{"at":"2s","type":"`+c.ends) {
			t.Errorf("%s: the tape says\n%s", c.ends, out)
		}
	}
}
