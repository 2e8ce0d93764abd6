package noderoll

import (
	"maps"
	"time"
)

// restoreFrom takes over from an earlier State of the same group what objects don't
// say about themselves: which nodes were Ready before, how many pods a drain
// began with, and, for Target.Auto, baseline and images. Nodes are the same if
// name and UID are.
func (s *State) restoreFrom(from *State) {
	if s.roll != nil && from.roll != nil && !s.roll.settled {
		s.roll.follow(from.roll)
	}
	for name, old := range from.nodes {
		rec := s.nodes[name]
		if rec == nil || !rec.present || !old.present || rec.view.UID != old.view.UID {
			continue
		}
		was := rec.view
		rec.wasReady = rec.wasReady || old.wasReady
		if rec.wasReady && rec.view.Phase == PhaseJoining {
			s.setPhase(rec, PhaseNotReady)
		}
		if rec.view.Phase == PhaseDraining && old.view.Phase == PhaseDraining {
			rec.drainPeak = max(rec.drainPeak, old.drainPeak)
			rec.drained = rec.drained || old.drained
			rec.view.Cordoned = !rec.drained
			rec.surplus, rec.unclaimed = rec.surplus && old.surplus, old.unclaimed
			s.judgeScaleDown(rec)
			s.restoreDenials(rec, old)
			s.countPods(rec)
		}
		s.recount(rec, &was, true)
	}
	if !s.target.auto || !from.target.captured {
		return
	}
	s.setBaseline(maps.Clone(from.target.baseline))
	for name, old := range from.pools {
		if p := s.pools[name]; p == nil {
			s.pools[name] = &pool{name: name, images: maps.Clone(old.images), target: old.target, hasTarget: old.hasTarget}
		} else {
			p.restoreFrom(old)
		}
	}
	s.retarget(nil)
}

// restoreFrom takes over what an earlier pool knew of images; one that is new since
// is the target.
func (p *pool) restoreFrom(old *pool) {
	fresh := pool{images: make(map[ImageID]time.Time)}
	for image, created := range p.images {
		if _, known := old.images[image]; !known {
			fresh.images[image] = created
		}
	}
	p.target, p.hasTarget = old.target, old.hasTarget
	known := len(old.images) > 0
	if p.images == nil {
		p.images = make(map[ImageID]time.Time)
	}
	maps.Copy(p.images, old.images)
	if known && len(fresh.images) > 0 {
		p.target, p.hasTarget = fresh.youngest()
	}
}

// restoreDrains finds the deletions that came between two lists: a pod that an earlier
// State had on a cordoned node, and that is gone now, or on its way out.
func (s *State) restoreDrains(from *State) {
	if s.count.cordoned == 0 || s.podsError != "" { // what couldn't be listed isn't gone
		return
	}
	for key, old := range from.podIndex.pods {
		if !old.waits || old.node == nil || old.node.view.Phase != PhaseDraining {
			continue
		}
		rec := s.nodes[old.node.name]
		if rec == nil || !rec.view.Cordoned || rec.view.UID != old.node.view.UID {
			continue
		}
		if now := s.podIndex.pods[key]; now == nil || now.uid != old.uid || now.deleted {
			s.drains(rec)
		}
	}
}
