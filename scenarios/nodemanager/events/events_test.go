package events_test

import (
	"fmt"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
)

func Example() {
	system := events.NewEventSystem(clocktesting.NewFakeClock(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)))
	system.RegisterHandler(events.NodePurged, func(e events.Event) {
		fmt.Println(e.Time.Format(time.TimeOnly), e.Type, e.Node.Name)
	})
	system.Emit(events.Event{Type: events.NodeCreated, Node: api.NewNode("node-1")})
	system.Emit(events.Event{Type: events.NodePurged, Node: api.NewNode("node-1")})
	// Output: 22:00:00 node-purged node-1
}

func TestHandlersComeInOrderAndShareNothing(t *testing.T) {
	system := events.NewEventSystem(clocktesting.NewFakeClock(time.Unix(1, 0)))
	var told []string
	for _, name := range []string{"first", "second"} {
		system.RegisterHandler("", func(e events.Event) {
			told = append(told, name+" "+e.Node.Name+" "+e.Pod.Name)
			e.Node.Name, e.Pod.Name = "spoilt", "spoilt"
		})
	}
	system.Emit(events.Event{Node: api.NewNode("n"), Pod: &api.Pod{ObjectMeta: api.ObjectMeta{Name: "p"}}})
	if len(told) != 2 || told[0] != "first n p" || told[1] != "second n p" {
		t.Errorf("found %q, want first and second, each with n and p", told)
	}
	(*events.EventSystem)(nil).Emit(events.Event{})
}
