package scenarios_test

import (
	"slices"
	"testing"
	"time"
)

// nodemanager gives each job a node of its own: at once where the pool has one, which is filled up again; what a job has left
// is never used again.
func TestStandbyPools(t *testing.T) {
	t.Parallel()
	s := tell(t, "standby-pools")
	const come, lost, leave = time.Minute, 6 * time.Minute, 12 * time.Minute
	runners := s.nodesThat(func(n *nodeLife) bool { return n.group == "runners" })
	pool := where(runners, (*nodeLife).old)
	is(s, "nodes of the pool at first", len(pool), 2)
	jobs := s.podsOf("job")
	is(s, "pods of job", len(jobs), 5)
	var on []string
	for _, p := range jobs {
		s.happens(p.name+": it is bound", p.bound)
		if slices.Contains(on, p.node) {
			t.Errorf("%s: %s: found it used a second time", s.title, p.node)
		}
		on = append(on, p.node)
	}
	atOnce := where(jobs, func(p *podLife) bool {
		return slices.ContainsFunc(pool, func(n *nodeLife) bool { return n.name == p.node })
	})
	is(s, "jobs on the nodes of the pool", len(atOnce), 2)
	for _, p := range atOnce {
		s.within(p.name+": bound", p.bound, come, come+20*time.Second)
	}
	is(s, "nodes that boot for the other jobs, and to fill the pool up twice", len(s.newNodes()), 5)
	free := func(at time.Duration) int {
		return len(where(runners, func(n *nodeLife) bool {
			return n.online != never && n.online <= at && (n.gone == never || n.gone > at) && n.at(at).ready == "True" &&
				!slices.ContainsFunc(jobs, func(p *podLife) bool { return p.node == n.name && p.bound <= at })
		}))
	}
	is(s, "free nodes before a node vanishes", free(lost-time.Second), 2)
	is(s, "free nodes before jobs end", free(leave-time.Second), 2)
	is(s, "free nodes in the end", free(s.end), 2)
	is(s, "runners in the end", len(where(runners, func(n *nodeLife) bool { return n.gone == never })), 3)
	s.within("the end of the last used node", last(runners, nodeGone), leave, leave+2*time.Minute)
	is(s, "nodes told of as used", len(s.eventsOf("nodemanager", "NodeUsed")), 3)
	is(s, "jobs that are ready in the end", s.readyAt("job", s.end), 1)
	s.golden(come+40*time.Second, s.end)
}

// More jobs than nodes are booted at a time all get one.
func TestStandbyPoolsOfManyJobs(t *testing.T) {
	t.Parallel()
	s := tell(t, "standby-pools", "standby=1", "jobs=30")
	jobs := where(s.podsOf("job"), func(p *podLife) bool { return p.bound != never })
	s.within("the last of the jobs that come together is bound", last(jobs[:30], func(p *podLife) time.Duration { return p.bound }), time.Minute, 4*time.Minute)
	is(s, "jobs that are ready before a node vanishes", s.readyAt("job", 6*time.Minute), 30)
}
