package observe

import (
	"bytes"
	"encoding/json"
	"fmt"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// budgetCache keeps what was decoded of a PodDisruptionBudget: its status changes
// with every pod, and lists all pods that were evicted of late.
type budgetCache struct {
	budget               noderoll.Budget
	selector             []byte
	generation, observed int64
}

// budget hands a PodDisruptionBudget to the feed.
func (f *Follower) budget(ev *timeline.Event) ([]noderoll.Entry, error) {
	id := objectName{ev.Namespace, ev.Name}
	if ev.Type == timeline.Deleted {
		delete(f.budgets, id)
		return f.feed.DeleteBudget(f.at, ev.Namespace, ev.Name), nil
	}
	c := f.budgets[id]
	patch, whole := ev.Patch, ev.Object != nil && (c == nil || !f.patched(ev))
	if whole {
		// A whole object changes a budget of which nothing is known but the selector, which costs most.
		patch = ev.Object
		var known budgetCache
		if c != nil {
			known.selector, known.budget.Selector = c.selector, c.budget.Selector
		}
		c = &known
		c.budget.Namespace, c.budget.Name = ev.Namespace, ev.Name
		if rawjson.Get(patch, "spec", "selector") == nil {
			c.selector, c.budget.Selector = nil, nil
		}
	} else if c == nil {
		return nil, unreadable(ev, errNoObject)
	}
	next := *c
	if err := next.patch(patch, whole); err != nil {
		return nil, unreadable(ev, err)
	}
	f.budgets[id] = &next
	return f.feed.SetBudget(f.at, next.budget), nil
}

// patch changes what is known as a patch says, or, of the selector, as a whole
// object does.
func (c *budgetCache) patch(patch []byte, whole bool) error {
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		var err error
		switch string(name) {
		case "metadata":
			if generation := rawjson.Get(value, "generation"); generation != nil {
				c.generation, err = integer("metadata.generation", generation, 64)
			}
		case "spec":
			err = c.patchSpec(value, whole)
		case "status":
			err = c.patchStatus(value)
		}
		if err != nil {
			return err
		}
	}
	c.budget.Stale = c.observed < c.generation
	return nil
}

func (c *budgetCache) patchSpec(patch []byte, whole bool) error {
	if !rawjson.IsObject(patch) {
		c.budget.EvictUnhealthy = false
		return c.setSelector(nil)
	}
	for name, value := range rawjson.Members(patch) {
		switch string(name) {
		case "selector":
			if whole {
				if err := c.setSelector(value); err != nil {
					return err
				}
			} else if err := c.setSelector(merged(c.selector, value)); err != nil {
				return err
			}
		case "unhealthyPodEvictionPolicy":
			policy, err := text("spec.unhealthyPodEvictionPolicy", value)
			if err != nil {
				return err
			}
			c.budget.EvictUnhealthy = policy == string(policyv1.AlwaysAllow)
		}
	}
	return nil
}

func (c *budgetCache) setSelector(raw []byte) error {
	if bytes.Equal(c.selector, raw) {
		return nil
	}
	c.selector, c.budget.Selector = bytes.Clone(raw), nil
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &c.budget.Selector); err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	return nil
}

func (c *budgetCache) patchStatus(patch []byte) error {
	b := &c.budget
	if !rawjson.IsObject(patch) {
		c.observed, b.DisruptionsAllowed, b.CurrentHealthy, b.DesiredHealthy = 0, 0, 0, 0
		return nil
	}
	for name, value := range rawjson.Members(patch) {
		var into *int32
		switch string(name) {
		case "observedGeneration":
			var err error
			if c.observed, err = integer("status.observedGeneration", value, 64); err != nil {
				return err
			}
			continue
		case "disruptionsAllowed":
			into = &b.DisruptionsAllowed
		case "currentHealthy":
			into = &b.CurrentHealthy
		case "desiredHealthy":
			into = &b.DesiredHealthy
		default:
			continue
		}
		n, err := integer("status."+string(name), value, 32)
		if err != nil {
			return err
		}
		*into = int32(n)
	}
	return nil
}
