package hunt_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/replay/policy"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// policies loads one that ships.
func policies(t testing.TB, name string) []*policy.Policy {
	t.Helper()
	p, err := policy.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return []*policy.Policy{p}
}

// options are a hunt's through the cases of a scenario.
func options(t testing.TB, scenario string, ps []*policy.Policy, cases uint64) hunt.Options {
	t.Helper()
	s, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	space := spaceOf(t, s)
	input, err := hunt.Input(space.File, s.Document.Parameters, space, ps)
	if err != nil {
		t.Fatal(err)
	}
	return hunt.Options{Space: space, Judge: hunt.Simulated(ps), Input: input, Seed: 7, Cases: cases, Parallel: 2}
}

func run(t testing.TB, o hunt.Options) *hunt.Result {
	t.Helper()
	r, err := hunt.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The invariants hold in all cases of surge, whatever goes wrong in them.
func TestNothingIsFound(t *testing.T) {
	r := run(t, options(t, "surge", nil, 60))
	if r.Found != nil || r.Tried != 60 {
		t.Fatalf("%+v", r.Found)
	}
	if len(r.Coverage.Cells) < 20 || len(r.Coverage.Never()) == 0 {
		t.Errorf("60 cases visited %d cells, and %d never", len(r.Coverage.Cells), len(r.Coverage.Never()))
	}
}

// What searches have found in the simulation: a container had the identity of the one before it where its machine booted soon after its
// start; and a pod whose image can't be pulled had another address after a boot, without a word of its sandbox.
func TestWhatWasFoundBefore(t *testing.T) {
	for _, name := range []string{"boots.yaml", "boots-waiting.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := hunt.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		o, err := hunt.Simulated(nil)(t.Context(), f)
		if err != nil || len(o.Failures) > 0 || o.Simulated < 4*time.Minute {
			t.Errorf("%s: %v in %s: %v", name, o.Failures, o.Simulated, err)
		}
	}
}

// What is found is the failing case with the lowest number, on one core and on several; the file that is made of it fails in the same way.
func TestWhatIsFound(t *testing.T) {
	ps := policies(t, "no-stuck-roll")
	o := options(t, "surge", ps, 200)
	r := run(t, o)
	if r.Found == nil {
		t.Fatal("no case breaks the policy")
	}
	o.Parallel = 1
	if diff := cmp.Diff(r, run(t, o)); diff != "" {
		t.Errorf("one core finds another result: %s", diff)
	}
	for n := range r.Found.Case {
		if out, err := o.Judge(t.Context(), o.Space.Case(o.Seed, n)); err != nil || len(out.Failures) > 0 {
			t.Errorf("case %d fails as well: %v %v", n, out.Failures, err)
		}
	}
	f, err := hunt.Read([]byte(r.Found.File))
	if err != nil {
		t.Fatal(err)
	}
	out, err := o.Judge(t.Context(), f)
	if err != nil || !slices.ContainsFunc(out.Failures, r.Found.Failure.Same) {
		t.Errorf("the small file breaks %v, want %v: %v", out.Failures, r.Found.Failure, err)
	}
	tried := o.Space.Case(o.Seed, r.Found.Case)
	if f.Nodes() > 2 || len(f.Faults) > 1 || f.Nodes() >= tried.Nodes() || len(f.Faults) >= len(tried.Faults) {
		t.Errorf("%s: want it smaller:\n%s", r.Found.Size, r.Found.File)
	}
}

// Who ends a search while a case is made small has it as small as it is by then.
func TestEndWhileMadeSmall(t *testing.T) {
	o := options(t, "surge", nil, 10)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Judge = func(context.Context, *spec.File) (out hunt.Outcome, err error) {
		out.Failures = []hunt.Failure{{Kind: hunt.OfTest, Text: "always"}}
		return out, nil
	}
	o.Progress = func(p hunt.Progress) {
		if p.Tries > 3 {
			cancel()
		}
	}
	r, err := hunt.Run(ctx, o)
	if err != nil || r.Found == nil || r.Found.File == "" || r.Found.Tries < 3 || r.Found.Tries > 8 {
		t.Errorf("%+v: %v", r, err)
	}
}

// A judge that only looks at the file is shrunk to what it looks at.
func TestSmall(t *testing.T) {
	o := options(t, "surge", nil, 1000)
	as := hunt.Failure{Kind: hunt.OfTest, Text: "a node vanishes"}
	o.Judge = func(_ context.Context, f *spec.File) (out hunt.Outcome, err error) {
		vanishes := slices.ContainsFunc(f.Faults, func(one spec.Fault) bool { return one.Vanish != nil })
		if vanishes && f.Nodes() > 2 && f.Roll != nil && f.Roll.Strategy == spec.StrategyPlain {
			out.Failures = []hunt.Failure{as}
		}
		return out, nil
	}
	r := run(t, o)
	if r.Found == nil {
		t.Fatal("no case has a node that vanishes, in a plain roll of three nodes")
	}
	f, err := hunt.Read([]byte(r.Found.File))
	if err != nil {
		t.Fatal(err)
	}
	if f.Nodes() != 3 || len(f.Workloads) != 0 || len(f.Faults) != 1 || f.Faults[0].Vanish.Nodes != 1 || f.Seed != 1 || f.Cluster.Jitter != 100 {
		t.Errorf("%s in %d tries, want three nodes and a fault:\n%s", r.Found.Size, r.Found.Tries, r.Found.File)
	}
}

// Shards find together what one search finds, and have tried what it tries.
func TestShardsAreTheWhole(t *testing.T) {
	for name, c := range map[string]struct {
		scenario string
		ps       []*policy.Policy
	}{"nothing": {"surge", nil}, "something": {"surge", policies(t, "no-stuck-roll")}, "of several providers": {"empty", nil}} {
		t.Run(name, func(t *testing.T) {
			o := options(t, c.scenario, c.ps, 40)
			one := run(t, o)
			var all []hunt.Result
			for shard := range 3 {
				o.Shard, o.Shards = shard, 3
				all = append(all, *run(t, o))
			}
			merged, err := hunt.Merge([]hunt.Result{all[2], all[0], all[1], all[0]})
			if err != nil {
				t.Fatal(err)
			}
			if one.Found == nil {
				if diff := cmp.Diff(one, merged); diff != "" {
					t.Error(diff)
				}
			} else if diff := cmp.Diff(one.Found, merged.Found); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A case that failed counts though the budget ended while one before it was tried. Without the first case nothing is known.
func TestABudgetThatCutsACaseOff(t *testing.T) {
	for fails, want := range map[bool]string{true: "", false: "found no time for the first case in the budget of 1m0s: want a longer one"} {
		synctest.Test(t, func(t *testing.T) {
			o := options(t, "surge", nil, 2)
			o.Budget = time.Minute
			o.Judge = func(ctx context.Context, f *spec.File) (out hunt.Outcome, err error) {
				if reflect.DeepEqual(f, o.Space.Case(o.Seed, 0)) {
					<-ctx.Done()
					return out, ctx.Err()
				}
				if fails {
					out.Failures = []hunt.Failure{{Kind: hunt.OfTest, Text: "always"}}
				}
				return out, nil
			}
			r, err := hunt.Run(t.Context(), o)
			switch {
			case err != nil:
				if err.Error() != want {
					t.Errorf("%v, want %q", err, want)
				}
			case want != "" || r.Found == nil || r.Found.Case != 1 || r.Tried != 1:
				t.Errorf("found %+v in %d cases, want case 1", r.Found, r.Tried)
			}
		})
	}
}

func TestMergeRefuses(t *testing.T) {
	o := options(t, "surge", nil, 6)
	o.Shards = 3
	a := *run(t, o)
	b := a
	b.Shard, b.Seed = 1, 8
	if _, err := hunt.Merge([]hunt.Result{a, b}); err == nil || err.Error() != "shard 1: found seed 8: want that of the others, 7" {
		t.Error(err)
	}
	b = a
	b.Tried--
	if _, err := hunt.Merge([]hunt.Result{a, b}); err == nil || err.Error() != "shard 0: found two results that differ: want one of each shard" {
		t.Error(err)
	}
	b.Shard = 2
	m, err := hunt.Merge([]hunt.Result{a, b})
	if err != nil || !slices.Equal(m.Lacks, []int{1}) || !slices.Equal(m.Unfinished, []int{2}) {
		t.Errorf("lacks %v, unfinished %v: %v", m.Lacks, m.Unfinished, err)
	}
	if _, err := hunt.ReadResults([]string{"-"}, strings.NewReader("hunt: 5 rolls\n{}\n")); err == nil {
		t.Error("a log without a result was read")
	}
}
