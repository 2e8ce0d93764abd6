package scenarios

import (
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// demoBeat is the time between two moments of the demo: long enough to read a
// panel, short enough to watch to the end.
const demoBeat = 2 * time.Second

const (
	demoGroup = "demo"
	demoOld   = "ami-0a1b2c3d4e5f60718"
	demoNew   = "ami-0f9e8d7c6b5a43210"
)

// Demo is the tape whose snapshots are those of noderoll.DemoTimeline: a surge
// roll of an EKS node group of three, one node at a time. Twelve pods of one
// Deployment move with it, under a budget that wants seven of them.
//
// Each frame of DemoTimeline is one moment of the tape, demoBeat apart. The
// nodes that there are at the first SYNC are the old ones.
func Demo() (timeline.Header, []timeline.Event) {
	const (
		a, b, c = "ip-10-0-1-12", "ip-10-0-3-21", "ip-10-0-2-08" // old
		d, e, f = "ip-10-0-1-44", "ip-10-0-2-77", "ip-10-0-3-05" // new
	)
	s := newDemoCluster(demoGroup)
	for _, name := range []string{a, b, c} {
		s.node(name, demoOld, true)
	}
	s.sync("nodes")
	s.run(a, 4)
	s.run(b, 3)
	s.run(c, 5)
	s.sync("pods")
	s.guard(7)
	s.sync("poddisruptionbudgets")
	s.sync("events")

	s.beat()
	s.node(d, demoNew, false)
	s.beat()
	s.online(d)
	s.cordon(a)
	s.evict(a, 2)
	s.beat()
	s.move(a, d)
	s.evict(a, 2)
	s.beat()
	s.move(a, d)
	s.beat()
	s.terminate(a)
	s.replace(b, e, 3)
	s.replace(c, f, 5)
	return s.header(), s.events
}

// replace lets a node join, and moves the pods of an old one there, all at once.
func (s *demoCluster) replace(old, young string, pods int) {
	s.beat()
	s.node(young, demoNew, false)
	s.beat()
	s.online(young)
	s.cordon(old)
	s.evict(old, pods)
	s.beat()
	s.move(old, young)
	s.beat()
	s.terminate(old)
}
