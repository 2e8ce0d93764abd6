package fakeclient

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// What a handler learns of the first objects is the same in every run, for
// every kind of informer: with twenty nodes a random order would be told in
// the first repetition.
func TestTheFirstObjectsComeInOrder(t *testing.T) {
	var events []timeline.Event
	var want []string
	for i := range 20 {
		name := fmt.Sprintf("n%02d", i)
		events = append(events, object(0, timeline.Added, "nodes", name, 10+i, `{}`))
		want = append(want, fmt.Sprintf("add %s@%d", name, 10+i))
	}
	events = append(events, synced("nodes", 50))
	for range 25 {
		c := client(t, events)
		for kind, i := range informersOf(c) {
			d := &handlerLog{}
			if _, err := c.Handle(i, d); err != nil {
				t.Fatal(err)
			}
			run(t, c, i)
			if err := c.StepTo(t.Context(), replay.End); err != nil {
				t.Fatal(err)
			}
			equal(t, kind, d.since(0), strings.Join(want, ", "))
		}
	}
}
