package recorder

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// How far each resource was read is at the end, where that is further
// than what the tape shows, and nowhere within a gap.
func TestEndSaysHowFarEachResourceWasRead(t *testing.T) {
	h := timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind, Metadata: timeline.Metadata{Name: "test"},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"}, {Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
		},
	}
	var tape bytes.Buffer
	w, err := timeline.NewWriter(&tape, h)
	if err != nil {
		t.Fatal(err)
	}
	l := newSequencer(&h, nil)
	l.tape = w
	nodes, pods, events := l.states[0], l.states[1], l.states[2]
	node := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"12"}}`
	for _, err := range []error{
		l.begin(make([][]*object, 3), []string{"10", "10", "10"}),
		l.change(time.Second, nodes, timeline.Added, []byte(node)),
		l.bookmark(2*time.Second, nodes, "20"), // too early for a SYNC
		l.bookmark(2*time.Second, pods, "10"),  // nothing new
		l.bookmark(2*time.Second, events, "15"),
		l.lost(3*time.Second, events, "test"),
		l.end(4*time.Second, "test"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, lines, _ := strings.Cut(tape.String(), "--- ")
	want := `{"at":"0s","type":"SYNC","resource":"nodes","rv":"10"}
--- {"at":"0s","type":"SYNC","resource":"pods","rv":"10"}
--- {"at":"0s","type":"SYNC","resource":"events","rv":"10"}
--- {"at":"1s","type":"ADDED","resource":"nodes","name":"a","uid":"u","rv":"12","object":{"metadata":{}}}
--- {"at":"3s","type":"GAP","resource":"events","rv":"15","reason":"test"}
--- {"at":"4s","type":"SYNC","resource":"nodes","rv":"20"}
--- {"at":"4s","type":"END","reason":"test","events":7}
`
	if lines != want {
		t.Errorf("found\n%s\nwant\n%s", lines, want)
	}
}
