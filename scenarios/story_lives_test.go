package scenarios_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// never is the time of what doesn't happen on a tape.
const never = time.Duration(-1)

// atRest is the position of what the tape begins with.
const atRest = time.Duration(0)

// A nodeLife is one Node, by its uid.
type nodeLife struct {
	name, uid, zone, image, group, version, os string

	joined   time.Duration // on the tape; atRest for those that it begins with
	online   time.Duration // Ready for the first time
	cordoned time.Duration // spec.unschedulable for the first time
	deleting time.Duration // deletionTimestamp
	gone     time.Duration
	steps    []nodeStep // one for each state that differs from the one before
}

// A nodeStep is what a node looks like from a moment on.
type nodeStep struct {
	at       time.Duration
	ready    string // True, False, Unknown
	reason   string // of the Ready condition
	message  string // of the Ready condition
	cordoned bool
	memory   string // status of MemoryPressure
	taints   string // "key:effect", in their order
	excluded string // the label that takes it out of load balancers
	boot     string
}

func (n *nodeLife) old() bool { return n.joined == atRest }

// has reports whether the node carries a taint at a step, as "key:Effect".
func (s nodeStep) has(taint string) bool { return slices.Contains(strings.Fields(s.taints), taint) }

// when returns the moment of the first step from a moment on that is as asked.
func (n *nodeLife) when(from time.Duration, is func(nodeStep) bool) time.Duration {
	for _, s := range n.steps {
		if s.at >= from && is(s) {
			return s.at
		}
	}
	return never
}

// at returns the node's state at a moment.
func (n *nodeLife) at(at time.Duration) nodeStep {
	last := n.steps[0]
	for _, s := range n.steps {
		if s.at <= at {
			last = s
		}
	}
	return last
}

// A podLife is one Pod, by its uid.
type podLife struct {
	workload, namespace, name, uid, node string

	created time.Duration // atRest for those that the tape begins with
	bound   time.Duration
	ready   time.Duration // for the first time
	leaving time.Duration // deletionTimestamp is set
	gone    time.Duration
	grace   int64  // deletionGracePeriodSeconds, as first set
	target  string // the reason of its DisruptionTarget condition
	aimed   time.Duration
	steps   []podStep
}

// A podStep is what a pod looks like from a moment on.
type podStep struct {
	at        time.Duration
	phase     string
	reason    string // status.reason
	ready     bool
	waiting   string // the first reason that a container waits for
	restarts  int
	leaving   bool
	finalizer bool
}

func (p *podLife) old() bool { return p.created == atRest }

func (p *podLife) when(from time.Duration, is func(podStep) bool) time.Duration {
	for _, s := range p.steps {
		if s.at >= from && is(s) {
			return s.at
		}
	}
	return never
}

// last returns how the pod was when it was seen last.
func (p *podLife) last() podStep { return p.steps[len(p.steps)-1] }

// An eventLife is one Event object, with the moments at which it was written.
type eventLife struct {
	kind, namespace, object        string // of the involved object
	typ, reason, message, reporter string
	times                          []time.Duration
	count                          int
}

func (e *eventLife) first() time.Duration { return e.times[0] }

// A budgetLife is one PodDisruptionBudget.
type budgetLife struct {
	name  string
	steps []budgetStep
}

type budgetStep struct {
	at                                  time.Duration
	allowed, healthy, desired, expected int
}

type tapeMeta struct {
	Labels            map[string]string
	Finalizers        []string
	DeletionTimestamp string
	Grace             int64 `json:"deletionGracePeriodSeconds"`
	OwnerReferences   []struct{ Kind, Name string }
}

type tapeCondition struct{ Type, Status, Reason, Message string }

type tapeNode struct {
	Metadata tapeMeta
	Spec     struct {
		Unschedulable bool
		Taints        []struct{ Key, Effect string }
	}
	Status struct {
		Conditions []tapeCondition
		NodeInfo   struct{ BootID, KubeletVersion, OSImage string }
	}
}

type tapePod struct {
	Metadata tapeMeta
	Spec     struct{ NodeName string }
	Status   struct {
		Phase, Reason     string
		Conditions        []tapeCondition
		ContainerStatuses []struct {
			RestartCount int
			State        struct{ Waiting struct{ Reason string } }
		}
	}
}

type tapeEvent struct {
	InvolvedObject                            struct{ Kind, Namespace, Name string }
	Type, Reason, Message, ReportingComponent string
	Source                                    struct{ Component string }
	Count                                     int
	Series                                    struct{ Count int }
}

type tapeBudget struct {
	Status struct{ DisruptionsAllowed, CurrentHealthy, DesiredHealthy, ExpectedPods int }
}

// note notes what one line of the tape tells.
func (s *story) note(ev timeline.Event) error {
	if ev.Type == timeline.Mark {
		s.marks = append(s.marks, ev)
	}
	if ev.Object == nil {
		return nil
	}
	switch strings.SplitN(ev.Resource, ".", 2)[0] {
	case "nodes":
		return s.noteNode(ev)
	case "pods":
		return s.notePod(ev)
	case "events":
		return s.noteEvent(ev)
	case "poddisruptionbudgets":
		return s.noteBudget(ev)
	}
	return nil
}

func (s *story) noteNode(ev timeline.Event) error {
	n, _ := s.byUID[ev.UID].(*nodeLife)
	if ev.Type == timeline.Deleted {
		n.gone = ev.At
		return nil
	}
	var o tapeNode
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		return err
	}
	if n == nil {
		n = &nodeLife{name: ev.Name, uid: ev.UID, joined: ev.At, online: never, cordoned: never, deleting: never, gone: never}
		s.byUID[ev.UID] = n
		s.nodes = append(s.nodes, n)
	}
	labels := o.Metadata.Labels
	n.zone, n.image, n.group = labels["topology.kubernetes.io/zone"], labels["eks.amazonaws.com/nodegroup-image"], labels["eks.amazonaws.com/nodegroup"]
	n.version, n.os = o.Status.NodeInfo.KubeletVersion, o.Status.NodeInfo.OSImage
	step := nodeStep{at: ev.At, cordoned: o.Spec.Unschedulable, boot: o.Status.NodeInfo.BootID, excluded: labels["node.kubernetes.io/exclude-from-external-load-balancers"]}
	for _, c := range o.Status.Conditions {
		switch c.Type {
		case "Ready":
			step.ready, step.reason, step.message = c.Status, c.Reason, c.Message
		case "MemoryPressure":
			step.memory = c.Status
		}
	}
	var taints []string
	for _, t := range o.Spec.Taints {
		taints = append(taints, t.Key+":"+t.Effect)
	}
	step.taints = strings.Join(taints, " ")
	noteOnce(&n.online, ev.At, step.ready == "True")
	noteOnce(&n.cordoned, ev.At, step.cordoned)
	noteOnce(&n.deleting, ev.At, o.Metadata.DeletionTimestamp != "")
	n.steps = append(n.steps, step)
	return nil
}

func noteOnce(at *time.Duration, now time.Duration, is bool) {
	if is && *at == never {
		*at = now
	}
}

func (s *story) notePod(ev timeline.Event) error {
	p, _ := s.byUID[ev.UID].(*podLife)
	if ev.Type == timeline.Deleted {
		p.gone = ev.At
		return nil
	}
	var o tapePod
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		return err
	}
	if p == nil {
		p = &podLife{namespace: ev.Namespace, name: ev.Name, uid: ev.UID, created: ev.At, bound: never, ready: never, leaving: never, gone: never, aimed: never}
		for _, r := range o.Metadata.OwnerReferences {
			p.workload = r.Name
			if dash := strings.LastIndexByte(r.Name, '-'); r.Kind == "ReplicaSet" && dash > 0 {
				p.workload = r.Name[:dash]
			}
		}
		s.byUID[ev.UID] = p
		s.pods = append(s.pods, p)
	}
	step := podStep{at: ev.At, phase: o.Status.Phase, reason: o.Status.Reason, leaving: o.Metadata.DeletionTimestamp != "", finalizer: len(o.Metadata.Finalizers) > 0}
	for _, c := range o.Status.Conditions {
		switch {
		case c.Type == "Ready":
			step.ready = c.Status == "True"
		case c.Type == "DisruptionTarget" && c.Status == "True":
			p.target = c.Reason
			noteOnce(&p.aimed, ev.At, true)
		}
	}
	for _, c := range o.Status.ContainerStatuses {
		step.restarts += c.RestartCount
		if step.waiting == "" {
			step.waiting = c.State.Waiting.Reason
		}
	}
	if o.Spec.NodeName != "" {
		p.node = o.Spec.NodeName
		noteOnce(&p.bound, ev.At, true)
	}
	noteOnce(&p.ready, ev.At, step.ready)
	if step.leaving && p.leaving == never {
		p.leaving, p.grace = ev.At, o.Metadata.Grace
	}
	p.steps = append(p.steps, step)
	return nil
}

func (s *story) noteEvent(ev timeline.Event) error {
	if ev.Type == timeline.Deleted {
		return nil
	}
	e, _ := s.byUID[ev.UID].(*eventLife)
	var o tapeEvent
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		return err
	}
	if e == nil {
		e = &eventLife{}
		s.byUID[ev.UID] = e
		s.events = append(s.events, e)
	}
	e.kind, e.namespace, e.object = o.InvolvedObject.Kind, o.InvolvedObject.Namespace, o.InvolvedObject.Name
	e.typ, e.reason, e.message, e.reporter = o.Type, o.Reason, o.Message, o.Source.Component
	if e.reporter == "" {
		e.reporter = o.ReportingComponent
	}
	e.count = max(1, o.Count, o.Series.Count)
	e.times = append(e.times, ev.At)
	return nil
}

func (s *story) noteBudget(ev timeline.Event) error {
	if ev.Type == timeline.Deleted {
		return nil
	}
	b, _ := s.byUID[ev.UID].(*budgetLife)
	var o tapeBudget
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		return err
	}
	if b == nil {
		b = &budgetLife{name: ev.Name}
		s.byUID[ev.UID] = b
		s.budgets = append(s.budgets, b)
	}
	st := o.Status
	b.steps = append(b.steps, budgetStep{ev.At, st.DisruptionsAllowed, st.CurrentHealthy, st.DesiredHealthy, st.ExpectedPods})
	return nil
}

func (n *nodeLife) String() string { return fmt.Sprintf("node %s", n.name) }
func (p *podLife) String() string  { return fmt.Sprintf("pod %s/%s", p.namespace, p.name) }
