package noderoll

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// WarningWindow is the time a Warning is shown by default.
const WarningWindow = 10 * time.Minute

// StateOptions choose the nodes that belong to the group, and what counts as
// new and as leaving. The zero value takes every node and has no target.
type StateOptions struct {
	// Provider reads pool and image; the zero Provider asks each node.
	Provider Provider
	// Pool is the name of the group; "" takes the nodes of every pool.
	Pool string
	// Selector must match a node's labels as well, if it is set.
	Selector labels.Selector
	// Target says which nodes are new.
	Target Target
	// RemovalTaints are the patterns of Classify; nil means the default.
	RemovalTaints []string
	// WarningWindow is the age up to which Warnings are shown; 0 means the
	// constant of that name.
	WarningWindow time.Duration
	// Pods makes the roll one of pods. Target.Image is then what a container runs,
	// or its resources as Resources.String has them, and without one the target is
	// found whatever Target.Auto says.
	Pods PodScope
}

// State is everything that is known of a group at one moment, fed by single
// changes of slim objects and indexed, so that each change costs what it
// touches and not what there is: pods are found by node, by budget and by the
// labels they share.
//
// Objects may come in any order: pods before their node, budgets before their
// pods. An object that is set again replaces the former one; setting what is
// already known changes nothing, and deleting what isn't known either.
//
// A State is not safe for concurrent use, and keeps nothing of what it is given
// but strings and, once for each set of equal labels, a copy of the map.
type State struct {
	opts     StateOptions
	nodes    map[string]*nodeRec // by name; also names that only pods mention
	pools    map[string]*pool
	views    views
	count    counters
	old      imageCount // of the nodes off target
	young    imageCount // of those on it
	podIndex podIndex
	warns    warningIndex
	target   targetRule
	roll     *podRoll // nil without PodScope

	machines map[machineKey]*machineRec
	drainers map[string]int // those of them that drain, by node
	// scaleDowns are those of them whose node is taken because it isn't needed, by node.
	scaleDowns map[string]int

	found     bool // a node of the group was given
	podsError string
	// changeSet, if set, notes what a Feed has to look at after a change.
	changeSet *changeSet
}

// nodeRec is one node name: the node, if it is in the group, and its pods.
type nodeRec struct {
	name    string
	present bool // a node of the group; else only a name
	pool    *pool
	image   ImageID
	created time.Time

	unnamed  bool // what it was made from isn't known yet
	wasReady bool
	drained  bool // while draining: somebody drains it, see drain.go
	// scalesDown says that it is draining because it isn't needed, see drain.go: by a ScaleDownTaint (surplus), a machine
	// (State.scaleDowns), or one that is gone (unclaimed).
	surplus, unclaimed, scalesDown bool

	evicted   int // its pods that are on their way out by an eviction
	drainPeak int // most evictable pods seen in this drain
	view      NodeView
	pressure  Pressure
	reason    string // of condition Ready
	message   string

	pods      []*podRec
	evictable int
	// Of the pods that a drain has still to evict; kept while draining only.
	remaining int
	refused   int
	// denials are the pods of them whose last eviction request the server refused, where
	// somebody says so: see State.RefuseEviction. Kept while draining only.
	denials map[*podRec]Denial
	noted   bool // in the change set already
	feed    feedNode
}

// NewState returns an empty State. The pods of draining nodes count as unknown
// until SetPodsError("") is called.
func NewState(opts StateOptions) *State {
	if opts.WarningWindow == 0 {
		opts.WarningWindow = WarningWindow
	}
	if opts.RemovalTaints == nil {
		opts.RemovalTaints = defaultRemovalTaints
	}
	s := &State{
		opts:      opts,
		nodes:     make(map[string]*nodeRec),
		pools:     make(map[string]*pool),
		podIndex:  newPodIndex(),
		warns:     newWarningIndex(),
		target:    newTargetRule(opts.Target),
		podsError: "pods have not been listed",
		machines:  make(map[machineKey]*machineRec),
		drainers:  make(map[string]int),

		scaleDowns: make(map[string]int),
	}
	if opts.Pods.On() {
		s.roll = newPodRoll(opts.Pods, opts.Target)
	}
	return s
}

// SetNode adds a node, or replaces what was known of it. A node outside the
// group is ignored, unless it was in the group before, as the same UID: once in
// scope, an object stays there. It reports whether anything visible in a
// Snapshot changed.
func (s *State) SetNode(n Node) bool {
	return s.setNode(&n)
}

func (s *State) setNode(n *Node) bool {
	provider := s.provider(n)
	rec := s.nodes[n.Name]
	same := rec != nil && rec.present && (rec.view.UID == n.UID || rec.view.UID == "" || n.UID == "")
	if !same && !s.inGroup(provider, n) {
		if rec != nil && rec.present {
			s.dropNode(rec)
			return true
		}
		return false
	}
	if rec == nil {
		rec = &nodeRec{name: n.Name}
		s.nodes[n.Name] = rec
	}
	if !same && rec.present {
		s.clearNode(rec) // another node of the same name
	}
	was, existed := rec.view, rec.present

	rec.present, s.found = true, true
	if n.UID != "" {
		rec.view.UID = n.UID
	}
	rec.view.Name = rec.name
	rec.created = n.Created
	rec.reason, rec.message = n.ReadyReason, n.ReadyMessage
	pool := s.poolOf(provider, n)
	image := provider.Image(n)
	if image != rec.image {
		rec.image, rec.view.Image = image, image.String()
	}
	if pool != rec.pool {
		if existed {
			rec.pool.count.add(&was, -1)
			rec.pool.nodes--
			pool.count.add(&was, 1)
			s.notePool(rec.pool)
			if rec.scalesDown {
				rec.pool.scalesDown--
				pool.scalesDown++
			}
		}
		pool.nodes++
		rec.pool = pool
	}
	delete(pool.away, rec.name)
	rec.view.Ready = n.Ready == "True"
	if n.Pressure != rec.pressure {
		rec.pressure, rec.view.Pressure = n.Pressure, n.Pressure.Types()
	}
	phase := Classify(n, rec.wasReady, s.opts.RemovalTaints)
	rec.wasReady = rec.wasReady || rec.view.Ready
	s.setPhase(rec, phase)
	if phase == PhaseDraining && drainMark(n) {
		rec.drained, rec.view.Cordoned = true, false
	}
	rec.surplus = (rec.surplus || !existed || was.Phase != PhaseDraining) && slices.ContainsFunc(n.TaintKeys, ScaleDownTaint)
	s.judgeScaleDown(rec)
	rec.unnamed = unnamed(n)
	rec.view.OnTarget = s.target.onTarget(rec)
	s.recount(rec, &was, existed)
	s.learnImage(rec)
	return !existed || !sameView(&was, &rec.view)
}

// Found reports whether a node of the group was ever given. Where it is false, the
// options name a group that isn't there.
func (s *State) Found() bool { return s.found }

// DeleteNode removes a node. A uid that is neither empty nor that of the node
// is of a former one and changes nothing. It reports whether a node of the
// group went.
func (s *State) DeleteNode(name, uid string) bool {
	rec := s.nodes[name]
	if rec == nil || !rec.present || uid != "" && rec.view.UID != "" && uid != rec.view.UID {
		return false
	}
	s.dropNode(rec)
	return true
}

func (s *State) dropNode(rec *nodeRec) {
	s.clearNode(rec)
	s.forget(rec)
}

// clearNode takes the node out of its record and keeps the pods, which have
// their own life.
func (s *State) clearNode(rec *nodeRec) {
	was := rec.view
	s.setPhase(rec, "")
	s.note(rec)
	s.notePool(rec.pool)
	s.countImage(&was, -1)
	rec.pool.count.add(&was, -1)
	rec.pool.nodes--
	if rec.scalesDown {
		rec.pool.scalesDown--
		rec.pool.feed.shrink(&was)
	} else {
		rec.pool.leave(&was)
	}
	s.views.touch(rec)
	s.warns.dirty = true
	*rec = nodeRec{
		name: rec.name, pods: rec.pods, evictable: rec.evictable,
		evicted: rec.evicted, noted: rec.noted, feed: rec.feed, view: NodeView{Name: rec.name},
	}
}

// forget drops a record that neither a node nor a pod needs.
func (s *State) forget(rec *nodeRec) {
	if !rec.present && len(rec.pods) == 0 {
		delete(s.nodes, rec.name)
	}
}

// setPhase moves a node between phases, and in and out of the books of a drain.
func (s *State) setPhase(rec *nodeRec, phase Phase) {
	drained, drains := rec.view.Phase == PhaseDraining, phase == PhaseDraining
	rec.view.Phase = phase
	switch {
	case drains && !drained:
		s.podIndex.enterDrain(rec)
		rec.drained = rec.evicted > 0 || s.drainers[rec.name] > 0
		rec.view.Cordoned = !rec.drained
	case drained && !drains:
		s.podIndex.leaveDrain(rec)
		rec.drainPeak, rec.drained, rec.view.Cordoned = 0, false, false
	}
	s.countPods(rec)
}

// countPods brings the pod figures of a view up to date.
func (s *State) countPods(rec *nodeRec) {
	v := &rec.view
	if v.Phase != PhaseDraining {
		v.Pods, v.PodsTotal, v.PodsUnknown = 0, 0, false
		return
	}
	rec.drainPeak = max(rec.drainPeak, rec.evictable)
	if s.podsError != "" { // 0/N would say that all are gone
		v.Pods, v.PodsTotal, v.PodsUnknown = 0, 0, true
		return
	}
	v.Pods, v.PodsTotal, v.PodsUnknown = rec.evictable, rec.drainPeak, false
}

// recount carries a changed view into counters, sorted views and change set.
func (s *State) recount(rec *nodeRec, was *NodeView, existed bool) {
	if existed {
		if sameView(was, &rec.view) {
			return
		}
		s.countImage(was, -1)
		rec.pool.count.add(was, -1)
	} else {
		s.warns.dirty = true
	}
	s.countImage(&rec.view, 1)
	rec.pool.count.add(&rec.view, 1)
	s.views.touch(rec)
	s.note(rec)
	s.notePool(rec.pool)
}

// podsChanged brings a node's view up to date after its pods changed.
func (s *State) podsChanged(rec *nodeRec) {
	if rec.view.Phase != PhaseDraining {
		return
	}
	pods, total := rec.view.Pods, rec.view.PodsTotal
	s.countPods(rec)
	if rec.view.Pods != pods || rec.view.PodsTotal != total {
		s.views.touch(rec)
	}
	s.note(rec)
}

// SetPodsError says why the pods of nodes can't be counted; "" says that they
// can. Until then the pods of draining nodes are shown as unknown.
func (s *State) SetPodsError(why string) {
	if s.podsError == why {
		return
	}
	s.podsError = why
	for _, rec := range s.nodes {
		if rec.view.Phase == PhaseDraining {
			s.countPods(rec)
			s.views.touch(rec)
		}
	}
}

// provider of one node; kept by pointer, since it is asked for at each
// heartbeat.
func (s *State) provider(n *Node) *Provider {
	if s.opts.Provider.IsAuto() {
		return detect(n)
	}
	return &s.opts.Provider
}

func (s *State) inGroup(p *Provider, n *Node) bool {
	if s.opts.Selector != nil && !s.opts.Selector.Matches(labels.Set(n.Labels)) {
		return false
	}
	return s.opts.Pool == "" || p.Pool(n) == s.opts.Pool
}

// sameView compares what a Snapshot shows. Pressure slices are shared by set,
// so length and first elements would do; the order is fixed, so the lists of
// two sets of the same length differ somewhere.
func sameView(a, b *NodeView) bool {
	if a.Name != b.Name || a.OnTarget != b.OnTarget || a.Ready != b.Ready || a.Phase != b.Phase ||
		a.Pods != b.Pods || a.PodsTotal != b.PodsTotal || a.UID != b.UID || a.Image != b.Image ||
		a.PodsUnknown != b.PodsUnknown || a.Cordoned != b.Cordoned || len(a.Pressure) != len(b.Pressure) {
		return false
	}
	for i := range a.Pressure {
		if a.Pressure[i] != b.Pressure[i] {
			return false
		}
	}
	return true
}
