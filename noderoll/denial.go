package noderoll

import "strings"

// Denial is the server's word that it refused to evict a pod. No object shows it: it
// comes from an audit log.
type Denial struct {
	Namespace string // of the pod
	Name      string // of the pod
	Budget    string // name of the PodDisruptionBudget; "" where the server names none
	Message   string // what the server said
}

// object names the budget as an Entry does.
func (d *Denial) object() string {
	if d.Budget == "" {
		return ""
	}
	return "PodDisruptionBudget/" + d.Namespace + "/" + d.Budget
}

// RefuseEviction notes that the server refused to evict a pod. Somebody drains its node,
// then, if it is cordoned; and the node is held up until the pod is on its way out or a
// budget that had refused it allows it, whatever the budgets seem to say. Of a pod that isn't
// known, or of one on a node that takes pods, it says nothing.
func (s *State) RefuseEviction(d Denial) {
	rec := s.podIndex.pods[podKey{d.Namespace, d.Name}]
	if rec == nil || !rec.waits || rec.node == nil || !rec.node.present || rec.node.view.Phase != PhaseDraining {
		return
	}
	s.drains(rec.node)
	rec.node.deny(rec, d)
	s.note(rec.node)
}

func (n *nodeRec) deny(p *podRec, d Denial) {
	if n.view.Phase != PhaseDraining {
		return
	}
	if n.denials == nil {
		n.denials = make(map[*podRec]Denial)
	}
	n.denials[p] = d
}

// denial is what was said of the pod, nil for nothing.
func (p *podRec) denial() *Denial {
	if p.node == nil {
		return nil
	}
	if d, ok := p.node.denials[p]; ok {
		return &d
	}
	return nil
}

// pardon forgets what was said of pods that no budget refuses any more.
func (n *nodeRec) pardon() {
	for p := range n.denials {
		if !p.class.refusedNow() {
			delete(n.denials, p)
		}
	}
}

// denied is the first denial, by the pod's namespace and name.
func (n *nodeRec) denied() (first Denial, ok bool) {
	for _, d := range n.denials {
		if c := strings.Compare(d.Namespace, first.Namespace); !ok || c < 0 || c == 0 && d.Name < first.Name {
			first, ok = d, true
		}
	}
	return first, ok
}

// heldBy names the budget that holds up the drain of a node; "" where none does.
func (n *nodeRec) heldBy() string {
	if d, ok := n.denied(); ok && d.Budget != "" {
		return d.Namespace + "/" + d.Budget
	}
	if first, _ := n.obstacle(); first != nil {
		return first.Namespace + "/" + first.Name
	}
	return ""
}

// restoreDenials takes over what was said of the pods that still wait.
func (s *State) restoreDenials(rec, old *nodeRec) {
	for p, d := range old.denials {
		if now := s.podIndex.pods[podKey{d.Namespace, d.Name}]; now != nil && now.waits && now.node == rec && now.uid == p.uid {
			rec.deny(now, d)
		}
	}
}
