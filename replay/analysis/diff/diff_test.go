package diff_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/analysis/diff"
)

func TestMain(m *testing.M) { golden.Main(m) }

// some is an analysis of random things, of which many happen in the same moment and take the same time.
func some(r *rand.Rand) *analysis.Analysis {
	times := []time.Duration{0, time.Second, time.Minute, 7 * time.Minute, time.Hour}
	d := func() time.Duration { return times[r.IntN(len(times))] }
	pointer := func() *time.Duration {
		if r.IntN(3) == 0 {
			return nil
		}
		v := d()
		return &v
	}
	moment := func() *analysis.Moment {
		if r.IntN(4) == 0 {
			return nil
		}
		return &analysis.Moment{At: d(), Line: 1 + r.IntN(9)}
	}
	word := func(words ...string) string { return words[r.IntN(len(words))] }
	a := &analysis.Analysis{Tape: analysis.About{Name: word("a", "b"), Duration: d(), Complete: r.IntN(2) == 0}}
	for range r.IntN(4) {
		a.Rolls = append(a.Rolls, analysis.Roll{
			Group: word("shop", "db", "", "x\x1b[1m"), Duration: d(), Outcome: analysis.Outcome(word("complete", "failed", "unfinished")),
			Replaced: r.IntN(3), Joined: r.IntN(3), Path: []analysis.Step{{Phase: analysis.PhaseDraining, Duration: d()}, {Wait: analysis.WaitGrace, Duration: d()}},
			Savings: []analysis.Saving{{Wait: analysis.WaitKind(word("budget", "grace")), Object: word("PodDisruptionBudget/shop/web", ""), Saves: d()}}[:r.IntN(2)],
		})
	}
	objects := []string{"PodDisruptionBudget/shop/web", "Pod/shop/web-1", ""}
	for i := range r.IntN(8) {
		n := analysis.Node{
			Name: fmt.Sprintf("node-%d", i), Group: word("shop", "db", "cache", ""), Role: analysis.Role(word("old", "new", "kept")),
			DrainBegan: moment(), Joined: moment(), Boot: pointer(), Join: pointer(), Drain: pointer(), Termination: pointer(), DrainUnfinished: r.IntN(9) == 0,
			Spans: []analysis.Span{{Phase: analysis.Phase(word("joining", "serving", "cordoned", "terminating")), To: analysis.Moment{At: d()}}}[:r.IntN(2)],
		}
		for range r.IntN(3) {
			n.Waits = append(n.Waits, analysis.Wait{Kind: analysis.WaitKind(word("budget", "grace")), Phase: analysis.Phase(word("draining", "joining")), Duration: d(), Object: word(objects...)})
		}
		a.Nodes = append(a.Nodes, n)
		objects = append(objects, "Node/"+n.Name)
	}
	for _, name := range []string{"web", "api"}[:r.IntN(3)] {
		a.Workloads = append(a.Workloads, analysis.Workload{Kind: "Deployment", Namespace: "shop", Name: name, Replicas: r.IntN(4), LeastAvailable: r.IntN(3), BelowWanted: d()})
		a.Budgets = append(a.Budgets, analysis.Budget{Namespace: "shop", Name: name, AtZero: d(), Held: d()})
	}
	for range r.IntN(5) {
		a.Findings = append(a.Findings, analysis.Finding{Kind: analysis.FindingKind(word("budget-held", "slow-grace", "slow-node")), Cost: d(), Delays: r.IntN(2) == 0, Object: word(objects...)})
	}
	return a
}

const trials = 300

func TestAnAnalysisDoesNotDifferFromItself(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range trials {
		a := some(r)
		if d := diff.Of(a, a); len(d.Rows) != 0 || d.Headline() != "no difference" {
			t.Fatalf("%+v differs from itself: %+v", a, d.Rows)
		}
	}
}

func TestSwappedSidesMirror(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range trials {
		a, b := some(r), some(r)
		got, want := diff.Of(b, a), diff.Of(a, b)
		if got.A != want.B || got.B != want.A {
			t.Fatalf("found sides %+v and %+v: want them swapped", got, want)
		}
		for i := range got.Rows {
			row := &got.Rows[i]
			row.A, row.B = row.B, row.A
			for j := range row.Why {
				row.Why[j].A, row.Why[j].B = row.Why[j].B, row.Why[j].A
			}
		}
		for i := range got.Pairs {
			p := &got.Pairs[i]
			p.A, p.B = p.B, p.A
		}
		if !reflect.DeepEqual(got.Pairs, want.Pairs) {
			t.Fatalf("found the pairs of B with A, swapped:\n%+v\nthose of A with B:\n%+v", got.Pairs, want.Pairs)
		}
		if !reflect.DeepEqual(got.Rows, want.Rows) {
			t.Fatalf("the comparison of B with A, swapped:\n%+v\nthat of A with B:\n%+v", got.Rows, want.Rows)
		}
	}
}

// TestPairsHaveAll wants each roll, node, workload and budget of both sides in one pair, and for each row the pair that it is about.
func TestPairsHaveAll(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range trials {
		a, b := some(r), some(r)
		d := diff.Of(a, b)
		type key struct {
			scope  diff.Scope
			object string
		}
		pairs, inA, inB := map[key]diff.Pair{}, map[diff.Scope]map[int]bool{}, map[diff.Scope]map[int]bool{}
		for _, p := range d.Pairs {
			if _, twice := pairs[key{p.Scope, p.Object}]; twice {
				t.Fatalf("found %s %s in two pairs: want one", p.Scope, p.Object)
			}
			pairs[key{p.Scope, p.Object}] = p
			for places, place := range map[*map[diff.Scope]map[int]bool]int{&inA: p.A, &inB: p.B} {
				if (*places)[p.Scope] == nil {
					(*places)[p.Scope] = map[int]bool{}
				}
				if place >= 0 && p.Scope != diff.ScopePhase && (*places)[p.Scope][place] { // a node may be the slowest of several phases
					t.Fatalf("found place %d of %s in two pairs: want one", place, p.Scope)
				}
				if place >= 0 {
					(*places)[p.Scope][place] = true
				}
			}
		}
		for side, found := range map[*analysis.Analysis]map[diff.Scope]map[int]bool{a: inA, b: inB} {
			for scope, want := range map[diff.Scope]int{
				diff.ScopeRoll: len(side.Rolls), diff.ScopeNode: len(side.Nodes), diff.ScopeWorkload: len(side.Workloads), diff.ScopeBudget: len(side.Budgets),
			} {
				if got := len(found[scope]); got != want {
					t.Fatalf("found %d places of %s in pairs: want %d", got, scope, want)
				}
			}
		}
		for _, row := range d.Rows {
			switch p, ok := pairs[key{row.Scope, row.Object}]; {
			case !ok:
				t.Fatalf("found a row of %s %s without its pair", row.Scope, row.Object)
			case row.A != nil && p.A < 0 || row.B != nil && p.B < 0:
				t.Fatalf("found the pair %+v of the row %+v: want both sides that the row has", p, row)
			case row.Scope == diff.ScopeNode && row.Measure == "draining" && row.A != nil && *row.A != (diff.Value{Unit: diff.UnitDuration, Duration: *a.Nodes[p.A].Drain}):
				t.Fatalf("found the node %+v for the row %+v: want the one that it is about", a.Nodes[p.A], row)
			}
		}
	}
}

// TestNamesOfNodesDoNotCount gives nodes other names, and with them another order among those of one moment.
func TestNamesOfNodesDoNotCount(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range trials {
		a := some(r)
		b := *a
		b.Nodes, b.Findings = slices.Clone(a.Nodes), slices.Clone(a.Findings)
		b.Findings = slices.DeleteFunc(b.Findings, func(f analysis.Finding) bool { return strings.HasPrefix(f.Object, "Node/") })
		a.Findings = b.Findings
		for i := range b.Nodes {
			b.Nodes[i].Name = fmt.Sprintf("other-%d", r.Uint32())
			for j := range b.Nodes[i].Waits {
				b.Nodes[i].Waits = slices.Clone(b.Nodes[i].Waits)
				b.Nodes[i].Waits[j].Object = ""
				a.Nodes[i].Waits[j].Object = ""
			}
		}
		r.Shuffle(len(b.Nodes), func(i, j int) {
			if b.Nodes[i].Group == b.Nodes[j].Group {
				b.Nodes[i], b.Nodes[j] = b.Nodes[j], b.Nodes[i]
			}
		})
		if d := diff.Of(a, &b); len(d.Rows) != 0 && sameOrder(a, &b) {
			t.Fatalf("other names make a difference: %+v", d.Rows)
		}
	}
}

// sameOrder reports whether groups appear in one order in both, by which those of other names are compared.
func sameOrder(a, b *analysis.Analysis) bool {
	groups := func(a *analysis.Analysis) (all []string) {
		for _, n := range a.Nodes {
			all = append(all, n.Group)
		}
		return all
	}
	return slices.Equal(groups(a), groups(b))
}

func minutes(n int) *time.Duration {
	d := time.Duration(n) * time.Minute
	return &d
}

// pair is a roll that a budget held up, and the same with nodes of other names whose drains were forced.
func pair() (a, b *analysis.Analysis) {
	at := func(n int) *analysis.Moment { return &analysis.Moment{At: *minutes(n), Line: 10 * n} }
	wait := analysis.Wait{Kind: analysis.WaitBudget, Phase: analysis.PhaseDraining, Duration: *minutes(9), Object: "PodDisruptionBudget/shop/web"}
	a = &analysis.Analysis{
		Tape: analysis.About{Name: "stuck", Duration: *minutes(20), Complete: true},
		Rolls: []analysis.Roll{{Group: "shop", Duration: *minutes(20), Outcome: analysis.Unfinished, Replaced: 1, Left: 1, Savings: []analysis.Saving{
			{Wait: analysis.WaitBudget, Object: wait.Object, Saves: wait.Duration},
		}}},
		Nodes: []analysis.Node{
			{Name: "ip-1", Group: "shop", Role: analysis.RoleOld, DrainBegan: at(9), Drain: minutes(10), DrainUnfinished: true, Waits: []analysis.Wait{wait}},
			{Name: "ip-2", Group: "shop", Role: analysis.RoleOld, DrainBegan: at(1), Drain: minutes(1)},
		},
		Workloads: []analysis.Workload{{Kind: "Deployment", Namespace: "shop", Name: "web", Replicas: 3, LeastAvailable: 3}},
		Budgets:   []analysis.Budget{{Namespace: "shop", Name: "web", Held: *minutes(9), HeldNodes: []string{"ip-1"}}},
		Findings:  []analysis.Finding{{Kind: analysis.FindBudgetHeld, Cost: *minutes(9), Delays: true, Object: wait.Object}},
	}
	b = &analysis.Analysis{
		Tape:  analysis.About{Name: "forced\x1b[31m", Duration: *minutes(20)},
		Rolls: []analysis.Roll{{Group: "shop", Duration: *minutes(8), Outcome: analysis.Complete, Replaced: 2}},
		Nodes: []analysis.Node{
			{Name: "ip-8", Group: "shop", Role: analysis.RoleOld, DrainBegan: at(1), Drain: minutes(1)},
			{Name: "ip-9", Group: "shop", Role: analysis.RoleOld, DrainBegan: at(3), Drain: minutes(3)},
		},
		Workloads: []analysis.Workload{{Kind: "Deployment", Namespace: "shop", Name: "web", Replicas: 3, LeastAvailable: 2}},
		Budgets:   []analysis.Budget{{Namespace: "shop", Name: "web"}},
	}
	return a, b
}

func TestTextAndJSON(t *testing.T) {
	d := diff.Of(pair())
	var b strings.Builder
	if err := d.Text(&b); err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "pair", b.String())
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "pair.json", text)
	if line, _, _ := strings.Cut(b.String(), "\n"); !strings.Contains(line, "PodDisruptionBudget/shop/web") {
		t.Errorf("the first line is %q: want it to name the budget", line)
	}
}

// TestARollIsExplainedByItsOwnWaits has a second roll, which is longer for its own reason.
func TestARollIsExplainedByItsOwnWaits(t *testing.T) {
	a, _ := pair()
	b, _ := pair()
	db := analysis.Roll{Group: "db", Duration: *minutes(5), Outcome: analysis.Complete}
	a.Rolls = append(a.Rolls, db)
	db.Duration += *minutes(3)
	db.Savings = []analysis.Saving{{Wait: analysis.WaitGrace, Object: "StatefulSet/db/db", Saves: *minutes(3)}}
	b.Rolls = append(b.Rolls, db)
	b.Rolls[0].Duration += *minutes(1)
	b.Rolls[0].Savings = []analysis.Saving{{Wait: analysis.WaitBudget, Object: "PodDisruptionBudget/shop/web", Saves: *minutes(10)}}
	why := map[string][]diff.Reason{}
	for _, r := range diff.Of(a, b).Rows {
		if r.Scope == diff.ScopeRoll && r.Measure == "duration" {
			why[r.Object] = r.Why
		}
	}
	want := map[string][]diff.Reason{
		"db":   {{Kind: "grace", Object: "StatefulSet/db/db", B: *minutes(3)}},
		"shop": {{Kind: "budget", Object: "PodDisruptionBudget/shop/web", A: *minutes(9), B: *minutes(10)}},
	}
	if !reflect.DeepEqual(why, want) {
		t.Errorf("found %+v: want %+v", why, want)
	}
}

// TestPhasesThatTheTapeCutsOff has a node that a budget keeps cordoned up to the tape's end, where in the other tape it is drained.
func TestPhasesThatTheTapeCutsOff(t *testing.T) {
	a, b := pair()
	n := &a.Nodes[0]
	n.DrainBegan, n.Drain, n.DrainUnfinished = nil, nil, false
	n.Cordoned = &analysis.Moment{At: *minutes(5)}
	n.Spans = []analysis.Span{
		{Phase: analysis.PhaseServing, To: *n.Cordoned},
		{Phase: analysis.PhaseCordoned, From: *n.Cordoned, To: analysis.Moment{At: *minutes(20)}},
	}
	n.Waits[0].Phase = analysis.PhaseCordoned
	b.Nodes[1].Cordon = minutes(2)
	rows := map[string]diff.Row{}
	for _, r := range diff.Of(a, b).Rows {
		rows[string(r.Scope)+": "+r.Object+": "+r.Measure] = r
	}
	why := []diff.Reason{{Kind: "budget", Object: "PodDisruptionBudget/shop/web", A: *minutes(9)}}
	for label, want := range map[string][2]string{
		"node: shop old 2: cordoned":              {"15m0s", "2m0s"},
		"node: shop old 2: unfinished":            {"cordoned", "-"},
		"phase: shop old, cordoned: longest":      {"15m0s", "2m0s"},
		"phase: shop old, cordoned: all together": {"15m0s", "2m0s"},
		"phase: shop old, cordoned: unfinished":   {"1", "-"},
	} {
		r, ok := rows[label]
		if !ok || r.A.String() != want[0] || r.B.String() != want[1] {
			t.Errorf("%s: found %+v (%t), %s and %s: want %v", label, r, ok, r.A, r.B, want)
		}
		if r.Measure != "unfinished" && !reflect.DeepEqual(r.Why, why) {
			t.Errorf("%s: found %+v: want %+v", label, r.Why, why)
		}
	}
}

// TestWhatDelaysIsNotWhatLasts has a budget that made a roll longer in one tape, and in the other one only held pods.
func TestWhatDelaysIsNotWhatLasts(t *testing.T) {
	a, _ := pair()
	b, _ := pair()
	b.Findings[0].Delays = false
	found := map[string][2]bool{}
	for _, r := range diff.Of(a, b).Rows {
		if r.Scope == diff.ScopeFinding {
			found[r.Measure] = [2]bool{r.A != nil, r.B != nil}
		}
	}
	if want := map[string][2]bool{"delays": {true, false}, "lasts": {false, true}}; !reflect.DeepEqual(found, want) {
		t.Errorf("found %v: want %v", found, want)
	}
}

func TestHeadlineOfARollOnOneSide(t *testing.T) {
	a, b := pair()
	b.Rolls = nil
	for got, want := range map[string]string{
		diff.Of(a, b).Headline(): "the roll of shop is only in A, and took 20m0s",
		diff.Of(b, a).Headline(): "the roll of shop is only in B, and took 20m0s",
	} {
		if got != want {
			t.Errorf("found %q: want %q", got, want)
		}
	}
}

// TestARollOfPodsHasTheNameOfItsScope has a roll of pods beside one of nodes without a group.
func TestARollOfPodsHasTheNameOfItsScope(t *testing.T) {
	a, b := pair()
	for i, side := range []*analysis.Analysis{a, b} {
		side.Rolls[0].Group = ""
		side.Rolls = append(side.Rolls, analysis.Roll{Pods: "app=web", Duration: *minutes(1 + i), Outcome: analysis.Complete})
	}
	labels := map[string]bool{}
	for _, r := range diff.Of(a, b).Rows {
		if r.Scope == diff.ScopeRoll {
			labels[r.Object] = true
		}
	}
	if !labels["pods app=web"] || !labels["(unnamed group)"] || len(labels) != 2 {
		t.Errorf("found rolls of %v: want those of the unnamed group and of pods app=web", labels)
	}
}

// TestAStaticPodHasThePlaceOfItsNode has static pods, whose names end in those of their nodes.
func TestAStaticPodHasThePlaceOfItsNode(t *testing.T) {
	side := func(node string, lost int) *analysis.Analysis {
		return &analysis.Analysis{
			Nodes: []analysis.Node{{Name: node, Group: "shop", Role: analysis.RoleOld, DrainBegan: &analysis.Moment{At: *minutes(1), Line: 10}}},
			Workloads: []analysis.Workload{
				{Kind: "Pod", Namespace: "kube-system", Name: "kube-proxy-" + node, Replicas: 1},
				{Kind: "Deployment", Namespace: "shop", Name: "web", Lost: lost},
			},
			Findings: []analysis.Finding{{Kind: analysis.FindRestarts, Object: "Pod/kube-system/kube-proxy-" + node}},
		}
	}
	d := diff.Of(side("ip-1", 0), side("ip-9", 5))
	if len(d.Rows) != 1 || d.Rows[0].Scope != diff.ScopeWorkload || d.Rows[0].Measure != "lost" {
		t.Errorf("found %+v: want the lost pods alone", d.Rows)
	}
	if want := (diff.Pair{Scope: diff.ScopeWorkload, Object: "Pod/kube-system/kube-proxy of node shop old 1"}); !slices.Contains(d.Pairs, want) {
		t.Errorf("found %+v: want %+v", d.Pairs, want)
	}
}

func TestThreshold(t *testing.T) {
	forced, held := pair()
	forced, held = held, forced // now the held one comes second
	held.Rolls[0].Outcome = analysis.Complete
	for _, c := range []struct {
		threshold string
		above     int
	}{{"0s", 1}, {"12m", 0}, {"11m59s", 1}, {"149%", 1}, {"150%", 0}, {"0%", 1}, {"200%", 0}} {
		limit, err := diff.ParseThreshold(c.threshold)
		if err != nil {
			t.Fatal(err)
		}
		if got := diff.Of(forced, held).Above(limit); len(got) != c.above {
			t.Errorf("threshold %s: found %+v: want %d rows", limit, got, c.above)
		}
		if got := diff.Of(held, forced).Above(limit); len(got) != 0 {
			t.Errorf("threshold %s, shorter: found %+v: want nothing", limit, got)
		}
	}
	held.Rolls[0].Outcome = analysis.Failed
	limit, _ := diff.ParseThreshold("1h")
	if got := diff.Of(forced, held).Above(limit); len(got) != 1 || got[0].Measure != "outcome" {
		t.Errorf("a roll that fails: found %+v: want its outcome", got)
	}
	held.Rolls = nil
	if got := diff.Of(forced, held).Above(limit); len(got) == 0 {
		t.Error("a roll that isn't there: want it above every threshold")
	}
	for _, bad := range []string{"", "x", "-1s", "-1%", "NaN%", "1e99%", "5"} {
		if _, err := diff.ParseThreshold(bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}

func TestFailsSaysWhatIsWorse(t *testing.T) {
	limit, err := diff.ParseThreshold("1h")
	if err != nil {
		t.Fatal(err)
	}
	held, forced := pair()
	none := &analysis.Analysis{}
	for _, c := range []struct {
		a, b *analysis.Analysis
		want string
	}{
		{held, forced, ""},
		{forced, held, "roll of shop: it is complete in A and unfinished in B: want it as in A"},
		{forced, none, "roll of shop: it was complete in A and isn't in B: want it there as well"},
		{none, none, "nothing was compared: neither tape has a roll: want rolls in both"},
		{none, forced, "nothing was compared: A has no roll: want rolls in both"},
	} {
		got := ""
		if err := diff.Of(c.a, c.b).Fails(limit); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("found %q: want %q", got, c.want)
		}
	}
}
