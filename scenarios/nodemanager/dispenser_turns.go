package nodemanager

import "context"

// direct is the dispenser of a controller whose tasks take turns. Its callers take turns with them, so that no
// goroutine receives from its channels: it answers as the dispatch loop does, by the same functions.
type direct struct {
	controller *NodeController
	bindings   map[string]string
	planned    bool
}

// request waits for the first plan, and then gives a pod its node.
func (d *direct) request(ctx context.Context, pod string) (NodeReply, error) {
	c := d.controller
	c.Turns.Wait(func() bool { return d.newest() || ctx.Err() != nil || c.tasks.Context().Err() != nil })
	switch {
	case ctx.Err() != nil:
		return NodeReply{}, ctx.Err()
	case c.tasks.Context().Err() != nil:
		return NodeReply{}, ErrNoDispenser
	}
	return c.replyTo(pod, d.bindings), nil
}

// newest takes the bindings of the latest plan over, and reports whether there was a plan.
func (d *direct) newest() bool {
	select {
	case d.bindings = <-d.controller.bindings:
		d.planned = true
	default:
	}
	return d.planned
}
