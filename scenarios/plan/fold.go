package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// fold puts the outcomes of runs together, which are in the order of their seeds.
func fold(p *Plan, all []*outcome) {
	p.Runs, p.Seed = len(all), all[0].seed
	var took, hours, extra []time.Duration
	var peaks []int
	why := map[string]int{}
	for _, o := range all {
		if o.ended {
			p.Ends++
			took = append(took, o.took)
		} else {
			why[o.why]++
		}
		if len(o.blocks) > 0 {
			p.blocked++
		}
		hours, extra, peaks = append(hours, o.hours), append(extra, o.extra), append(peaks, o.peak)
	}
	if len(took) > 0 {
		s := spread(took)
		p.Duration = &s
		p.took = took
		p.Within = within(took)
	}
	p.Endless = []Ending{}
	for _, text := range slices.Sorted(maps.Keys(why)) {
		p.Endless = append(p.Endless, Ending{why[text], text})
	}
	slices.SortStableFunc(p.Endless, func(a, b Ending) int { return cmp.Compare(b.Runs, a.Runs) })
	p.Capacity = Capacity{Peak: rank(peaks, 50), MostPeak: slices.Max(peaks), NodeHours: Duration(rank(hours, 50)), ExtraHours: Duration(rank(extra, 50))}
	p.Blocks, p.WontRun, p.Workloads = foldBlocks(all), foldUnready(all), foldWorkloads(all)
	p.unready = countUnready(all)
	p.Order, p.Policies, p.Samples = foldOrder(all, p.Nodes), foldPolicies(all), samples(all)
}

// rank is the nearest-rank quantile of values: the smallest that is not below so many percent of them.
func rank[T cmp.Ordered](values []T, percent int) (v T) {
	if len(values) == 0 {
		return v
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max((percent*len(sorted)+99)/100, 1)-1]
}

// within is where one more run lies with a chance of nine in ten or more. It is as likely to lie before the first of n runs, after the last, and
// between any two that follow each other, so that P5 and P95 are ranks of n + 1, rounded outwards. Fewer than 19 runs can't tell.
func within(took []time.Duration) *Within {
	sorted := slices.Sorted(slices.Values(took))
	n := len(sorted) + 1
	return &Within{Duration(sorted[max(5*n/100, 1)-1]), Duration(sorted[min((95*n+99)/100, len(sorted))-1])}
}

func spread(values []time.Duration) Spread {
	return Spread{Duration(rank(values, 50)), Duration(rank(values, 90)), Duration(rank(values, 99)), Duration(rank(values, 100))}
}

// middle is the median, nil where there is none.
func middle(values []time.Duration) *Duration {
	if len(values) == 0 {
		return nil
	}
	d := Duration(rank(values, 50))
	return &d
}

// counts says how many of something there are in each of some runs.
type counts struct{ runs, least, most int }

func (c *counts) add(n int) {
	if c.runs++; c.runs == 1 {
		c.least, c.most = n, n
	}
	c.least, c.most = min(c.least, n), max(c.most, n)
}

// enough is the number of runs from which on a live run contradicts them with a number that none of them has: one of the same kind does
// that twice in a hundred times at most.
const enough = 100

// exclude reports whether a live run that has so many contradicts the runs.
func (c counts) exclude(n int) bool { return c.runs >= enough && (n < c.least || n > c.most) }

// of is the number, or from where to where it goes, with what is counted.
func (c counts) of(noun string) string {
	if c.least == c.most {
		return phrase.Count(c.most, noun)
	}
	return fmt.Sprintf("%d to %s", c.least, phrase.Count(c.most, noun))
}

// countUnready counts the pods that don't run, by workload.
func countUnready(all []*outcome) map[string]counts {
	by := map[string]counts{}
	for _, o := range all {
		pods := map[string]int{}
		for i := range o.unready {
			pods[o.unready[i].workload] += o.unready[i].pods
		}
		for workload, n := range pods {
			c := by[workload]
			c.add(n)
			by[workload] = c
		}
	}
	return by
}

func foldBlocks(all []*outcome) []Block {
	type key struct{ kind, object string }
	type group struct {
		held    []time.Duration
		stops   int
		nodes   counts
		named   map[string]int
		longest *blocked
	}
	groups := map[key]*group{}
	for _, o := range all {
		for i := range o.blocks {
			b := &o.blocks[i]
			g := groups[key{b.kind, b.object}]
			if g == nil {
				g = &group{longest: b, named: map[string]int{}}
				groups[key{b.kind, b.object}] = g
			}
			g.held = append(g.held, b.held)
			g.nodes.add(len(b.nodes))
			for _, name := range b.nodes {
				g.named[name]++
			}
			if b.stops {
				g.stops++
			}
			if b.stops && !g.longest.stops || b.stops == g.longest.stops && b.held > g.longest.held {
				g.longest = b
			}
		}
	}
	blocks := []Block{}
	for k, g := range groups {
		blocks = append(blocks, Block{
			Kind: k.kind, Object: k.object, Runs: len(g.held), Stops: g.stops, Held: spread(g.held), Nodes: g.nodes.most, onNodes: g.nodes, onNode: g.named,
			Text: g.longest.text, Remedy: g.longest.remedy, Pods: append([]string{}, g.longest.pods...), MorePods: g.longest.morePods,
		})
	}
	slices.SortFunc(blocks, func(a, b Block) int {
		return cmp.Or(cmp.Compare(b.Stops, a.Stops), cmp.Compare(b.Held.P50, a.Held.P50), cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Object, b.Object), strings.Compare(a.Kind, b.Kind))
	})
	return blocks
}

func foldUnready(all []*outcome) []WontRun {
	type key struct {
		workload, reason string
		before           bool
	}
	groups, messages := map[key]*WontRun{}, map[key]map[string]int{}
	for _, o := range all {
		for i := range o.unready {
			u := &o.unready[i]
			k := key{u.workload, u.reason, u.before}
			w := groups[k]
			if w == nil {
				w = &WontRun{Workload: u.workload, Reason: u.reason, Before: u.before, Pod: u.pod}
				groups[k], messages[k] = w, map[string]int{}
			}
			w.Runs++
			w.Pods = max(w.Pods, u.pods)
			messages[k][u.message]++
		}
	}
	list := []WontRun{}
	for k, w := range groups {
		for _, text := range slices.Sorted(maps.Keys(messages[k])) {
			if w.Message == "" || messages[k][text] > messages[k][w.Message] {
				w.Message = text
			}
		}
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b WontRun) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Workload, b.Workload), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message))
	})
	return list
}

func foldWorkloads(all []*outcome) []Workload {
	type group struct {
		Workload
		least []int
		below []time.Duration
	}
	groups := map[string]*group{}
	for _, o := range all {
		for i := range o.workloads {
			v := &o.workloads[i]
			g := groups[v.workload]
			if g == nil {
				g = &group{Workload: Workload{Workload: v.workload, Least: v.least}}
				groups[v.workload] = g
			}
			g.Replicas, g.Wanted, g.Least = max(g.Replicas, v.replicas), max(g.Wanted, v.wanted), min(g.Least, v.least)
			g.least, g.below = append(g.least, v.least), append(g.below, v.below)
			if v.belowBudget > 0 {
				g.BelowWanted++
			}
		}
	}
	list := []Workload{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		g.Usual, g.Below = rank(g.least, 50), spread(g.below)
		list = append(list, g.Workload)
	}
	return list
}

// foldOrder puts the nodes of all runs together: by name where all runs together have no more names than there are nodes, else by
// their place in the order.
func foldOrder(all []*outcome, nodes int) []Node {
	names, most := map[string]bool{}, 0
	for _, o := range all {
		most = max(most, len(o.nodes))
		for k := range o.nodes {
			names[o.nodes[k].name] = true
		}
	}
	named := len(names) <= max(most, nodes)
	type group struct {
		Node
		from, takes, drain []time.Duration
	}
	var groups []*group
	byName := map[string]*group{}
	byPlace := map[string][]*group{} // without names a row is the first, second, … of its node group
	for _, o := range all {
		places := map[string]int{}
		for k := range o.nodes {
			n := &o.nodes[k]
			place := places[n.group]
			places[n.group]++
			var g *group
			switch {
			case named && byName[n.name] != nil:
				g = byName[n.name]
			case !named && place < len(byPlace[n.group]):
				g = byPlace[n.group][place]
			default:
				g = &group{Node: Node{Group: n.group}}
				groups = append(groups, g)
				byPlace[n.group] = append(byPlace[n.group], g)
				if named {
					g.Name, byName[n.name] = n.name, g
				}
			}
			g.Runs++
			g.from = append(g.from, n.from)
			if n.took != nil {
				g.Done++
				g.takes = append(g.takes, *n.took)
			}
			if n.drain != nil {
				g.drain = append(g.drain, *n.drain)
			}
		}
	}
	list := []Node{}
	for _, g := range groups {
		g.From, g.Takes, g.Drain = Duration(rank(g.from, 50)), middle(g.takes), middle(g.drain)
		list = append(list, g.Node)
	}
	slices.SortStableFunc(list, func(a, b Node) int { return cmp.Or(cmp.Compare(a.From, b.From), strings.Compare(a.Name, b.Name)) })
	return list
}

func foldPolicies(all []*outcome) []PolicyBreak {
	list := []PolicyBreak{}
	for _, o := range all {
		for _, v := range o.violations {
			i := slices.IndexFunc(list, func(b PolicyBreak) bool { return b.Policy == v.policy && b.Rule == v.rule })
			if i < 0 {
				list = append(list, PolicyBreak{Policy: v.policy, Rule: v.rule, Severity: v.severity, Text: v.text})
				i = len(list) - 1
			}
			list[i].Runs++
		}
	}
	slices.SortFunc(list, func(a, b PolicyBreak) int {
		return cmp.Or(strings.Compare(string(a.Severity), string(b.Severity)), cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Policy, b.Policy), strings.Compare(a.Rule, b.Rule))
	})
	return list
}

// samples are the runs that stand for the others.
func samples(all []*outcome) map[Which]Sample {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b *outcome) int {
		switch {
		case a.ended && !b.ended:
			return -1
		case b.ended && !a.ended:
			return 1
		}
		return cmp.Compare(a.took, b.took)
	})
	of := func(o *outcome) Sample { return Sample{o.seed, Duration(o.took), o.ended} }
	return map[Which]Sample{Median: of(sorted[(len(sorted)+1)/2-1]), Worst: of(sorted[len(sorted)-1])}
}

// timings tells what of a file's durations is known.
func timings(f *spec.File) Timings {
	t := Timings{Measured: []Measured{}, Stated: []string{}, Estimates: []string{}}
	var measured spec.Timings
	if f.Measured != nil {
		measured = f.Measured.Timings
	}
	for _, name := range model.TimingNames() {
		_, isMeasured := measured.Get(name.Name)
		_, isStated := f.Timings.Get(name.Name)
		switch {
		case isMeasured:
			t.Measured = append(t.Measured, Measured{name.Name, f.Measured.Samples[name.Name]})
		case isStated:
			t.Stated = append(t.Stated, name.Name)
		case name.Evidence == "estimate":
			t.Estimates = append(t.Estimates, name.Name)
		default:
			t.Published++
		}
	}
	return t
}
