package noderoll

import (
	"fmt"
	"strings"
	"time"
)

// Check reports the first thing that is wrong with a snapshot, whatever made it:
// nodes, or pods of a roll, out of order or twice, counters that don't agree with
// them, pods counted on a node that isn't draining, or more of them than the drain
// began with.
func (s Snapshot) Check() error {
	for i := range s.Nodes {
		v := &s.Nodes[i]
		if i > 0 && s.Nodes[i-1].Name >= v.Name {
			return fmt.Errorf("snapshot: node %q after %q: want each name once, in order", v.Name, s.Nodes[i-1].Name)
		}
		if v.Phase != PhaseDraining && (v.Pods != 0 || v.PodsTotal != 0 || v.PodsUnknown) {
			return fmt.Errorf("snapshot: node %q is %s and has pods %d/%d: want them counted while draining only", v.Name, v.Phase, v.Pods, v.PodsTotal)
		}
		if v.Phase != PhaseDraining && v.Cordoned {
			return fmt.Errorf("snapshot: node %q is %s and cordoned: want that of draining nodes only", v.Name, v.Phase)
		}
		if v.Pods < 0 || v.Pods > v.PodsTotal {
			return fmt.Errorf("snapshot: node %q has pods %d/%d: want no more than there were", v.Name, v.Pods, v.PodsTotal)
		}
		if v.Phase == PhaseReady && !v.Ready {
			return fmt.Errorf("snapshot: node %q has phase Ready and is not ready", v.Name)
		}
	}
	counted := Snapshot{Nodes: s.Nodes}
	counted.Tally() // in order already, so that nothing moves
	if got, want := s.figures(), counted.figures(); got != want {
		return fmt.Errorf("snapshot: counters %+v: want %+v, as the nodes say", got, want)
	}
	return s.checkPods()
}

func (s *Snapshot) figures() counters {
	return counters{s.Total, s.ReadyTarget, s.Draining, s.Joining, s.NotReady, s.OffTarget, s.Cordoned}
}

// EntryChecker checks the entries of a feed, in order, against what every roll
// obeys. It takes a feed from its start, of either level; nodes that were there
// before are known from their first entry on. The zero EntryChecker is ready to
// use.
type EntryChecker struct {
	at    time.Duration
	nodes map[string]*checkedNode
	pods  map[string]*checkedPod // of a roll of pods, by Object
}

type checkedNode struct {
	last    EventKind // the latest transition; empty for a node seen otherwise only
	blocked bool
}

// Check takes in one entry and reports what is wrong with it:
//
//   - time goes back;
//   - a node comes to the phase that it is in, or joins without having been gone;
//   - a node that is gone does anything but come again;
//   - a pod is evicted from, or budgets block, a node that isn't draining;
//   - blocked or unblocked twice in a row.
//
// Entries of pods, which a roll of pods has, it holds against rules of their own:
//
//   - a pod that is gone does anything but come again, or comes and was there;
//   - an update, or a resize, ends that hasn't begun;
//   - it fails twice.
func (c *EntryChecker) Check(e Entry) error {
	if e.At < c.at {
		return c.wrong(e, "comes after T+"+c.at.String())
	}
	c.at = e.At
	if e.ofPod() {
		return c.pod(e)
	}
	if e.Node == "" {
		return nil
	}
	n, known := c.nodes[e.Node]
	if !known {
		n = &checkedNode{}
		if c.nodes == nil {
			c.nodes = make(map[string]*checkedNode)
		}
		c.nodes[e.Node] = n
	}
	gone := n.last == EvtTerminated
	drains := n.last == EvtDraining || n.last == EvtCordoned || n.last == ""
	switch e.Kind {
	case EvtJoining, EvtOnline, EvtCordoned, EvtDraining, EvtNotReady, EvtTerminated:
		was := n.last
		begins := was == EvtCordoned && e.Kind == EvtDraining
		*n = checkedNode{last: e.Kind, blocked: begins && n.blocked}
		switch {
		case was == e.Kind:
			return c.wrong(e, "repeats the node's last transition")
		case was == EvtDraining && e.Kind == EvtCordoned:
			return c.wrong(e, "is of a node that is being drained")
		case e.Kind == EvtNotReady && gone:
			return c.wrong(e, "is of a node that is gone")
		}
	case EvtEvicted, EvtBlocked, EvtUnblocked:
		if !drains {
			return c.wrong(e, "is of a node that isn't draining")
		}
		if e.Kind != EvtEvicted {
			if known && n.last != "" && n.blocked == (e.Kind == EvtBlocked) {
				return c.wrong(e, "comes twice in a row")
			}
			n.blocked = e.Kind == EvtBlocked
		}
	case EvtPressure, EvtWarning:
		if gone {
			return c.wrong(e, "is of a node that is gone")
		}
	}
	return nil
}

func (c *EntryChecker) wrong(e Entry, what string) error {
	return fmt.Errorf("feed: %q %s", e.String(), what)
}

// checkPods is Check of what a Snapshot shows of a roll of pods.
func (s *Snapshot) checkPods() error {
	var counted PodCounts
	for i := range s.Pods {
		v := &s.Pods[i]
		counted.Add(v, 1)
		switch {
		case i > 0 && byPod(&s.Pods[i-1], v) >= 0:
			return fmt.Errorf("snapshot: pod %s/%s after %s/%s: want each name once, in order", v.Namespace, v.Name, s.Pods[i-1].Namespace, s.Pods[i-1].Name)
		case v.settled() && !v.Ready:
			return fmt.Errorf("snapshot: pod %s/%s has phase %s and is not ready", v.Namespace, v.Name, v.Phase)
		case (v.Phase == PodRestarted) != (v.settled() && v.Restarts > 0):
			return fmt.Errorf("snapshot: pod %s/%s has phase %s and %d restarts", v.Namespace, v.Name, v.Phase, v.Restarts)
		}
	}
	if counted != s.PodCounts {
		return fmt.Errorf("snapshot: counters %+v: want %+v, as the pods say", s.PodCounts, counted)
	}
	return nil
}

// ofPod reports whether an entry is of a pod of a roll of pods. Those that only
// mention one are of nodes.
func (e *Entry) ofPod() bool {
	return strings.HasPrefix(e.Object, "Pod/") && e.Kind != EvtWarning && e.Kind != EvtEvicted
}

type checkedPod struct {
	gone, met                  bool // met: it has told of itself, and not only been told of before
	updating, resizing, failed bool
}

// pod checks an entry of a pod. One that was there before the feed began may be in
// the middle of anything.
func (c *EntryChecker) pod(e Entry) error {
	p := c.pods[e.Object]
	if p == nil {
		p = &checkedPod{updating: e.Kind != EvtJoining && e.Kind != EvtOnline}
		p.resizing = p.updating
		if c.pods == nil {
			c.pods = make(map[string]*checkedPod)
		}
		c.pods[e.Object] = p
	}
	met := p.met
	p.met = true
	if p.gone {
		if e.Kind != EvtJoining && e.Kind != EvtOnline {
			return c.wrong(e, "is of a pod that is gone")
		}
		*p = checkedPod{met: true}
		return nil
	}
	switch e.Kind {
	case EvtJoining:
		if met {
			return c.wrong(e, "is of a pod that is there")
		}
	case EvtTerminated:
		p.gone = true
	case EvtUpdating:
		p.updating, p.failed = true, false
	case EvtResizing:
		p.resizing = true
	case EvtFailed:
		if !p.updating || p.failed {
			return c.wrong(e, "is of no update, or of one that has failed")
		}
		p.failed = true
	case EvtUpdated:
		if !p.updating {
			return c.wrong(e, "is of no update")
		}
		p.updating, p.failed = false, false
	case EvtDeferred, EvtInfeasible, EvtResized:
		if !p.resizing {
			return c.wrong(e, "is of no resize")
		}
		p.resizing = e.Kind != EvtResized
	case EvtRolledBack: // of either
		if !p.updating && !p.resizing {
			return c.wrong(e, "is of no update")
		}
	}
	return nil
}
