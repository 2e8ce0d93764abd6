package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// needless reports whether a report would change nothing but heartbeats, and the last one is young enough.
func (n *NodeController) needless(desired desired, live *corev1.Node, p readiness) (bool, error) {
	last := &n.reported
	if !n.young(live) {
		return false, nil
	}
	if n.same(desired, live, p) {
		return true, nil
	}
	p.heartbeat = last.heartbeat
	patch, err := statusPatch(following(composed(desired.node, p), live, p), live)
	if err != nil || string(patch) != emptyPatch {
		return false, err
	}
	// Another client has changed other fields: this version is as good as the last one.
	last.generation, last.flip, last.version = desired.generation, p.flip, live.ResourceVersion
	return true, nil
}

// young reports whether the last report, of this live node, is younger than the interval of reports.
func (n *NodeController) young(live *corev1.Node) bool {
	last := &n.reported
	return n.reportInterval > 0 && !last.at.IsZero() && last.uid == live.UID &&
		n.clock.Since(last.at) < n.reportInterval+last.delay
}

// same reports whether nothing has changed since the last report, or since the live node was found as it should be.
func (n *NodeController) same(desired desired, live *corev1.Node, p readiness) bool {
	last := &n.reported
	return last.generation == desired.generation && last.flip.Equal(p.flip) && last.version == live.ResourceVersion
}

// note remembers a report.
func (n *NodeController) note(desired desired, node *corev1.Node, p readiness) {
	now := n.clock.Now()
	last := &n.reported
	changed := last.at.IsZero() || now.Sub(last.at) < n.reportInterval+last.delay
	var delay time.Duration
	if changed && n.fraction > 0 {
		delay = n.chance(n.reportInterval) - n.reportInterval/2
	}
	*last = reported{
		at: now, heartbeat: p.heartbeat, generation: desired.generation, flip: p.flip,
		uid: node.UID, version: node.ResourceVersion, delay: delay,
	}
}
