package noderoll

import (
	"slices"
	"time"
)

// Target says which nodes a roll moves towards: of its fields the first that is
// set decides.
type Target struct {
	// Baseline, if not nil, are the UIDs of the old nodes (names where there
	// are no UIDs): a node is on target if it is not among them. An empty
	// Baseline makes every node new.
	Baseline []string
	// Image holds what a new node runs, see ImageID.Matches.
	Image string
	// Auto finds the target: in each pool it is the image that appeared last,
	// once there have been two. Until then, and where images don't tell nodes
	// apart, the nodes that were there at State.CaptureBaseline are the old
	// ones. Without Auto nothing is on target.
	Auto bool
}

// targetRule is a Target at work.
type targetRule struct {
	baseline map[string]struct{} // nil without one
	image    string
	auto     bool
	captured bool // auto: CaptureBaseline has been called
}

func newTargetRule(t Target) targetRule {
	r := targetRule{image: t.Image}
	switch {
	case t.Baseline != nil:
		r.baseline = make(map[string]struct{}, len(t.Baseline))
		for _, id := range t.Baseline {
			r.baseline[id] = struct{}{}
		}
	case t.Image == "":
		r.auto = t.Auto
	}
	return r
}

// onTarget decides for one node.
func (r *targetRule) onTarget(rec *nodeRec) bool {
	switch {
	case rec.unnamed:
		_, old := r.baseline[rec.id()]
		return !old
	case r.auto && rec.pool.hasTarget:
		return rec.image == rec.pool.target
	case r.auto && !r.captured:
		return false
	case r.baseline != nil:
		_, old := r.baseline[rec.id()]
		return !old
	}
	return rec.image.Matches(r.image)
}

// unnamedTaints are those of a node that its maker hasn't labelled yet: what it was
// made from isn't known for a second or so, and it is none of the old ones. Karpenter
// sets its hashes at the registration (nodeclaim/lifecycle/registration.go), Cluster
// API its owner annotations with the removal of the taint
// (machine_controller_noderef.go).
var unnamedTaints = []string{"karpenter.sh/unregistered", "node.cluster.x-k8s.io/uninitialized"}

// unnamed reports whether the node's maker hasn't labelled it yet.
func unnamed(n *Node) bool {
	return slices.ContainsFunc(n.TaintKeys, func(key string) bool { return slices.Contains(unnamedTaints, key) })
}

// id is the node's identity: its UID where there is one, else its name.
func (n *nodeRec) id() string {
	if n.view.UID != "" {
		return n.view.UID
	}
	return n.name
}

// CaptureBaseline makes the present nodes of the group the old ones, replacing
// any earlier baseline. With Target.Auto this ends the time in which images
// count as having been there from the start.
func (s *State) CaptureBaseline() {
	s.setBaseline(make(map[string]struct{}, len(s.nodes)))
	for _, rec := range s.nodes {
		if rec.present {
			s.target.baseline[rec.id()] = struct{}{}
		}
	}
	for _, p := range s.pools {
		p.settle()
	}
	s.retarget(nil)
}

func (s *State) setBaseline(ids map[string]struct{}) {
	s.target.baseline = ids
	s.target.captured = true
}

// retarget decides again for every node, or those of one pool.
func (s *State) retarget(only *pool) {
	for _, rec := range s.nodes {
		if !rec.present || only != nil && rec.pool != only {
			continue
		}
		was := rec.view
		rec.view.OnTarget = s.target.onTarget(rec)
		s.recount(rec, &was, true)
	}
}

// pool is one group of nodes among those in scope, with its own counters and,
// for Target.Auto, what is known of its images.
type pool struct {
	name  string
	nodes int
	count counters
	noted bool // in the change set already
	// elastic says that the provider keeps no number of nodes.
	elastic bool
	// reimaged says that nodes come back under their names; away are those of old
	// nodes that haven't yet.
	reimaged bool
	away     map[string]struct{}
	// scalesDown counts the nodes that are leaving because they aren't needed.
	scalesDown int
	feed       feedPool

	images    map[ImageID]time.Time // the earliest creation of a node that ran it
	target    ImageID
	hasTarget bool
}

const (
	// imagesMax bounds what is remembered of a pool's images: a real roll has
	// two or three, and hostile input could have one for each event.
	imagesMax = 1024
	// poolsMax bounds the pools that are remembered without nodes.
	poolsMax = 4096
)

// leave notes that a node of the pool is gone, of those that come back.
func (p *pool) leave(v *NodeView) {
	if !p.reimaged || v.OnTarget {
		return
	}
	if p.away == nil {
		p.away = make(map[string]struct{})
	}
	if len(p.away) < imagesMax {
		p.away[v.Name] = struct{}{}
	}
}

// poolOf finds the pool of a node, or founds it. A pool that runs empty stays
// known, since a group of one node that is replaced is empty for a while.
func (s *State) poolOf(p *Provider, n *Node) *pool {
	name := p.Pool(n)
	at := s.pools[name]
	if at == nil {
		if len(s.pools) >= poolsMax {
			for name, old := range s.pools {
				if old.nodes == 0 && !old.noted {
					delete(s.pools, name)
				}
			}
		}
		at = &pool{name: name, elastic: p.Name == "karpenter", reimaged: p.Name == "aks"}
		s.pools[name] = at
	}
	return at
}

// learnImage notes the image of a node, for Target.Auto.
func (s *State) learnImage(rec *nodeRec) {
	p := rec.pool
	if !s.target.auto || rec.image.IsZero() || rec.unnamed {
		return
	}
	first, known := p.images[rec.image]
	if known {
		if !s.target.captured && rec.created.Before(first) {
			p.images[rec.image] = rec.created
		}
		return
	}
	if len(p.images) >= imagesMax {
		return
	}
	if p.images == nil {
		p.images = make(map[ImageID]time.Time)
	}
	p.images[rec.image] = rec.created
	if s.target.captured && len(p.images) > 1 {
		p.target, p.hasTarget = rec.image, true
		s.retarget(p)
	}
}

// settle picks the target of a pool that was in the middle of a roll when first
// seen.
func (p *pool) settle() {
	if len(p.images) > 1 && !p.hasTarget {
		p.target, p.hasTarget = p.youngest()
	}
}

// youngest is the image whose first node is the youngest.
func (p *pool) youngest() (best ImageID, found bool) {
	var since time.Time
	for image, created := range p.images {
		if !found || created.After(since) || created.Equal(since) && image.String() > best.String() {
			best, since, found = image, created, true
		}
	}
	return best, found
}
