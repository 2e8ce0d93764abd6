package roll

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// podSet is the set of the pods of a workload that is rolled. The planner wants to see all of them each time; the set
// spares it those of which it knows the verdict, so that a step of a large roll costs no more than one of a small
// roll: pods that are done, and pods that wait for their turn, but for the first of them.
type podSet struct {
	members map[*kube.Pod]*podMember
	active  int // that live
	// waiting and settled are sorted by name; open are all others that live.
	waiting, settled, open []*podMember
	restarted              []*podMember // since they were done; not yet told
}

// place is a pod's place in the set.
type place int

const (
	away    place = iota // going, or gone
	waiting              // as before, ready, and untouched
	settled              // as it shall be, ready, and untouched
	open                 // anything else
)

// update brings what is known of a pod up to date.
func (c *podSet) update(r *PodRoller, p *kube.Pod) {
	m := c.members[p]
	if m == nil {
		m = &podMember{pod: p}
		c.members[p] = m
	}
	at := m.position(r)
	if at != m.at {
		c.take(m)
		m.at = at
		c.put(m)
	}
	if m.restarted() && !slices.Contains(c.restarted, m) {
		c.restarted = append(c.restarted, m)
	}
}

// drop forgets a pod that is gone.
func (c *podSet) drop(p *kube.Pod) {
	if m := c.members[p]; m != nil {
		c.take(m)
		delete(c.members, p)
		c.restarted = slices.DeleteFunc(c.restarted, func(one *podMember) bool { return one == m })
	}
}

// acknowledge notes that the restarts were told.
func (c *podSet) acknowledge() {
	for _, m := range c.restarted {
		m.marked()
	}
	c.restarted = nil
}

func (c *podSet) list(at place) *[]*podMember {
	switch at {
	case waiting:
		return &c.waiting
	case settled:
		return &c.settled
	case open:
		return &c.open
	}
	return nil
}

func (c *podSet) put(m *podMember) {
	if l := c.list(m.at); l != nil {
		i, _ := slices.BinarySearchFunc(*l, m, byName)
		*l = slices.Insert(*l, i, m)
		c.active++
	}
}

func (c *podSet) take(m *podMember) {
	if l := c.list(m.at); l != nil {
		if i, found := slices.BinarySearchFunc(*l, m, byName); found {
			*l = slices.Delete(*l, i, i+1)
			c.active--
		}
	}
}

// byName orders pods; two of one name never live at a time.
func byName(a, b *podMember) int {
	return cmp.Or(strings.Compare(a.pod.Name, b.pod.Name), strings.Compare(a.pod.UID, b.pod.UID))
}

// planned are the pods that a plan has to see, where it can begin with so many
// at most, and how many live that it needn't. back says that pods that are done
// are to be taken back.
func (c *podSet) planned(most int, back bool) (some []*podMember, left int) {
	some = slices.Clone(c.open)
	some = append(some, c.waiting[:min(most, len(c.waiting))]...)
	if back {
		for _, m := range c.settled {
			if len(some) >= len(c.open)+2*most {
				break
			}
			if m.done {
				some = append(some, m)
			}
		}
	}
	for _, m := range c.restarted {
		if m.at == settled && !slices.Contains(some, m) {
			some = append(some, m)
		}
	}
	return some, c.active - len(some)
}
