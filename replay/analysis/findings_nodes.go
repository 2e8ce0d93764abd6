package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
)

// A phase of a node is far longer than those of others where it is this many times the median, and this much longer.
const (
	farTimes = 3
	farBy    = time.Minute
)

func (s *reading) nodeFindings() (all []Finding) {
	for _, n := range s.allNodes {
		if !n.scope {
			continue
		}
		for _, w := range n.notReady {
			if w.Duration > 0 {
				all = append(all, Finding{
					Kind: FindNodeNotReady, Cost: w.Duration, Object: "Node/" + n.Name, Node: n.Name, From: w.From, To: w.To,
					Text: with(fmt.Sprintf("%s was not Ready for %s", n.Name, short(w.Duration)), w.Message),
				})
			}
		}
		if len(n.lost) > 0 {
			slices.SortFunc(n.lost, byName)
			f := Finding{Kind: FindNodeVanished, Object: "Node/" + n.Name, Node: n.Name, From: n.terminatedAt, To: n.terminatedAt}
			for i, p := range n.lost {
				if i < mostPods {
					f.Pods = append(f.Pods, p.String())
				}
				gone := s.now // it is there still
				if p.goneAt.is() {
					gone = p.goneAt
				}
				f.Cost = max(f.Cost, gone.At-n.terminatedAt.At)
			}
			f.Text = fmt.Sprintf("%s went away with %s on it: %s", n.Name, phrase.Count(len(n.lost), "pod"), named(f.Pods, len(n.lost), "pod"))
			f.Remedy = "let something drain the node when its end is announced"
			if n.DrainBegan != nil {
				f.Remedy = "begin the drain earlier, or give its pods a shorter grace period: they hadn't ended when the node went"
			}
			all = append(all, f)
		}
		if n.Joined != nil && n.Node.Ready == nil && !n.wasReady {
			to := s.now
			if n.Terminated != nil {
				to = *n.Terminated
			}
			all = append(all, Finding{
				Kind: FindSlowJoin, Cost: to.At - n.Joined.At, Object: "Node/" + n.Name, Node: n.Name, From: *n.Joined, To: to,
				Text:   with(fmt.Sprintf("%s joined and was not Ready for %s", n.Name, short(to.At-n.Joined.At)), n.joinMessage),
				Remedy: "look at its kubelet and its network plugin",
			})
		}
	}
	all = append(all, s.slow(FindSlowJoin, "to get Ready", func(n *node) (*time.Duration, *Moment, *Moment) { return n.Join, n.Joined, n.Node.Ready })...)
	all = append(all, s.slow(FindSlowNode, "to be drained", func(n *node) (*time.Duration, *Moment, *Moment) { return n.Drain, n.DrainBegan, n.Drained })...)
	all = append(all, s.slow(FindSlowNode, "to go once it was drained", func(n *node) (*time.Duration, *Moment, *Moment) { return n.Termination, n.Drained, n.Terminated })...)
	for _, m := range s.allClaims {
		if !m.requested.is() || m.node != "" || s.o.Pool != "" && m.group != "" && m.group != s.o.Pool {
			continue
		}
		to := s.now
		if m.gone.is() {
			to = m.gone
		}
		all = append(all, Finding{
			Kind: FindNeverJoined, Cost: to.At - m.requested.At, Object: m.path(), From: m.requested, To: to,
			Text:   with(fmt.Sprintf("%s was asked for and had no node for %s", m.path(), short(to.At-m.requested.At)), m.message),
			Remedy: "look at the provider's capacity and quotas, and at the machine's own log",
		})
	}
	return all
}

// slow finds the nodes of a group that took far longer than the others for a phase.
func (s *reading) slow(kind FindingKind, did string, phase func(*node) (*time.Duration, *Moment, *Moment)) (all []Finding) {
	took := map[string][]time.Duration{}
	for _, n := range s.allNodes {
		if d, _, _ := phase(n); d != nil {
			took[n.Group] = append(took[n.Group], *d)
		}
	}
	for _, t := range took {
		slices.Sort(t)
	}
	for _, n := range s.allNodes {
		d, from, to := phase(n)
		if d == nil || from == nil || to == nil || !n.scope {
			continue
		}
		t := took[n.Group]
		median := t[len(t)/2]
		if len(t) < farTimes || *d < farTimes*median || *d < median+farBy {
			continue
		}
		all = append(all, Finding{
			Kind: kind, Cost: *d - median, Object: "Node/" + n.Name, Node: n.Name, From: *from, To: *to,
			Text:   fmt.Sprintf("%s took %s %s, where half of the nodes of its group took at most %s", n.Name, short(*d), did, short(median)),
			Remedy: "compare it with the others: its waits say what it waited for",
		})
	}
	return all
}

// tapeFindings say what the tape doesn't show.
func (s *reading) tapeFindings() (all []Finding) {
	for _, r := range s.a.Rolls {
		if r.Outcome == Complete {
			continue
		}
		name := cmp.Or(r.Group, r.Pods, "(unnamed group)")
		f := Finding{Kind: FindUnfinished, From: r.Start, To: r.End}
		switch {
		case r.Outcome == Failed:
			f.Text = fmt.Sprintf("the roll of %s failed after %s, with %s to replace", name, short(r.Duration), phrase.Count(r.Left, "node"))
		case r.Left == 0:
			continue
		default:
			f.Text = fmt.Sprintf("the tape ends %s into the roll of %s, with %s to replace", short(r.Duration), name, phrase.Count(r.Left, "node"))
		}
		all = append(all, f)
	}
	for _, sp := range slices.SortedFunc(maps.Values(s.spaces), func(a, b *space) int { return strings.Compare(a.name, b.name) }) {
		if sp.unfollowed.is() {
			all = append(all, Finding{
				Kind: FindGap, Object: "Namespace/" + sp.name, From: sp.unfollowed, To: sp.unfollowed,
				Text: "the budgets of namespace " + sp.name + " cover too many pods, or too many sets of labels, to follow: from here on they don't count",
			})
		}
	}
	for _, gap := range s.a.Tape.Gaps {
		all = append(all, Finding{
			Kind: FindGap, Object: gap.Name, From: gap.Moment, To: gap.Moment,
			Text: with("changes of "+gap.Name+" may be missing", gap.Text), Remedy: "take what lies around it with care",
		})
	}
	return all
}
