package record

import (
	"fmt"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// completion finds out whether a roll is over, from what goes on the tape. The
// recorder calls it from one goroutine at a time.
type completion struct {
	on       bool
	warn     func(string)
	follower *observe.Follower
	warned   bool
}

// start is called once the tape's header is known.
func (c *completion) start(h *timeline.Header) error {
	if !c.on {
		return nil
	}
	instances := noderoll.Nodes
	if h.Scope.Pods != "" {
		instances = noderoll.Pods
	}
	recorded := false
	for _, r := range h.Resources {
		recorded = recorded || r.Group == "" && r.Resource == instances
	}
	if !recorded {
		return fmt.Errorf("until complete: %s are not among the resources: want them, they show when a roll is over", instances)
	}
	o, err := observe.OptionsFor(h, "", "", "")
	if err != nil {
		return err
	}
	c.follower = observe.New(h, o)
	return nil
}

// take tells of a tape that is resumed: what is alive at its end.
func (c *completion) take(at *timeline.Resume) {
	if c.follower == nil {
		return
	}
	for ev := range at.Objects() {
		c.over(ev)
	}
	for resource, rv := range at.RV {
		c.over(timeline.Event{At: at.At, Type: timeline.Sync, Resource: resource, RV: rv})
	}
}

// over takes a line of the tape and reports whether the roll is over with it.
func (c *completion) over(ev timeline.Event) bool {
	if c.follower == nil {
		return false
	}
	entries, err := c.follower.Apply(ev)
	if err != nil && !c.warned {
		c.warned = true
		c.warn("until complete: " + err.Error())
	}
	for _, e := range entries {
		if e.Kind == noderoll.EvtComplete {
			return true
		}
	}
	return false
}
