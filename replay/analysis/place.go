package analysis

// place is a node's name with the pods that are there, whether the tape shows the node or not.
type place struct {
	name      string
	node      *node
	left      bool // its node is gone, rather than never seen
	pods      []*pod
	evictable int // of them
}

// place finds a place by the node's name.
func (s *reading) place(name string) *place {
	pl := s.places[name]
	if pl == nil {
		pl = &place{name: name}
		s.places[name] = pl
	}
	return pl
}

// forget drops a place that nothing is at.
func (s *reading) forget(pl *place) {
	if pl.node == nil && len(pl.pods) == 0 {
		delete(s.places, pl.name)
	}
}

// settlePod counts a pod in or out of its place, and lets its drain wait for it.
func (s *reading) settlePod(p *pod) {
	pl := p.place
	if counts := p.evictable(); counts != p.counts {
		p.counts = counts
		if counts {
			pl.evictable++
		} else {
			pl.evictable--
			p.left = s.now
		}
	}
	n := pl.node
	if n == nil {
		s.hold(p, false)
		return
	}
	n.cover(p)
	s.hold(p, n.drains() && p.counts && !p.deleting)
	n.settle(s)
}
