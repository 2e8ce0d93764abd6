package apiserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

// loud is a tape of one node, of 10 KB, that changes n times.
func loud(n int) (timeline.Header, []timeline.Event) {
	pad := strings.Repeat("x", 10_000)
	node := func(i int) []byte {
		return fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"%d","annotations":{"pad":%q}}}`, i+1, pad)
	}
	events := []timeline.Event{
		{Type: timeline.Added, Resource: "nodes", Name: "a", UID: "a", RV: "1", Object: node(0)},
		{Type: timeline.Sync, Resource: "nodes", RV: "1"},
	}
	for i := range n {
		events = append(events, timeline.Event{
			At: time.Duration(i+1) * time.Millisecond, Type: timeline.Modified, Resource: "nodes", Name: "a", RV: fmt.Sprint(i + 2), Object: node(i + 1),
		})
	}
	return timeline.Header{
		Metadata:  timeline.Metadata{Name: "loud"},
		Resources: []timeline.Resource{{Version: "v1", Kind: "Node", Resource: "nodes"}},
	}, events
}

// shouting serves a loud tape as fast as it can, and cuts off who takes nothing
// for so long.
func shouting(t *testing.T, changes int, cutOff time.Duration) (*apiserver.Server, *replay.Player) {
	t.Helper()
	header, events := loud(changes)
	p, err := replay.NewPlayer(replay.Events(&header, events), replay.StayOpen(), replay.WithSpeed(replay.Max))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	s, err := apiserver.New(p, apiserver.CutOff(cutOff))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, p
}
