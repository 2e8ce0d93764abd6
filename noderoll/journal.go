package noderoll

// journal holds what one change leaves behind for the Feed: the nodes whose view,
// pods or budgets it touched, their pools, and the pods that left a draining node.
type journal struct {
	nodes []*nodeRec
	pools []*pool
	left  []leftPod
	// Of a roll of pods: those whose update it touched, and what there is to tell.
	instances []*instance
	entries   []Entry
}

type leftPod struct {
	pool            *pool
	node            string
	namespace, name string
}

func (s *State) note(rec *nodeRec) {
	if s.journal != nil && !rec.noted {
		rec.noted = true
		s.journal.nodes = append(s.journal.nodes, rec)
	}
}

func (s *State) notePool(p *pool) {
	if s.journal != nil && !p.noted {
		p.noted = true
		s.journal.pools = append(s.journal.pools, p)
	}
}

// noteLeft notes a pod that a drain had to move and that is gone now, or ended.
func (s *State) noteLeft(key podKey, p *podRec) {
	if s.journal != nil && p.node != nil && p.node.view.Phase == PhaseDraining {
		s.journal.left = append(s.journal.left, leftPod{p.node.pool, p.node.name, key.namespace, key.name})
	}
}

func (j *journal) clear() {
	for i, rec := range j.nodes {
		rec.noted = false
		j.nodes[i] = nil
	}
	for i, p := range j.pools {
		p.noted = false
		j.pools[i] = nil
	}
	for i, p := range j.instances {
		p.noted = false
		j.instances[i] = nil
	}
	clear(j.left)
	clear(j.entries)
	j.instances, j.entries = j.instances[:0], j.entries[:0]
	j.nodes, j.pools, j.left = j.nodes[:0], j.pools[:0], j.left[:0]
}
