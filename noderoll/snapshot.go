package noderoll

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Phase is where a node is in the roll.
type Phase string

// The phases. Draining wins over everything else, see Classify.
const (
	// PhaseReady is a node that is Ready and takes pods.
	PhaseReady Phase = "Ready"
	// PhaseJoining is a node that is not Ready and has not been, as this UID.
	PhaseJoining Phase = "Joining"
	// PhaseDraining is a node that is cordoned or carries a removal taint.
	PhaseDraining Phase = "Draining"
	// PhaseNotReady is a node that was Ready before, as the same UID, and is
	// neither Ready nor draining now.
	PhaseNotReady Phase = "NotReady"
)

// NodeView is one node's observed state.
type NodeView struct {
	Name     string `json:"name"`
	OnTarget bool   `json:"onTarget"` // the roll moves towards it
	Ready    bool   `json:"ready"`    // condition Ready is True; says nothing of cordons
	Phase    Phase  `json:"phase"`

	// Pods counts the evictable pods still on a draining node, PodsTotal the
	// most that there were in this drain. Both are 0 for every other phase, and
	// while PodsUnknown is set.
	Pods      int `json:"pods,omitempty"`
	PodsTotal int `json:"podsTotal,omitempty"`

	// Cordoned says of a draining node that nothing shows yet that anybody drains
	// it: it is cordoned, or carries a removal taint, and waits.
	Cordoned bool `json:"cordoned,omitempty"`

	// HeldBy names a PodDisruptionBudget, as namespace/name, while budgets refuse
	// every pod that the drain of this draining node has still to evict. Of a
	// cordoned node it says what would block a drain, now and not for any time. It
	// is empty where budgets aren't known.
	HeldBy string `json:"heldBy,omitempty"`

	// Pressure holds the types of the pressure conditions that are True, in the
	// order MemoryPressure, DiskPressure, PIDPressure, NetworkUnavailable; nil
	// when there is none. It is advice and never alters Phase. The slice may be
	// shared between snapshots: don't write to it.
	Pressure []string `json:"pressure,omitempty"`

	// UID is the node's identity where the source has one. A node of the same
	// name and another UID is another node (AKS reimages so).
	UID string `json:"uid,omitempty"`
	// Image is the display form of what the node runs, see ImageID; empty when
	// the source doesn't know.
	Image string `json:"image,omitempty"`
	// PodsUnknown says that the pods of this draining node could not be
	// counted, as opposed to a node that holds none.
	PodsUnknown bool `json:"podsUnknown,omitempty"`
}

// WarnEvent is a recent Warning about a node of the group or about something
// that runs there.
type WarnEvent struct {
	Node    string `json:"node"`
	Object  string `json:"object"` // "Kind/name" of the involved object
	Reason  string `json:"reason"`
	Message string `json:"message"` // as found; pass it through Brief before showing it
}

// Snapshot is the group's state at one instant, with the aggregates of the
// roll. Nodes are sorted by name, Warnings by node, reason and object.
type Snapshot struct {
	Nodes       []NodeView `json:"nodes"`
	Total       int        `json:"total"`       // len(Nodes)
	ReadyTarget int        `json:"readyTarget"` // phase Ready and on target
	Draining    int        `json:"draining"`
	Joining     int        `json:"joining"`

	Warnings []WarnEvent `json:"warnings,omitempty"`

	NotReady  int `json:"notReady,omitempty"`  // phase NotReady
	OffTarget int `json:"offTarget,omitempty"` // nodes not on target, in any phase
	Cordoned  int `json:"cordoned,omitempty"`  // of those that count as Draining

	// Machines are the NodeClaims and Machines that have something to say, by their object.
	Machines []MachineView `json:"machines,omitempty"`

	// PodsError says why the pods of a draining node are unknown, WarningsError
	// why Warnings may be incomplete, BudgetsError why HeldBy may be. They are empty
	// when all is known.
	PodsError     string `json:"podsError,omitempty"`
	WarningsError string `json:"warningsError,omitempty"`
	BudgetsError  string `json:"budgetsError,omitempty"`

	// Of a roll of pods (StateOptions.Pods): the pods by namespace and name, their
	// aggregates, and what the roll moves towards, for people.
	Pods      []PodView `json:"pods,omitempty"`
	PodCounts PodCounts `json:"podCounts,omitzero"`
	PodTarget string    `json:"podTarget,omitempty"`
}

// Observer yields successive snapshots of a roll.
type Observer interface {
	Snapshot(ctx context.Context) (Snapshot, error)
}

// Complete reports whether nothing is left to roll: the group has nodes, all of
// them are on target, and none is draining, joining or not ready. Unlike a
// comparison with the number of nodes at the start, it holds when the group is
// resized meanwhile and when the first look falls into the middle of a surge.
// It looks at Nodes alone, so that it is right for hand-made snapshots too.
func (s Snapshot) Complete() bool {
	for i := range s.Nodes {
		if !s.Nodes[i].OnTarget || s.Nodes[i].Phase != PhaseReady {
			return false
		}
	}
	return len(s.Nodes) > 0
}

// Clone returns a deep copy: nothing in it is shared with s.
func (s Snapshot) Clone() Snapshot {
	c := s
	c.Nodes = slices.Clone(s.Nodes)
	for i := range c.Nodes {
		c.Nodes[i].Pressure = slices.Clone(c.Nodes[i].Pressure)
	}
	c.Warnings = slices.Clone(s.Warnings)
	c.Machines = slices.Clone(s.Machines)
	c.Pods = slices.Clone(s.Pods)
	return c
}

// Plain returns a deep copy without what only a real cluster has: UIDs, images, machines,
// whether anybody drains a cordoned node, and what holds a drain up. Two snapshots that tell the same story of differently born nodes are
// equal in this form.
func (s Snapshot) Plain() Snapshot {
	c := s.Clone()
	for i := range c.Nodes {
		c.Nodes[i].UID, c.Nodes[i].Image, c.Nodes[i].Cordoned, c.Nodes[i].HeldBy = "", "", false, ""
	}
	c.Cordoned, c.Machines = 0, nil
	for i := range c.Pods {
		c.Pods[i].UID = ""
	}
	return c
}

// Tally sorts the nodes by name, in place, and sets every counter from them: the one
// rule by which live, scripted and replayed snapshots are counted.
func (s *Snapshot) Tally() {
	slices.SortStableFunc(s.Nodes, func(a, b NodeView) int { return strings.Compare(a.Name, b.Name) })
	s.count()
}

// count sets every counter from the nodes.
func (s *Snapshot) count() {
	var c counters
	for i := range s.Nodes {
		c.add(&s.Nodes[i], 1)
	}
	c.fill(s)
}

// counters are the aggregates of a Snapshot, kept up to date by single steps.
type counters struct {
	total, readyTarget, draining, joining, notReady, offTarget, cordoned int
}

// add counts one view in (by 1) or out (by -1).
func (c *counters) add(v *NodeView, by int) {
	c.total += by
	if !v.OnTarget {
		c.offTarget += by
	}
	switch v.Phase {
	case PhaseReady:
		if v.OnTarget {
			c.readyTarget += by
		}
	case PhaseDraining:
		c.draining += by
		if v.Cordoned {
			c.cordoned += by
		}
	case PhaseJoining:
		c.joining += by
	case PhaseNotReady:
		c.notReady += by
	}
}

func (c *counters) fill(s *Snapshot) {
	s.Total, s.ReadyTarget, s.Draining = c.total, c.readyTarget, c.draining
	s.Joining, s.NotReady, s.OffTarget, s.Cordoned = c.joining, c.notReady, c.offTarget, c.cordoned
}

// views keeps the views of the group's nodes sorted by name, so that a Snapshot
// is one copy. Changes are noted and carried in when a caller looks: a few one
// by one, many by building the slice again.
type views struct {
	sorted  []NodeView
	pending []*nodeRec
	rebuild bool
}

// pendingMax bounds the notes: beyond it, rebuilding is cheaper, and a
// reader that never looks costs nothing.
const pendingMax = 32

func (v *views) touch(rec *nodeRec) {
	if v.rebuild {
		return
	}
	if len(v.pending) == pendingMax {
		v.rebuild = true
		v.pending = v.pending[:0]
		return
	}
	v.pending = append(v.pending, rec)
}

func byName(v NodeView, name string) int { return strings.Compare(v.Name, name) }

// flush makes sorted true. A record may have been noted several times, or be of
// a node that is gone; records are looked up again by name, since a forgotten
// one may have had a successor.
func (v *views) flush(nodes map[string]*nodeRec) {
	if v.rebuild {
		v.sorted = v.sorted[:0]
		for _, rec := range nodes {
			if rec.present {
				v.sorted = append(v.sorted, rec.view)
			}
		}
		slices.SortFunc(v.sorted, func(a, b NodeView) int { return strings.Compare(a.Name, b.Name) })
		v.rebuild = false
		return
	}
	for i, rec := range v.pending {
		v.pending[i] = nil
		at, found := slices.BinarySearchFunc(v.sorted, rec.name, byName)
		switch now := nodes[rec.name]; {
		case now != nil && now.present && found:
			v.sorted[at] = now.view
		case now != nil && now.present:
			v.sorted = slices.Insert(v.sorted, at, now.view)
		case found:
			v.sorted = slices.Delete(v.sorted, at, at+1)
		}
	}
	v.pending = v.pending[:0]
}

// Snapshot returns the group as it is; now only decides which Warnings are
// still recent. The slices belong to the caller.
func (s *State) Snapshot(now time.Time) Snapshot {
	var out Snapshot
	s.views.flush(s.nodes)
	out.Nodes = append(make([]NodeView, 0, len(s.views.sorted)), s.views.sorted...)
	s.count.fill(&out)
	for i := range out.Nodes {
		if v := &out.Nodes[i]; v.Phase == PhaseDraining {
			v.HeldBy = s.nodes[v.Name].heldBy()
		}
	}
	if s.podsError != "" && s.count.draining > 0 {
		out.PodsError = s.podsError
	}
	out.BudgetsError = s.podIndex.budgetsError()
	out.Warnings = slices.Clone(s.warnings(now))
	if s.roll != nil {
		s.roll.snapshot(&out)
	} else {
		out.Machines = s.machineViews()
	}
	return out
}
