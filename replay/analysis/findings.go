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

// findings lists what is worth knowing, with its proof.
func (s *reading) findings() []Finding {
	for i := range s.a.Rolls {
		for _, saving := range s.a.Rolls[i].Savings {
			key := gatherKey{saving.Wait, saving.Object}
			s.saves[key] += saving.Saves
			if saving.Saves > s.delays[key].by {
				s.delays[key] = delay{&s.a.Rolls[i], saving.Saves}
			}
		}
	}
	all := []Finding{}
	all = append(all, s.budgetFindings()...)
	all = append(all, s.savingFindings()...)
	for _, w := range slices.SortedFunc(maps.Values(s.workloads), func(a, b *workload) int { return strings.Compare(a.path(), b.path()) }) {
		all = append(all, s.workloadFindings(w)...)
	}
	all = append(all, s.nodeFindings()...)
	all = append(all, s.tapeFindings()...)
	for i := range all {
		f := &all[i]
		f.Lines = append(f.Lines, f.From.Line, f.To.Line)
		slices.Sort(f.Lines)
		f.Lines = slices.DeleteFunc(slices.Compact(f.Lines), func(line int) bool { return line <= 0 })
		f.Lines = f.Lines[:min(len(f.Lines), mostLines)]
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		if a.Delays != b.Delays {
			if a.Delays {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Object, b.Object), strings.Compare(a.Node, b.Node))
	})
	return all
}

// delay is the roll that a kind of wait delayed most.
type delay struct {
	roll *Roll
	by   time.Duration
}

// mostLines bounds how many lines prove a finding.
const mostLines = 20

// saved is by how much rolls would have been shorter without a kind of wait for an object.
func (s *reading) saved(kind WaitKind, object string) time.Duration {
	return s.saves[gatherKey{kind, object}]
}

// shortest is the least that a budget must hold up drains to be a finding, where that made no roll longer: evictions that
// take turns are what budgets are for.
const shortest = 10 * time.Second

func (s *reading) budgetFindings() (all []Finding) {
	for _, b := range s.budgets {
		if b.Held <= 0 {
			continue
		}
		f := Finding{Kind: FindBudgetHeld, Object: b.path(), Cost: s.saved(WaitBudget, b.path())}
		f.Delays = f.Cost > 0
		from, to := time.Duration(0), s.now.At
		if r := s.delays[gatherKey{WaitBudget, b.path()}].roll; r != nil {
			from, to = r.Start.At, r.End.At
		}
		lasted, first, last := b.within(from, to)
		if lasted == 0 {
			from, to = 0, s.now.At
			lasted, first, last = b.within(from, to)
		}
		if !f.Delays {
			if f.Cost = lasted; f.Cost < shortest {
				continue
			}
		}
		f.From, f.To = first, last
		pods, nodes, total, lines := b.Pods, b.HeldNodes, len(b.Pods)+b.MorePods, b.lines()
		if lasted < b.Held { // it held others at other times
			if p, n, t, l := s.heldIn(b, max(from, first.At), min(last.At, to)); len(n) > 0 {
				pods, nodes, total, lines = p, n, t, l
			}
		}
		f.Pods, f.Lines = pods, lines
		if len(nodes) > 0 {
			f.Node = nodes[0]
		}
		why, remedy := s.whyHeld(b)
		f.Text = fmt.Sprintf("PodDisruptionBudget %s held %s on %s for %s: %s",
			b.key(), named(pods, total, "pod"), named(nodes, len(nodes), "node"), short(lasted), why)
		f.Remedy = remedy
		all = append(all, f)
	}
	return all
}

// heldIn tells what a budget held up in a part of the tape, by the waits of nodes: the pods and their number, the nodes, and
// the lines that show it.
func (s *reading) heldIn(b *budget, from, to time.Duration) (pods, nodes []string, total int, lines []int) {
	type waiting struct {
		node string
		wait *Wait
	}
	var all []waiting
	for _, n := range s.allNodes {
		for i := range n.Waits {
			if w := &n.Waits[i]; w.Kind == WaitBudget && w.Object == b.path() && w.From.At < to && from < w.To.At {
				all = append(all, waiting{n.Name, w})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y waiting) int { return cmp.Compare(x.wait.From.At, y.wait.From.At) })
	nodesSeen, podsSeen := map[string]bool{}, map[string]bool{}
	for _, on := range all {
		if !nodesSeen[on.node] {
			nodesSeen[on.node] = true
			nodes = append(nodes, on.node)
		}
		for _, p := range on.wait.Pods {
			if podsSeen[p] {
				continue
			}
			podsSeen[p] = true
			if total++; len(pods) < mostPods {
				pods = append(pods, p)
			}
		}
		total += on.wait.MorePods
		lines = append(lines, on.wait.From.Line, on.wait.To.Line)
	}
	return pods, nodes, total, lines
}

// whyHeld says why a budget held up pods, and what to change.
func (s *reading) whyHeld(b *budget) (why, remedy string) {
	switch {
	case len(b.double) > 0:
		all := named(slices.Sorted(maps.Keys(b.double)), len(b.double), "budget")
		return "its pods have more than one budget (" + all + "), which the eviction API does not support",
			"let the selector of only one of " + all + " match the pods"
	case b.object == nil: // only REFUSED lines tell of it
		return with("it allows no disruption", b.said), "let the budget allow one disruption, or give its workload one replica more than the budget needs"
	}
	needs, has := b.longest.wants, b.longest.healthy
	also := ""
	if has > needs { // the server takes an eviction from disruptionsAllowed at once; the controller counts the pods later
		also = ", evicted ones among them"
	}
	why = fmt.Sprintf("it allows no disruption (needs %s and has %d%s)", phrase.Count(needs, "healthy pod"), has, also)
	switch {
	case has < needs:
		remedy = "find out why its pods aren't Ready: until they are, nothing may be evicted"
	case needs >= b.longest.expected && b.longest.expected > 0:
		remedy = fmt.Sprintf("let the budget allow one disruption (maxUnavailable: 1, or minAvailable: %d), or give its workload one replica more than the budget needs", max(needs-1, 0))
	default:
		remedy = "let its pods be ready sooner, or let the budget allow more disruptions at a time"
	}
	return why, remedy
}

// lines are where the budget first refused its pods.
func (b *budget) lines() (lines []int) {
	for p := range b.held {
		lines = append(lines, p.held.from.Line, p.held.to.Line)
	}
	for _, k := range b.ended {
		lines = append(lines, k.from.Line, k.to.Line)
	}
	slices.Sort(lines)
	return slices.DeleteFunc(slices.Compact(lines), func(line int) bool { return line <= 0 })
}

// named lists up to three names, and counts the others.
func named(names []string, total int, noun string) string {
	const most = 3
	switch shown := min(len(names), most); {
	case total == 0:
		return "no " + noun
	case total <= shown && total == 1:
		return names[0]
	case total <= shown:
		return strings.Join(names[:shown-1], ", ") + " and " + names[shown-1]
	default:
		return strings.Join(names[:shown], ", ") + " and " + phrase.Count(total-shown, "more "+noun)
	}
}

// savingKinds are the findings that follow from what would have made a roll shorter.
var savingKinds = map[WaitKind]FindingKind{
	WaitGrace: FindSlowGrace, WaitFinalizer: FindFinalizer, WaitVolume: FindVolume, WaitImagePull: FindImagePull,
	WaitScheduling: FindUnschedulable, WaitNodeReady: FindSlowJoin, WaitMachine: FindSlowJoin,
	WaitNodeShutdown: FindSlowNode, WaitController: FindControllerIdle,
}

var remedies = map[FindingKind]string{
	FindSlowGrace:      "let its containers end when they are told to, and give them a shorter terminationGracePeriodSeconds",
	FindFinalizer:      "find the controller of the finalizer and why it doesn't take it away",
	FindVolume:         "let volumes be detached as soon as their pod is gone: see the attach-detach controller and the CSI driver",
	FindImagePull:      "pull images before the roll, keep them near, or make them smaller",
	FindUnschedulable:  "let nodes join before others are drained (a surge), or leave room on those that stay",
	FindSlowJoin:       "use images that boot faster, or let more nodes join at a time",
	FindSlowNode:       "find out what ends nodes and what it waits for",
	FindControllerIdle: "let whatever rolls the nodes look more often, or take more nodes at a time",
}

// savingFindings are the waits that made a roll longer, but for budgets, which are told of with all that they held.
func (s *reading) savingFindings() (all []Finding) {
	for i := range s.a.Rolls {
		r := &s.a.Rolls[i]
		for _, saving := range r.Savings {
			kind, ok := savingKinds[saving.Wait]
			if !ok || saving.Saves < time.Second {
				continue
			}
			f := Finding{Kind: kind, Cost: saving.Saves, Delays: true, Object: saving.Object, From: r.Start, To: r.End, Text: saving.Text, Remedy: remedies[kind]}
			for _, step := range r.Path {
				if step.Wait == saving.Wait && step.Object == saving.Object {
					f.Lines = append(f.Lines, step.From.Line, step.To.Line)
				}
			}
			all = append(all, f)
		}
	}
	return all
}

// crashing is the number of restarts of a workload's containers from which on they are a finding.
const crashing = 3

func (s *reading) workloadFindings(w *workload) (all []Finding) {
	note := func(kind FindingKind, cost time.Duration, proof intervals, text, remedy string) {
		f := Finding{Kind: kind, Cost: cost, Object: w.path(), Text: text, Remedy: remedy, Lines: proof.lines()}
		if n := len(proof.all); n > 0 {
			f.From, f.To = proof.all[0].from, proof.all[n-1].to
		}
		all = append(all, f)
	}
	serves := w.Kind != "DaemonSet" && w.Kind != "Pod" && w.Kind != "Job" && w.Replicas > 0
	if w.BelowWanted > 0 && serves {
		note(FindBelowBudget, w.BelowWanted, w.lacks, fmt.Sprintf("%s had fewer healthy pods than its budget wants for %s", w.path(), short(w.BelowWanted)),
			"give it more replicas, or find out what took its pods away without asking the budget")
	}
	if none := w.unavailable(s.now); serves && none > 0 {
		note(FindUnavailable, none, w.zero, fmt.Sprintf("%s had no available pod for %s", w.path(), short(none)), "give it a budget and more than one replica, on more than one node")
	}
	if w.Restarts >= crashing {
		var proof intervals
		for _, at := range w.restarted {
			proof.all = append(proof.all, interval{at, at})
		}
		text := fmt.Sprintf("containers of %s restarted %d times", w.path(), w.Restarts)
		if w.Updates > 0 {
			text += fmt.Sprintf(", besides %s in place", phrase.Count(w.Updates, "update"))
		}
		note(FindRestarts, 0, proof, text, "look at their logs: nodesim tells only that they ended")
	}
	if w.LongestWait >= shortest && s.saved(WaitScheduling, w.path()) == 0 {
		note(FindUnschedulable, w.LongestWait, intervals{all: []interval{w.longest}}, with(fmt.Sprintf("%s waited %s for a node", w.PendingPod, short(w.LongestWait)), w.PendingWhy), remedies[FindUnschedulable])
	}
	return all
}
