package roll

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/model"
)

// A Drain is how a node is emptied.
type Drain struct {
	// Retry is how long after a refused eviction the next try comes.
	Retry model.Dist
	// Timeout ends the drain; 0 never does.
	Timeout time.Duration
	// Force deletes what is left then, instead of giving up.
	Force bool
	// Takes says which pods have to leave; nil is all but those of DaemonSets
	// and those that have ended, as `kubectl drain --ignore-daemonsets` has it.
	Takes func(*api.Pod) bool
	// Refused is told of each refused eviction.
	Refused func(*api.Pod, *api.Refusal)
}

// Stuck is the error of a drain whose time is over.
type Stuck struct {
	Node string
	Pods []string // namespace/name of what is left
}

func (s *Stuck) Error() string {
	return fmt.Sprintf("drain of %s: %d pods left: %s", s.Node, len(s.Pods), strings.Join(s.Pods[:min(len(s.Pods), 3)], ", "))
}

// drain is one that goes on.
type drain struct {
	r       *Roller
	node    string
	uid     string
	how     Drain
	chance  model.Stream
	done    func(error)
	ends    api.Instant
	forced  bool
	over    bool
	looking bool
	retries map[*api.Pod]api.Instant // when a refused eviction is tried again
}

// drainNode evicts what has to leave a node, and calls done when that is gone,
// or with a *Stuck.
func (r *Roller) drainNode(n *api.Node, how Drain, done func(error)) {
	if how.Takes == nil {
		how.Takes = leaves
	}
	d := &drain{r: r, node: n.Name, uid: n.UID, how: how, done: done, chance: r.env.Stream("drain", n.UID), retries: map[*api.Pod]api.Instant{}}
	r.drains[n.Name] = d
	if how.Timeout > 0 {
		d.ends = r.env.API.Now().Add(how.Timeout)
		r.env.After(how.Timeout, d.timeout)
	}
	d.look()
}

// leaves reports whether a pod has to leave a node that is drained.
func leaves(p *api.Pod) bool {
	return !p.Terminal() && (p.Owner == nil || p.Owner.Kind != "DaemonSet" && p.Owner.Kind != "Node")
}

// soon looks again from the loop: a watch may not write.
func (d *drain) soon(after time.Duration) {
	if d.looking {
		return
	}
	d.looking = true
	d.r.env.After(after, func() { d.looking = false; d.look() })
}

// look evicts what is there, and ends the drain where nothing is.
func (d *drain) look() {
	if d.over {
		return
	}
	now := d.r.env.API.Now()
	left := 0
	var next api.Instant
	for _, p := range slices.Clone(d.r.env.API.PodsOn(d.node)) {
		if !d.how.Takes(p) {
			continue
		}
		left++
		if p.Terminating() || d.forced {
			continue
		}
		if at := d.retries[p]; at > now {
			if next == 0 || at < next {
				next = at
			}
			continue
		}
		if no := d.r.env.API.Evict(p); no != nil {
			at := now.Add(max(d.r.env.Draw(&d.chance, d.how.Retry), time.Millisecond))
			d.retries[p] = at
			if next == 0 || at < next {
				next = at
			}
			if d.how.Refused != nil {
				d.how.Refused(p, no)
			}
		} else if p.Gone() {
			left--
		}
	}
	if left == 0 {
		d.finish(nil)
		return
	}
	if next != 0 {
		d.r.env.At(d.r.env.Now()+next.Sub(now), d.look)
	}
}

func (d *drain) timeout() {
	if d.over {
		return
	}
	var left []string
	for _, p := range slices.Clone(d.r.env.API.PodsOn(d.node)) {
		if !d.how.Takes(p) {
			continue
		}
		left = append(left, p.Namespace+"/"+p.Name)
		if d.how.Force {
			d.r.env.API.DeletePod(p, api.OwnGrace)
		}
	}
	switch {
	case len(left) == 0:
		d.finish(nil)
	case !d.how.Force:
		slices.Sort(left)
		d.finish(&Stuck{Node: d.node, Pods: left})
	case d.forced: // a second time: whatever holds them, the machine goes
		d.finish(nil)
	default:
		d.forced = true
		d.r.env.After(d.how.Timeout, d.timeout)
		d.soon(0)
	}
}

func (d *drain) finish(err error) {
	d.over = true
	if d.r.drains[d.node] == d {
		delete(d.r.drains, d.node)
	}
	d.done(err)
}
