package scenarios_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// is fails unless a fact of the story is as wanted.
func is[T comparable](s *story, what string, found, want T) {
	s.t.Helper()
	if found != want {
		s.t.Errorf("%s: %s: found %v, want %v", s.title, what, found, want)
	}
}

// within fails unless a moment, or the time between two, lies in bounds.
func (s *story) within(what string, found, least, most time.Duration) {
	s.t.Helper()
	if found < least || found > most {
		s.t.Errorf("%s: %s: found %s, want %s to %s", s.title, what, shown(found), least, most)
	}
}

// after fails unless something has happened after something else; both must
// have happened.
func (s *story) after(what string, at time.Duration, before string, earlier time.Duration) {
	s.t.Helper()
	if at == never || earlier == never || at < earlier {
		s.t.Errorf("%s: %s: found at %s, want it after %s, which is at %s", s.title, what, shown(at), before, shown(earlier))
	}
}

// happens fails where something doesn't happen.
func (s *story) happens(what string, at time.Duration) {
	s.t.Helper()
	if at == never {
		s.t.Errorf("%s: %s: found never, want it to happen", s.title, what)
	}
}

func shown(at time.Duration) string {
	if at == never {
		return "never"
	}
	return at.String()
}

// oldNodes are those that the tape begins with, newNodes those that join on it.
func (s *story) oldNodes() []*nodeLife { return s.nodesThat((*nodeLife).old) }
func (s *story) newNodes() []*nodeLife {
	return s.nodesThat(func(n *nodeLife) bool { return !n.old() })
}

func (s *story) nodesThat(are func(*nodeLife) bool) []*nodeLife {
	return where(s.nodes, are)
}

func (s *story) node(name string) *nodeLife {
	for _, n := range slices.Backward(s.nodes) {
		if n.name == name {
			return n
		}
	}
	return nil
}

// podsOf are the pods of a workload, in the order of their creation.
func (s *story) podsOf(workload string) []*podLife {
	return where(s.pods, func(p *podLife) bool { return p.workload == workload })
}

// podsOn are the pods that drains care for: those of a node, without the
// system's.
func (s *story) podsOn(n *nodeLife) []*podLife {
	return where(s.pods, func(p *podLife) bool { return p.node == n.name && p.namespace != "kube-system" })
}

// eventsOf are the events with a reason, by any reporter.
func (s *story) eventsOf(reporter, reason string) []*eventLife {
	return where(s.events, func(e *eventLife) bool { return e.reporter == reporter && e.reason == reason })
}

// about are the events of a reason that concern an object.
func (s *story) about(object, reporter, reason string) []*eventLife {
	return where(s.eventsOf(reporter, reason), func(e *eventLife) bool { return e.object == object })
}

// entries are those of a kind, of the verbose feed.
func (s *story) entries(kind noderoll.EventKind) []noderoll.Entry {
	return where(s.entry, func(e noderoll.Entry) bool { return e.Kind == kind })
}

func where[T any](all []T, is func(T) bool) []T {
	var some []T
	for _, one := range all {
		if is(one) {
			some = append(some, one)
		}
	}
	return some
}

// times are the moments of something that has happened, in order.
func times[T any](all []T, when func(T) time.Duration) []time.Duration {
	var at []time.Duration
	for _, one := range all {
		if t := when(one); t != never {
			at = append(at, t)
		}
	}
	slices.Sort(at)
	return at
}

func first[T any](all []T, when func(T) time.Duration) time.Duration {
	at := times(all, when)
	if len(at) == 0 {
		return never
	}
	return at[0]
}

func last[T any](all []T, when func(T) time.Duration) time.Duration {
	at := times(all, when)
	if len(at) == 0 {
		return never
	}
	return at[len(at)-1]
}

func joined(n *nodeLife) time.Duration   { return n.joined }
func online(n *nodeLife) time.Duration   { return n.online }
func cordoned(n *nodeLife) time.Duration { return n.cordoned }
func nodeGone(n *nodeLife) time.Duration { return n.gone }
func leaving(p *podLife) time.Duration   { return p.leaving }
func podGone(p *podLife) time.Duration   { return p.gone }
func created(p *podLife) time.Duration   { return p.created }

// goesDown is when a node is Ready no more: its kubelet says that it goes with the
// machine (from 1.34 on), or it is called Unknown.
func goesDown(n *nodeLife) time.Duration {
	return n.when(max(n.online, 0), func(s nodeStep) bool { return s.ready != "True" })
}

// drain is when the first pod of a node was asked to leave, and when the last
// one was gone.
func (s *story) drain(n *nodeLife) (begin, end time.Duration) {
	pods := where(s.podsOn(n), func(p *podLife) bool { return p.leaving != never })
	return first(pods, leaving), last(pods, podGone)
}

// A change in a number of things.
type change struct {
	at time.Duration
	by int
}

// extremes are the least and the most of a number over the story, from a moment
// to another, as it is when each moment is over.
func extremes(changes []change, from, to time.Duration) (least, most int) {
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	now, seen := 0, false
	look := func() {
		if !seen {
			least, most, seen = now, now, true
		}
		least, most = min(least, now), max(most, now)
	}
	for i, c := range changes {
		if c.at > to {
			break
		}
		if c.at > from && !seen {
			look()
		}
		now += c.by
		if (i+1 == len(changes) || changes[i+1].at > c.at) && c.at >= from {
			look()
		}
	}
	return least, most
}

// leastReady is how few pods of a workload are ready at the worst moment; a pod
// that leaves counts as long as it is ready.
func (s *story) leastReady(workload string) int {
	least, _ := extremes(s.readyChanges(workload), 0, s.end)
	return least
}

func (s *story) readyChanges(workload string) []change {
	var changes []change
	for _, p := range s.podsOf(workload) {
		was := false
		set := func(at time.Duration, is bool) {
			if is && !was {
				changes = append(changes, change{at, 1})
			} else if was && !is {
				changes = append(changes, change{at, -1})
			}
			was = is
		}
		for _, step := range p.steps {
			set(step.at, step.ready)
		}
		if p.gone != never {
			set(p.gone, false)
		}
	}
	return changes
}

// readyAt is how many pods of a workload are ready at a moment.
func (s *story) readyAt(workload string, at time.Duration) int {
	n, _ := extremes(s.readyChanges(workload), at, at)
	if n == 0 {
		for _, c := range s.readyChanges(workload) {
			if c.at <= at {
				n += c.by
			}
		}
	}
	return n
}

// nodesAtOnce are the fewest and the most nodes that are there at one moment.
func (s *story) nodesAtOnce() (fewest, most int) {
	var changes []change
	for _, n := range s.nodes {
		changes = append(changes, change{n.joined, 1})
		if n.gone != never {
			changes = append(changes, change{n.gone, -1})
		}
	}
	return extremes(changes, 0, s.end)
}

// nodesAt are the nodes that are there at a moment.
func (s *story) nodesAt(at time.Duration) []*nodeLife {
	return s.nodesThat(func(n *nodeLife) bool { return n.joined <= at && (n.gone == never || n.gone > at) })
}

// drainsAtOnce is how many nodes are, at the worst moment, between their first
// eviction and the end of their machine.
func (s *story) drainsAtOnce(nodes []*nodeLife) int {
	var changes []change
	for _, n := range nodes {
		begin, _ := s.drain(n)
		if begin == never {
			continue
		}
		changes = append(changes, change{begin, 1})
		if n.gone != never {
			changes = append(changes, change{n.gone, -1})
		}
	}
	_, most := extremes(changes, 0, s.end)
	return most
}

// budget returns the budget of a name.
func (s *story) budget(name string) *budgetLife {
	for _, b := range s.budgets {
		if b.name == name {
			return b
		}
	}
	s.t.Fatalf("%s: budget %s: found none", s.title, name)
	return nil
}

// zones are the zones of nodes, sorted, each as often as it occurs.
func zones(nodes []*nodeLife) string {
	var all []string
	for _, n := range nodes {
		all = append(all, n.zone[max(0, len(n.zone)-1):])
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// outcome is how the only roll ended, empty for one that was completed.
func (s *story) outcome() string { return strings.Join(s.outcomes, "; ") }
