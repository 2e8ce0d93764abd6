package tapediff

import (
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/nodesim/nodesim/timeline"
)

// budget notes what a budget allows: its state at the beginning, the states that it comes to, and whether it blocks
// while a node is cordoned. Each is on a track of its own, since their order depends on who evicts first.
func (in *reading) budget(ev timeline.Event) error {
	var b policyv1.PodDisruptionBudget
	if err := decode(ev, &b); err != nil {
		return err
	}
	h := in.of("PodDisruptionBudget", ev, &in.budgets)
	delete(in.blocking, h)
	if ev.Type == timeline.Deleted {
		h.gone = true
		h.say("", "life", ev.At, "deleted")
		return nil
	}
	state := "allows"
	if b.Status.DisruptionsAllowed == 0 {
		state = "blocks"
		in.blocking[h] = true
	}
	for _, c := range b.Status.Conditions {
		if !in.excluded.excludesCondition("PodDisruptionBudget", c.Type, c.Reason) {
			state += fmt.Sprintf(", %s=%s", c.Type, in.says(string(c.Status), c.Reason, c.Message))
		}
	}
	h.budget = state
	in.tellBudget(h, ev.At)
	in.tellBlocking(ev.At)
	return nil
}

// tellBudget notes the state that a budget has come to.
func (in *reading) tellBudget(h *history, at time.Duration) {
	h.say("", "comes to: "+h.budget, at, h.budget)
	if h.chapters[""]["life"] == nil {
		h.say("", "life", at, "at first "+h.budget)
	}
}

// tellBlocking notes that budgets block while a node is cordoned.
func (in *reading) tellBlocking(at time.Duration) {
	if len(in.cordoned) == 0 {
		return
	}
	for h := range in.blocking {
		h.say("", "in a drain", at, "blocks")
	}
}
