package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/policy"
)

// outcome is what is kept of one run.
type outcome struct {
	seed  uint64
	ended bool
	why   string        // it didn't end
	took  time.Duration // from the first transition to the end, or to what there was of it

	peak       int           // nodes above those of the beginning, at most
	hours      time.Duration // of all nodes while the roll went on
	extra      time.Duration // of those above the number of the beginning
	blocks     []blocked
	unready    []unready
	workloads  []available
	nodes      []replaced
	violations []violation
}

// blocked is one thing that held up the roll.
type blocked struct {
	kind         string
	object       string
	held         time.Duration
	stops        bool
	text, remedy string
	nodes        []string // that waited, by name
	waits        int      // one after the other, whose sum it is
	pods         []string
	morePods     int
}

// least is the least time for which it has to hold up a run to be told of.
func (b *blocked) least() time.Duration {
	if b.kind == string(analysis.FindBudgetHeld) {
		return shortestHold
	}
	return shortestDelay
}

// unready is the pods of a workload that weren't running at the end, for one reason.
type unready struct {
	workload, reason, message string
	pods                      int
	pod                       string // one of them
	before                    bool   // all of them, before the roll
}

// available is how many pods of a workload were.
type available struct {
	workload    string
	replicas    int
	wanted      int // by a budget
	least       int
	below       time.Duration
	belowBudget time.Duration
}

// replaced is how a node of the beginning was replaced.
type replaced struct {
	name, group string
	from        time.Duration
	took, drain *time.Duration // nil: it didn't end
}

// violation is a rule that the run violated.
type violation struct {
	policy, rule string
	severity     policy.Severity
	text         string
}

// The least time for which a budget, and anything else, has to hold up a run to be told of: evictions that take turns are what
// budgets are for, and pods take some time to end.
const (
	shortestHold  = 10 * time.Second
	shortestDelay = time.Minute
)

// bounds are the first and the last moment of the rolls, on the tape.
func bounds(a *analysis.Analysis) (from, to time.Duration) {
	for i := range a.Rolls {
		if r := &a.Rolls[i]; i == 0 {
			from, to = r.Start.At, r.End.At
		} else {
			from, to = min(from, r.Start.At), max(to, r.End.At)
		}
	}
	return from, to
}

// capacity adds up nodes over the time of the roll.
func (o *outcome) capacity(a *analysis.Analysis, from, to time.Duration) {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	first := 0
	for i := range a.Nodes {
		n := &a.Nodes[i]
		if n.Joined == nil {
			first++
		} else {
			changes = append(changes, change{n.Joined.At, 1})
		}
		if n.Terminated != nil {
			changes = append(changes, change{n.Terminated.At, -1})
		}
	}
	slices.SortStableFunc(changes, func(x, y change) int { return int(min(max(x.at-y.at, -1), 1)) })
	now, since := first, from
	pass := func(at time.Duration) {
		at = min(max(at, from), to)
		o.hours += time.Duration(now) * (at - since)
		o.extra += time.Duration(max(now-first, 0)) * (at - since)
		since = at
	}
	for _, c := range changes {
		pass(c.at)
		now += c.by
		o.peak = max(o.peak, now-first)
	}
	pass(to)
}

// order notes how the nodes of the beginning were replaced, as the roll took them.
func (o *outcome) order(a *analysis.Analysis, from time.Duration) {
	for i := range a.Nodes {
		n := &a.Nodes[i]
		begun := n.Cordoned
		if n.DrainBegan != nil {
			begun = n.DrainBegan
		}
		if n.Role != analysis.RoleOld || begun == nil && n.Terminated == nil {
			continue
		}
		if begun == nil {
			begun = n.Terminated
		}
		r := replaced{name: n.Name, group: n.Group, from: begun.At - from}
		if n.Terminated != nil {
			took := n.Terminated.At - begun.At
			r.took = &took
		}
		if !n.DrainUnfinished {
			r.drain = n.Drain
		}
		o.nodes = append(o.nodes, r)
	}
	slices.SortStableFunc(o.nodes, func(x, y replaced) int { return int(min(max(x.from-y.from, -1), 1)) })
}

// heldBy are the findings that name what held up the roll, with how long each did.
var heldBy = map[analysis.FindingKind]analysis.WaitKind{
	analysis.FindBudgetHeld: analysis.WaitBudget, analysis.FindFinalizer: analysis.WaitFinalizer, analysis.FindVolume: analysis.WaitVolume,
	analysis.FindSlowGrace: analysis.WaitGrace, analysis.FindImagePull: analysis.WaitImagePull,
}

// held notes what held up the roll.
func (o *outcome) held(a *analysis.Analysis) {
	type key struct {
		kind   analysis.WaitKind
		object string
	}
	stops := map[key]bool{}
	nodes := map[key][]string{} // that waited
	for i := range a.Nodes {
		waited := map[key]bool{}
		for _, w := range a.Nodes[i].Waits {
			if of := (key{w.Kind, w.Object}); !waited[of] {
				waited[of] = true
				nodes[of] = append(nodes[of], a.Nodes[i].Name)
			}
			if w.Unfinished && !o.ended {
				stops[key{w.Kind, w.Object}] = true
			}
		}
	}
	waits := map[key]int{}
	for i := range a.Rolls {
		for _, step := range a.Rolls[i].Path {
			waits[key{step.Wait, step.Object}]++
		}
	}
	budgets := map[string]*analysis.Budget{}
	for i := range a.Budgets {
		budgets["PodDisruptionBudget/"+a.Budgets[i].Namespace+"/"+a.Budgets[i].Name] = &a.Budgets[i]
	}
	for i := range a.Findings {
		f := &a.Findings[i]
		wait, is := heldBy[f.Kind]
		if !is || f.Kind != analysis.FindBudgetHeld && !f.Delays {
			continue
		}
		b := blocked{kind: string(f.Kind), object: f.Object, held: f.Cost, stops: stops[key{wait, f.Object}], waits: waits[key{wait, f.Object}], text: f.Text, remedy: f.Remedy, pods: f.Pods, nodes: nodes[key{wait, f.Object}]}
		if f.Node != "" {
			b.nodes = []string{f.Node}
		}
		if of := budgets[f.Object]; of != nil && f.Kind == analysis.FindBudgetHeld {
			// After a roll that failed it holds on.
			b.held, b.nodes, b.morePods = min(of.Held, o.took), of.HeldNodes, of.MorePods
		}
		if b.held >= b.least() || b.stops {
			o.block(b)
		}
	}
}

// block adds what held up the roll: once for each object, however many groups or nodes waited for it.
func (o *outcome) block(b blocked) {
	i := slices.IndexFunc(o.blocks, func(x blocked) bool { return x.kind == b.kind && x.object == b.object })
	if i < 0 {
		o.blocks = append(o.blocks, b)
		return
	}
	is := &o.blocks[i]
	is.waits, is.stops = max(is.waits, b.waits), is.stops || b.stops
	for _, name := range b.nodes {
		if !slices.Contains(is.nodes, name) {
			is.nodes = append(is.nodes, name)
		}
	}
	if b.kind == disruptionBlocked {
		is.held = max(is.held, b.held) // each is as long as the tape
	} else {
		is.held += b.held
	}
}

// upgradeRefused is the kind of a block for which AKS refuses an upgrade before it begins.
const upgradeRefused = "upgrade-refused"

// refused notes the budget for which AKS refused the upgrade, of which no node shows anything.
func (o *outcome) refused() {
	of, is := strings.CutPrefix(o.why, "UnsatisfiablePDB: PDB ")
	budget, _, named := strings.Cut(of, " ")
	if !is || !named {
		return
	}
	o.block(blocked{
		kind: upgradeRefused, object: "PodDisruptionBudget/" + budget, stops: true, text: "AKS refuses an upgrade while PodDisruptionBudget " + budget + " has maxUnavailable 0",
		remedy: "give the budget a maxUnavailable of 1 or more for the upgrade",
	})
}

// disrupted notes what kept Karpenter from disrupting nodes, where the run doesn't end.
func (o *outcome) disrupted(all []blocked) {
	if o.ended {
		return
	}
	for _, b := range all {
		o.block(b)
	}
}

// pods notes which pods weren't running at the end, by workload and reason.
func (o *outcome) pods(all []analysis.Unready) {
	for i := range all {
		u := &all[i]
		at := slices.IndexFunc(o.unready, func(x unready) bool {
			return x.workload == u.Workload && x.reason == u.Reason && x.before == u.Before
		})
		if at < 0 {
			o.unready = append(o.unready, unready{workload: u.Workload, reason: u.Reason, message: u.Message, before: u.Before, pod: u.Namespace + "/" + u.Name})
			at = len(o.unready) - 1
		}
		o.unready[at].pods++
	}
}

// without leaves out what was noted of a workload.
func (o *outcome) without(workload string) {
	o.blocks = slices.DeleteFunc(o.blocks, func(b blocked) bool { return b.object == workload })
	o.unready = slices.DeleteFunc(o.unready, func(u unready) bool { return u.workload == workload })
}

// serves reports whether the pods of a kind are there to be available. Those of a DaemonSet come and go with their nodes.
func serves(kind string) bool {
	return kind != "DaemonSet" && kind != "Pod" && kind != "Job" && kind != "Node"
}

// available notes how many pods of each workload were available.
func (o *outcome) available(a *analysis.Analysis, wanted map[string]int) {
	for i := range a.Workloads {
		w := &a.Workloads[i]
		path := w.Kind + "/" + w.Namespace + "/" + w.Name
		if !serves(w.Kind) {
			continue
		}
		if w.Replicas == 0 {
			continue // none was ever available: WON'T RUN tells of it
		}
		v := available{workload: path, replicas: w.Replicas, wanted: w.Wanted, least: w.LeastAvailable, below: w.BelowReplicas, belowBudget: w.BelowWanted}
		if n := wanted[path]; n > v.replicas { // it never had all of them
			v.replicas, v.below = n, a.Tape.Duration
		}
		o.workloads = append(o.workloads, v)
	}
}
