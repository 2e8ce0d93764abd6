package kube

import "fmt"

// A client of a simulated cluster writes whole objects. The tape has them already when they come to the Store, which
// makes no event of them: it takes a version, has its own view of the object changed, and tells those who watch. What
// actors write after that is a patch, so that fields which the Store doesn't know stay as the client wrote them.

// PatchesOnly has every change written as a patch. A tape of a simulation repeats the whole object from time to time,
// which would take away what the Store doesn't know of it.
func (s *Store) PatchesOnly() { s.patches = true }

// After has versions be higher than one that is given: those of the objects that are there already.
func (s *Store) After(version uint64) { s.rv = max(s.rv, version) }

// NextVersion takes a version for an object that the Store doesn't hold.
func (s *Store) NextVersion() uint64 { return s.version() }

// put has f write without an event.
func (s *Store) put(f func()) {
	was := s.silent
	s.silent = true
	f()
	s.silent = was
}

// PutNode adds or changes a node as a client did: change sets everything that a
// client can write, name and UID included. It returns the version.
func (s *Store) PutNode(name string, change func(*Node)) uint64 {
	n := s.Node(name)
	if n == nil {
		n = &Node{}
		change(n)
		n.rv = s.version()
		s.nodes.put(key{name: n.Name}, n)
		s.tellNodes(Added, nil, n)
		return n.rv
	}
	old := keep(s, &s.scratch.node, n)
	change(n)
	n.rv = s.version()
	s.tellNodes(Modified, old, n)
	return n.rv
}

// PutPod adds or changes a pod as a client did; see [Store.PutNode].
func (s *Store) PutPod(namespace, name string, change func(*Pod)) uint64 {
	p := s.Pod(namespace, name)
	if p == nil {
		p = &Pod{}
		change(p)
		p.rv = s.version()
		s.enter(p)
		s.tellPods(Added, nil, p)
		return p.rv
	}
	old := keep(s, &s.scratch.pod, p)
	change(p)
	p.rv = s.version()
	s.move(old, p)
	s.tellPods(Modified, old, p)
	return p.rv
}

// PutBudget adds or changes a budget as a client did; see [Store.PutNode].
func (s *Store) PutBudget(namespace, name string, change func(*Budget)) uint64 {
	b := s.Budget(namespace, name)
	if b == nil {
		b = &Budget{}
		change(b)
		b.rv = s.version()
		s.enterBudget(key{b.Namespace, b.Name}, b)
		s.tellBudgets(Added, nil, b)
		return b.rv
	}
	old := *b
	change(b)
	b.rv = s.version()
	s.budgetsIn[b.Namespace].byLabel = nil
	s.tellBudgets(Modified, &old, b)
	return b.rv
}

// PutCustom adds or changes one of the provider's objects as a client did; see [Store.PutNode].
func (s *Store) PutCustom(resource, namespace, name string, change func(*Custom)) uint64 {
	c := s.Custom(resource, namespace, name)
	if c == nil {
		c = &Custom{}
		change(c)
		c.rv = s.version()
		t := s.customs[resource]
		if t == nil {
			t = &table[Custom]{}
			s.customs[resource] = t
		}
		t.put(key{c.Namespace, c.Name}, c)
		s.tellCustoms(Added, nil, c)
		return c.rv
	}
	old := *c
	change(c)
	c.rv = s.version()
	s.tellCustoms(Modified, &old, c)
	return c.rv
}

// PutAway removes an object of a resource that the Store holds, as a client did. It returns the version.
func (s *Store) PutAway(resource, namespace, name string) (version uint64, err error) {
	err = fmt.Errorf("%s %q not found", resource, name)
	s.put(func() {
		switch resource {
		case "nodes":
			if n := s.Node(name); n != nil {
				s.dropNode(n)
				err = nil
			}
		case "pods":
			if p := s.Pod(namespace, name); p != nil {
				s.dropPod(p)
				err = nil
			}
		case "poddisruptionbudgets":
			if b := s.Budget(namespace, name); b != nil {
				s.DeleteBudget(b)
				err = nil
			}
		default:
			if c := s.Custom(resource, namespace, name); c != nil {
				s.dropCustom(c)
				err = nil
			}
		}
	})
	return s.rv, err
}

// AmendPod writes a patch of what the Store has no field for; change does the same to what it has.
func (s *Store) AmendPod(p *Pod, patch []byte, change func(*Pod)) {
	if p.gone {
		return
	}
	old := keep(s, &s.scratch.pod, p)
	change(p)
	p.rv = s.version()
	s.move(old, p)
	s.emit("pods", &Write{Change: Modified, Meta: &p.Meta, Object: p, Old: old}, patch, nil)
	s.tellPods(Modified, old, p)
}

// Collect removes an object that is to go and that nothing holds any more, as the API server does with a write. A
// client's write leaves that to its author.
func (s *Store) Collect(resource, namespace, name string) {
	switch resource {
	case "nodes":
		if n := s.Node(name); n != nil && n.Terminating() && len(n.Finalizers) == 0 {
			s.dropNode(n)
		}
	case "pods":
		if p := s.Pod(namespace, name); p != nil && p.Terminating() && p.Grace == 0 && len(p.Finalizers) == 0 {
			s.dropPod(p)
		}
	default:
		if c := s.Custom(resource, namespace, name); c != nil && c.Terminating() && len(c.Finalizers) == 0 {
			s.dropCustom(c)
		}
	}
}
