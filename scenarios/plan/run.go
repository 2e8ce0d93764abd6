package plan

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// stepOf is how far a run goes before the context is looked at.
const stepOf = 10 * time.Minute

// rehearsal is a file that is run with one seed after another.
type rehearsal struct {
	file     *scenarios.File
	policies []*policy.Policy
	rolls    int            // that have to end
	wanted   map[string]int // replicas by workload, Kind/namespace/name
}

func newRehearsal(f *scenarios.File, policies []*policy.Policy) (*rehearsal, error) {
	whole, err := f.Split()
	if err != nil {
		return nil, fmt.Errorf("plan: scenario %s: %w", f.Metadata.Name, err)
	}
	r := &rehearsal{file: f, policies: policies, rolls: len(whole.Roll.Groups), wanted: map[string]int{}}
	for i := range whole.Workloads {
		w := &whole.Workloads[i]
		r.wanted[string(w.Kind)+"/"+w.Namespace+"/"+w.Name] = w.Replicas
	}
	return r, nil
}

// run simulates the roll with a seed.
func (r *rehearsal) run(ctx context.Context, seed uint64) (*outcome, error) {
	f := *r.file
	f.Seed = seed
	h := f.Header()
	watched, err := observe.OptionsFor(&h, "", "", "")
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	watched.Pool, watched.Selector = "", nil // the nodes that others add count as well
	series := slices.ContainsFunc(r.policies, (*policy.Policy).NeedsSeries)
	fold, err := analysis.NewFold(&h, analysis.Options{Options: watched, Series: series})
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	refused := disruptions{}
	reading := newRelay(func(ev timeline.Event) error {
		refused.take(&ev)
		return fold.Add(ev)
	})
	defer func() { _ = reading.close() }() // it ends; without another error it is closed below
	sim, err := f.Simulate(reading.add)
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	for ended := false; !ended; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if ended, err = sim.Step(stepOf); err != nil {
			return nil, err
		}
	}
	a, err := finish(reading, fold)
	if err != nil {
		return nil, fmt.Errorf("plan: seed %d: %w", seed, err)
	}
	o := r.outcome(seed, a, sim.Outcomes())
	o.disrupted(refused.blocks(a, r))
	o.pods(fold.Unready())
	return o, nil
}

func finish(reading *relay, fold *analysis.Fold) (*analysis.Analysis, error) {
	if err := reading.close(); err != nil {
		return nil, err
	}
	return fold.Finish()
}

// outcome gathers what is kept of a run.
func (r *rehearsal) outcome(seed uint64, a *analysis.Analysis, rolls []string) *outcome {
	o := &outcome{seed: seed}
	from, to := bounds(a)
	o.took = to - from
	switch failed := slices.IndexFunc(rolls, func(why string) bool { return why != "" }); {
	case failed >= 0:
		o.why = rolls[failed]
	case len(rolls) < r.rolls:
		o.why = fmt.Sprintf("it isn't over at the time limit, %s", short(r.file.TimeLimit))
	default:
		o.ended = true
	}
	o.capacity(a, from, to)
	o.order(a, from)
	o.held(a)
	o.refused()
	o.available(a, r.wanted)
	for _, p := range r.policies {
		res := p.Check(a)
		for i := range res.Rules {
			if rule := &res.Rules[i]; len(rule.Violations) > 0 {
				o.violations = append(o.violations, violation{res.Policy, rule.Rule, rule.Severity, rule.Violations[0].String()})
			}
		}
	}
	return o
}

// disruptions are what Karpenter says last of each node that it may not disrupt: it cordons none of these, so that the analysis of
// nodes shows nothing of it (pkg/controllers/disruption/events of kubernetes-sigs/karpenter, Blocked).
type disruptions map[string]string

func (d disruptions) take(ev *timeline.Event) {
	if ev.Resource != "events" || ev.Object == nil || !bytes.Contains(ev.Object, []byte(`"DisruptionBlocked"`)) {
		return
	}
	of := rawjson.Get(ev.Object, "involvedObject")
	if rawjson.Text(of, "kind") == "Node" {
		d[rawjson.Text(of, "name")] = rawjson.Text(ev.Object, "message")
	}
}

// remedies of what Karpenter says, by what its message has.
var karpenterRemedies = []struct{ has, remedy string }{
	{"do-not-disrupt", "take the annotation karpenter.sh/do-not-disrupt away for the roll, or give the NodePool a terminationGracePeriod"},
	{"multiple PDBs", "let one budget alone select each pod"},
	{"would schedule", "give a NodePool nodes on which the pod may run: of its labels, zones, taints and sizes"},
	{"Pdb prevents", "let the budget allow a disruption, or give its workload one replica more than the budget needs"},
}

// disruptionBlocked is the kind of a block of which Karpenter tells.
const disruptionBlocked = "disruption-blocked"

// blocks are those of nodes that are to be replaced and still there in the end: one for each node, by what is said of it.
func (d disruptions) blocks(a *analysis.Analysis, r *rehearsal) (all []blocked) {
	for i := range a.Nodes {
		n := &a.Nodes[i]
		why := d[n.Name]
		if why == "" || n.Joined != nil || n.Terminated != nil || n.Cordoned != nil {
			continue
		}
		b := blocked{kind: disruptionBlocked, object: r.objectIn(why), nodes: []string{n.Name}, stops: true, held: a.Tape.Duration, text: why}
		for _, r := range karpenterRemedies {
			if strings.Contains(why, r.has) {
				b.remedy = r.remedy
			}
		}
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b blocked) int { return strings.Compare(a.text, b.text) })
	return all
}

// objectIn is the object that a message names at its end, as "… (Pod=shop/web-1)", or as a pod that would not schedule: Kind/namespace/name,
// of a pod its workload's.
func (r *rehearsal) objectIn(message string) string {
	_, rest, ok := strings.Cut(message, "(")
	kind, name, named := strings.Cut(strings.TrimSuffix(rest, ")"), "=")
	if pod, is := strings.CutPrefix(message, "Not all pods would schedule, "); is {
		kind, ok = "Pod", true
		name, _, named = strings.Cut(pod, " => ")
	}
	if !ok || !named {
		return "Node"
	}
	namespace, pod, _ := strings.Cut(name, "/")
	owner, longest := "", 0
	for path := range r.wanted {
		of := strings.SplitN(path, "/", 3)
		if kind == "Pod" && of[1] == namespace && strings.HasPrefix(pod, of[2]+"-") && len(of[2]) > longest {
			owner, longest = path, len(of[2])
		}
	}
	if owner != "" {
		return owner
	}
	return kind + "/" + name
}
