package roll

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// gkeBlueGreen is the blue-green upgrade of a GKE node pool ("Blue-green
// upgrades" in the documentation of Google Kubernetes Engine), in its phases:
//
//   - create the green pool: as many new nodes as there are old ones, all Ready
//   - cordon the blue pool: every old node, before anything is drained
//   - drain the blue pool: in batches, here of MaxUnavailable nodes
//   - soak the node pool: the drained blue nodes stay, for an hour by default
//   - delete the blue pool: all at once
//
// While it soaks, the way back is short: the old nodes are only to be uncordoned.
type gkeBlueGreen struct {
	gke
	cordoned bool
	soaked   bool
	soaking  bool
	// held are blue nodes that are drained and kept, as long as they are there.
	held []heldNode
}

// A heldNode is a drained node, with what says that it may go.
type heldNode struct {
	instance *cloud.Instance
	done     func(error)
}

// GKEBlueGreen is the blue-green upgrade; Soak is the time for which the drained pool is kept.
func GKEBlueGreen(b Base) Strategy { return &gkeBlueGreen{gke: newGKE(b)} }

func (s *gkeBlueGreen) Begin() { s.cordoned, s.soaked, s.soaking, s.held = false, false, false, nil }

func (s *gkeBlueGreen) Options(c cycle.Cluster) (cycle.Options, bool) {
	s.held = slices.DeleteFunc(s.held, func(h heldNode) bool { return !slices.Contains(s.cfg.Group.Instances(), h.instance) })
	blue, green, draining := 0, 0, 0
	for i := range c.Instances {
		in := &c.Instances[i]
		switch {
		case in.Config == c.Config && in.State == cycle.Started && s.ready(in.ID):
			green++
		case in.Config != c.Config && (in.State == cycle.Started || in.State == cycle.Draining):
			blue++
			if in.State == cycle.Draining {
				draining++
			}
		}
	}
	if !s.cordoned && green >= s.cfg.Size {
		s.cordonBlue()
	}
	if s.cordoned && !s.soaking && blue == len(s.held) && blue > 0 {
		s.soak()
	}
	batch := max(1, s.cfg.MaxUnavailable) + len(s.held)
	if draining > len(s.held) {
		batch = draining // the next batch begins when this one is drained
	}
	o := cycle.Options{
		TargetSize: s.cfg.Size, MaxSurge: cycle.AtMost(s.cfg.Size), MaxUnavailable: cycle.AtMost(0), MaxDraining: cycle.AtMost(batch),
	}
	if !s.cordoned {
		o.MayDrain = func(cycle.InstanceID) (bool, string) {
			return false, "the green pool is not ready, or the blue one not cordoned"
		}
	}
	return o, true
}

// Waits for the green pool.
func (s *gkeBlueGreen) Waits(c cycle.Cluster) bool { return !s.cordoned || s.gke.Waits(c) }

func (s *gkeBlueGreen) cordonBlue() {
	s.cordoned = true
	for _, i := range s.cfg.Group.Instances() {
		if n := s.env.API.Node(i.Name); n != nil && s.Roller.old(i) {
			s.cordon(n, "", "")
		}
	}
}

// soak keeps the blue pool for a while, and releases it then.
func (s *gkeBlueGreen) soak() {
	s.soaking = true
	target := s.target
	s.env.After(s.cfg.Soak, func() {
		if s.over || s.target != target {
			return
		}
		held := s.held
		s.held, s.soaked = nil, true
		for _, h := range held {
			h.done(nil)
		}
	})
}

func (s *gkeBlueGreen) Drain(i *cloud.Instance, n *kube.Node, done func(error)) {
	s.cordon(n, "", "")
	target := s.target
	s.drains.Drain(n, s.patience(), func(err error) {
		switch {
		case s.target != target:
			return
		case err != nil || s.soaked:
			done(err)
			return
		}
		s.held = append(s.held, heldNode{i, done})
		s.look()
	})
}
