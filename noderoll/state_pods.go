package noderoll

import "maps"

// podIndex holds the pods, and finds out which of them budgets hold back.
//
// Pods of a namespace with equal labels and readiness are a podClass; budgets
// are matched with classes, not with pods, and a budget whose status changes
// asks only the classes that it covers. 150,000 pods of 3,000 Deployments are
// 3,000 to 6,000 classes.
type podIndex struct {
	pods   map[podKey]*podRec
	spaces map[string]*space
	// unfollowed are the namespaces whose budgets don't count, see SetBudget.
	unfollowed map[string]bool
	scratch    []byte
	keys       []string
}

type podKey struct{ namespace, name string }

type podRec struct {
	uid       uint64 // see identity
	class     *podClass
	node      *nodeRec // nil while pending
	slot      int32    // place in node.pods
	evictable bool
	// waits says that a drain has still to evict the pod: it is evictable and
	// not on its way out already.
	waits   bool
	evicted bool // on its way out by an eviction
	deleted bool // on its way out, and nothing says why
}

// identity shortens a UID to a number (FNV-1a), 0 for none: with 150,000 pods
// the strings would be a third of the memory, and work for the collector.
func identity(uid string) uint64 {
	if uid == "" {
		return 0
	}
	h := uint64(14695981039346656037)
	for i := 0; i < len(uid); i++ {
		h = (h ^ uint64(uid[i])) * 1099511628211
	}
	return max(h, 1)
}

// isAnother reports whether uid is that of another pod of this name.
func (p *podRec) isAnother(uid string) bool {
	return uid != "" && p.uid != 0 && identity(uid) != p.uid
}

func newPodIndex() podIndex {
	return podIndex{pods: make(map[podKey]*podRec), spaces: make(map[string]*space)}
}

// SetPod adds a pod or replaces what was known of it.
func (s *State) SetPod(p Pod) { s.setPod(&p) }

func (s *State) setPod(p *Pod) {
	b := &s.podIndex
	key := podKey{p.Namespace, p.Name}
	rec := b.pods[key]
	if rec != nil && (rec.isAnother(p.UID) || rec.node != nil && rec.node.name != p.Node) {
		s.removePod(key, rec)
		rec = nil
	}
	evictable := p.Evictable()
	waits := evictable && !p.Deleting
	evicted := p.evicted()
	// A plain deletion that begins now. One that began before the cordon is no drain.
	deleted := rec != nil && rec.waits && evictable && p.Deleting && p.Disruption == ""
	pending := p.Phase == "Pending"
	if rec != nil && rec.evictable == evictable && rec.waits == waits && rec.evicted == evicted && (rec.node != nil || p.Node == "") &&
		rec.class.ready == p.Ready && rec.class.pending == pending && maps.Equal(rec.class.labels, p.Labels) {
		return
	}
	var node *nodeRec
	if p.Node != "" {
		if node = s.nodes[p.Node]; node == nil {
			node = &nodeRec{name: p.Node, view: NodeView{Name: p.Node}}
			s.nodes[p.Node] = node
		}
	}
	var denial *Denial
	if rec != nil && waits {
		denial = rec.denial()
	}
	class := s.classFor(p, pending)
	class.pods++ // held, lest it be dropped as empty when its only pod moves within it
	if rec == nil {
		rec = &podRec{}
		b.pods[key] = rec
	} else {
		if rec.evictable && !evictable {
			s.noteLeft(key, rec)
		}
		b.detach(rec)
	}
	if p.UID != "" {
		rec.uid = identity(p.UID)
	}
	rec.class, rec.node, rec.evictable, rec.waits, rec.evicted = class, node, evictable, waits, evicted
	rec.deleted = evictable && p.Deleting && p.Disruption == ""
	b.attach(rec)
	if denial != nil && node != nil {
		node.deny(rec, *denial)
	}
	class.pods--
	if node != nil {
		if evicted || deleted {
			s.drains(node)
		}
		s.podsChanged(node)
	}
}

// Follows reports whether the roll is one of pods and this pod an instance, so
// that SetInstance wants to know more of it than SetPod.
func (s *State) Follows(p Pod) bool { return s.roll.follows(&p) }

// SetInstance is SetPod for a pod that the roll may be about. Without PodScope, or
// of a pod outside of it, there is no difference.
func (s *State) SetInstance(i Instance) { s.setInstance(&i) }

func (s *State) setInstance(i *Instance) {
	s.setPod(&i.Pod)
	if s.roll != nil {
		s.roll.set(i)
	}
}

// CapturePods says that all pods were given once: what they are to run is the old
// configuration from now on, unless an update of some is under way.
func (s *State) CapturePods() {
	if s.roll != nil {
		s.roll.capture()
	}
}

// DeletePod removes a pod. A uid that is neither empty nor that of the pod is
// of a former one and changes nothing.
func (s *State) DeletePod(namespace, name, uid string) {
	key := podKey{namespace, name}
	if s.roll != nil {
		s.roll.remove(key, uid)
	}
	rec := s.podIndex.pods[key]
	if rec == nil || rec.isAnother(uid) {
		return
	}
	s.removePod(key, rec)
}

func (s *State) removePod(key podKey, rec *podRec) {
	if rec.evictable {
		s.noteLeft(key, rec)
	}
	s.podIndex.detach(rec)
	delete(s.podIndex.pods, key)
	if rec.node != nil {
		if rec.waits { // deleted at once
			s.drains(rec.node)
		}
		s.podsChanged(rec.node)
		s.forget(rec.node)
	}
}

// attach enters a pod in the books of its class and node.
func (b *podIndex) attach(rec *podRec) {
	rec.class.pods++
	n := rec.node
	if n == nil {
		return
	}
	rec.slot = int32(len(n.pods))
	n.pods = append(n.pods, rec)
	if rec.evictable {
		n.evictable++
	}
	if rec.evicted {
		n.evicted++
	}
	if n.view.Phase == PhaseDraining {
		rec.joinDrain(1)
	}
}

// detach is the reverse of attach.
func (b *podIndex) detach(rec *podRec) {
	if n := rec.node; n != nil {
		if n.view.Phase == PhaseDraining {
			rec.joinDrain(-1)
		}
		if rec.evictable {
			n.evictable--
		}
		if rec.evicted {
			n.evicted--
		}
		last := len(n.pods) - 1
		n.pods[rec.slot] = n.pods[last]
		n.pods[rec.slot].slot = rec.slot
		n.pods[last] = nil
		n.pods = n.pods[:last]
		delete(n.denials, rec)
	}
	c := rec.class
	if c.pods--; c.pods > 0 {
		return
	}
	sp := b.spaces[c.namespace]
	delete(sp.classes, c.key)
	sp.labelled.Remove(c, c.labels)
	for budget := range c.budgets {
		delete(budget.classes, c)
	}
	b.dropSpace(c.namespace)
}

// joinDrain counts a waiting pod in (1) or out (-1) of its node's drain.
func (p *podRec) joinDrain(by int) {
	if !p.waits {
		return
	}
	n, c := p.node, p.class
	n.remaining += by
	if c.refusedNow() {
		n.refused += by
	}
	if c.sole != nil {
		c.sole.under(c.ready).wait(n, by)
	}
	if c.draining == nil {
		c.draining = make(map[*nodeRec]int)
	}
	if c.draining[n] += by; c.draining[n] == 0 {
		delete(c.draining, n)
	}
}

func (b *podIndex) enterDrain(n *nodeRec) {
	for _, p := range n.pods {
		p.joinDrain(1)
	}
}

func (b *podIndex) leaveDrain(n *nodeRec) {
	n.denials = nil
	for _, p := range n.pods {
		p.joinDrain(-1)
	}
}
