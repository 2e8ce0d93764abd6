package analysis

import (
	"slices"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// node is the life of a node while the tape is read.
type node struct {
	Node
	place    *place
	is       noderoll.Node // as the tape's last line has it
	initial  bool
	scope    bool // the options choose it, or did once
	wasReady bool
	evidence bool // somebody drains it, as the feed tells
	peak     int  // evictable pods since it was cordoned

	phase    Phase
	since    Moment
	appeared Moment
	notReady []Wait // times in which it wasn't Ready, after it was
	silent   Moment // since when it isn't

	drained []*pod // that a drain had to move, since the cordon
	covered map[*pod]bool
	blocked *blockade // of a node that is only cordoned
	ended   []*blockade

	attached     bool // volumes are attached to it
	detached     Moment
	machine      *machine
	joinReason   string // of its condition Ready while it joins
	joinMessage  string
	lost         []*pod // evictable pods that were there when it went
	terminatedAt Moment
}

// node takes a node's event.
func (s *reading) node(ev *timeline.Event, initial bool) error {
	n := s.nodes[ev.Name]
	if n != nil && n.UID != "" && ev.UID != "" && n.UID != ev.UID {
		s.nodeGone(n)
		n = nil
	}
	if ev.Type == timeline.Deleted {
		if n != nil {
			s.nodeGone(n)
		}
		return nil
	}
	if n != nil && n.wasReady && !n.silent.is() && s.finder.Quiet() {
		return nil
	}
	raw, whole := []byte(ev.Object), true
	if n != nil && ev.Patch != nil {
		raw, whole = ev.Patch, false
	}
	if raw == nil {
		return nil
	}
	if n == nil {
		n = &node{Node: Node{Name: ev.Name, UID: ev.UID, Waits: []Wait{}}, initial: initial, appeared: s.now, since: s.now}
		n.is.Name, n.is.UID = ev.Name, ev.UID
		if !initial {
			n.Joined = moment(s.now)
		}
		s.nodes[ev.Name] = n
		s.allNodes = append(s.allNodes, n)
		n.place = s.place(ev.Name)
		n.place.node = n
		if m := s.named[ev.Name]; m != nil {
			s.claim(m)
		}
	}
	s.tellNode(n, raw, whole)
	return nil
}

func moment(m Moment) *Moment { return &m }

// tellNode takes over what a text says of a node.
func (s *reading) tellNode(n *node, raw []byte, whole bool) {
	d := &s.decoders
	o := &d.node
	*o = corev1.Node{Spec: corev1.NodeSpec{Taints: o.Spec.Taints[:0]}, Status: corev1.NodeStatus{Conditions: o.Status.Conditions[:0]}}
	d.Brief = true
	told := d.Decoder.Node(o, raw)
	if whole {
		told = ^kubejson.Fields(0)
	}
	is := &n.is
	if told.Has(kubejson.Labels) {
		if whole {
			is.Labels = d.Words.Texts(d.Labels)
		} else {
			is.Labels = d.Merge(is.Labels, d.Labels)
		}
	}
	if told.Has(kubejson.Annotations) {
		if whole {
			is.Annotations = d.Words.Texts(d.Annotations)
		} else {
			is.Annotations = d.Merge(is.Annotations, d.Annotations)
		}
	}
	if told.Has(kubejson.Unschedulable) {
		is.Unschedulable = o.Spec.Unschedulable
	}
	if told.Has(kubejson.Taints) {
		is.TaintKeys = is.TaintKeys[:0]
		for i := range o.Spec.Taints {
			is.TaintKeys = append(is.TaintKeys, o.Spec.Taints[i].Key)
		}
	}
	if told.Has(kubejson.KubeletVersion) {
		is.KubeletVersion = o.Status.NodeInfo.KubeletVersion
	}
	if told.Has(kubejson.OSImage) {
		is.OSImage = o.Status.NodeInfo.OSImage
	}
	if told.Has(kubejson.Labels) || told.Has(kubejson.Annotations) || told.Has(kubejson.KubeletVersion) || told.Has(kubejson.OSImage) {
		s.name(n)
	}
	if told.Has(kubejson.Conditions) {
		is.Ready = ""
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			is.SetCondition(string(c.Type), string(c.Status), c.Reason, c.Message)
		}
	}
	if attached := rawjson.Get(raw, "status", "volumesAttached"); attached != nil || whole {
		now := len(attached) > len("[]")
		if n.attached && !now {
			n.detached = s.now
		}
		n.attached = now
	}
	s.nodeChanged(n)
}

// name reads of what group a node is, and what it runs.
func (s *reading) name(n *node) {
	p := s.o.Provider
	if p.IsAuto() {
		p = noderoll.Detect(&n.is)
	}
	n.Group = s.finder.Group(n.Name)
	n.Image = p.Image(&n.is).String()
	n.Zone, n.InstanceType = n.is.Labels[corev1.LabelTopologyZone], n.is.Labels[corev1.LabelInstanceTypeStable]
	if !n.scope {
		n.scope = (s.o.Pool == "" || p.Pool(&n.is) == s.o.Pool) && (s.o.Selector == nil || s.o.Selector.Matches(labels.Set(n.is.Labels)))
	}
}

// nodeChanged brings up to date what follows from a node's state.
func (s *reading) nodeChanged(n *node) {
	ready := n.is.Ready == string(corev1.ConditionTrue)
	switch {
	case ready && !n.wasReady:
		n.wasReady = true
		if !n.initial || n.appeared != s.now {
			n.Ready = moment(s.now)
		}
	case !ready && !n.wasReady && n.is.ReadyReason != "":
		n.joinReason, n.joinMessage = n.is.ReadyReason, n.is.ReadyMessage
	}
	switch going := noderoll.Classify(&n.is, true, s.o.RemovalTaints) == noderoll.PhaseDraining; {
	case ready && n.silent.is():
		n.endSilence(s.now, false)
	case !ready && n.wasReady && !n.silent.is() && !going:
		n.silent = s.now
		n.notReady = append(n.notReady, Wait{Kind: WaitNodeReady, Phase: PhaseNotReady, From: s.now, Object: "Node/" + n.Name, Reason: n.is.ReadyReason, Message: n.is.ReadyMessage})
	}
	n.settle(s)
}

func (n *node) endSilence(now Moment, unfinished bool) {
	last := &n.notReady[len(n.notReady)-1]
	last.To, last.Duration, last.Unfinished = now, now.At-last.From.At, unfinished
	n.silent = Moment{}
}

// drains reports whether the node is cordoned, or more, and somebody drains it.
func (n *node) drains() bool { return n.evidence && n.going() }

func (n *node) going() bool {
	return n.phase == PhaseCordoned || n.phase == PhaseDraining || n.phase == PhaseTerminating
}

// settle finds the phase that the node is in.
func (n *node) settle(s *reading) {
	phase := n.classify(s)
	was := n.going()
	if phase != n.phase {
		n.turn(s, phase)
	}
	switch goes := n.going(); {
	case goes && !was:
		n.Cordoned = nil
		if !n.initial || n.appeared != s.now {
			n.Cordoned = moment(s.now)
		}
		n.peak, n.drained, n.covered = 0, nil, nil
		for _, p := range n.place.pods {
			n.cover(p)
		}
	case was && !goes: // it was uncordoned
		n.evidence, n.DrainBegan, n.Drained, n.Cordoned = false, nil, nil, nil
		n.unblock(s)
		for _, p := range n.place.pods {
			s.hold(p, false)
			p.workload.Refused += p.held.refused
			p.held = held{} // another drain asks anew
		}
	}
	if n.going() {
		n.peak = max(n.peak, n.place.evictable)
	}
}

func (n *node) classify(s *reading) Phase {
	switch noderoll.Classify(&n.is, n.wasReady, s.o.RemovalTaints) {
	case noderoll.PhaseReady:
		return PhaseServing
	case noderoll.PhaseNotReady:
		return PhaseNotReady
	case noderoll.PhaseJoining:
		return PhaseJoining
	}
	switch {
	case !n.evidence:
		return PhaseCordoned
	case n.place.evictable > 0:
		n.Drained = nil
		return PhaseDraining
	}
	if n.Drained == nil && (!n.initial || n.DrainBegan != nil || n.peak > 0) { // else it was so before the tape
		n.Drained = moment(s.now)
	}
	return PhaseTerminating
}

// turn ends a phase and begins another one.
func (n *node) turn(s *reading, phase Phase) {
	n.span(s)
	n.phase, n.since = phase, s.now
}

// span notes the phase that ends. One that took no time is left out.
func (n *node) span(s *reading) {
	switch last := len(n.Spans) - 1; {
	case !s.o.Series || n.phase == "":
	case n.since.At < s.now.At:
		n.Spans = append(n.Spans, Span{n.phase, n.since, s.now})
	case last >= 0:
		n.Spans[last].To = s.now
	}
}

// cover notes the pods that a drain has to move.
func (n *node) cover(p *pod) {
	if !n.going() || !p.counts || n.covered[p] {
		return
	}
	if n.covered == nil {
		n.covered = map[*pod]bool{}
	}
	n.covered[p] = true
	n.drained = append(n.drained, p)
}

// nodeGone ends a node.
func (s *reading) nodeGone(n *node) {
	n.terminatedAt = s.now
	n.Terminated = moment(s.now)
	n.close(s, false)
	for _, p := range n.place.pods {
		if p.counts && !s.inGap() {
			n.lost = append(n.lost, p)
		}
		s.hold(p, false)
	}
	n.place.node, n.place.left = nil, true
	s.forget(n.place)
	delete(s.nodes, n.Name)
}

// close ends what a node's end, or the tape's, cuts off.
func (n *node) close(s *reading, unfinished bool) {
	if n.silent.is() {
		n.endSilence(s.now, unfinished)
	}
	n.unblock(s)
	n.span(s)
	n.PodsToEvict = n.peak
	n.covered = nil
}

// entry takes an entry of the feed: what it infers of drains.
func (s *reading) entry(e noderoll.Entry) {
	n := s.nodes[e.Node]
	if n == nil {
		return
	}
	switch e.Kind {
	case noderoll.EvtDraining:
		s.drain(n, s.now)
	case noderoll.EvtBlocked:
		if !n.evidence {
			n.block(s, e)
		}
	case noderoll.EvtUnblocked:
		n.unblock(s)
	}
}

// drain notes the first evidence that somebody drains a node.
func (s *reading) drain(n *node, at Moment) {
	if n.evidence || !n.going() {
		return
	}
	n.evidence = true
	if at.is() {
		n.DrainBegan = &at
		if n.Cordoned == nil && !(n.initial && n.phase == PhaseCordoned && n.since == n.appeared) {
			n.Cordoned = &at
		}
	}
	n.unblock(s)
	for _, p := range slices.Clone(n.place.pods) {
		s.hold(p, p.counts && !p.deleting)
	}
	n.settle(s)
}

// takeStock looks for nodes whose drain had begun before the tape.
func (s *reading) takeStock() {
	for _, n := range s.allNodes {
		if !n.initial || n.phase != PhaseCordoned || n.evidence {
			continue
		}
		mark := n.is.Deleting
		for _, p := range n.place.pods {
			mark = mark || p.counts && p.deleting && p.disruption == "EvictionByEvictionAPI"
		}
		if mark {
			s.drain(n, Moment{})
		}
	}
}
