package noderoll

import (
	"fmt"
	"strings"
)

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
