package cycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// trial is a random cluster with random options, all of whose predicates are tables.
type trial struct {
	cluster        cycle.Cluster
	options        cycle.Options
	unready, fixed map[cycle.InstanceID]bool
	rank           map[cycle.InstanceID]int
}

func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

func randomTrial(rnd *rand.Rand) trial {
	t := trial{unready: map[cycle.InstanceID]bool{}, fixed: map[cycle.InstanceID]bool{}, rank: map[cycle.InstanceID]int{}}
	t.cluster = cycle.Cluster{ID: "c", Config: "config-2"}
	for i := range rnd.IntN(13) {
		id := cycle.InstanceID(fmt.Sprintf("i-%02d", i))
		instance := cycle.Instance{
			ID: id, Config: pick[cycle.ConfigID](rnd, "config-0", "config-1", "config-2", "config-2"),
			State: pick(rnd, cycle.Starting, cycle.Started, cycle.Started, cycle.Started, cycle.Started, cycle.Draining,
				cycle.Drained, cycle.Terminating, cycle.Terminated, cycle.Unhealthy, "hibernating"),
			CreatedAt: noon.Add(time.Duration(rnd.IntN(6)-4) * time.Minute),
			UpdatedAt: noon.Add(time.Duration(rnd.IntN(6)-4) * time.Minute),
		}
		if rnd.IntN(6) == 0 {
			instance.UpdatedAt = time.Time{}
		}
		t.cluster.Instances = append(t.cluster.Instances, instance)
		t.unready[id], t.fixed[id], t.rank[id] = rnd.IntN(4) == 0, rnd.IntN(5) == 0, rnd.IntN(2)
	}
	limit := func() cycle.Limit {
		if rnd.IntN(2) == 0 {
			return cycle.Limit{}
		}
		return cycle.AtMost(rnd.IntN(4))
	}
	target := rnd.IntN(9)
	t.options = cycle.Options{
		Now: noon, TargetSize: target, MinSize: rnd.IntN(target + 1), MaxSize: pick(rnd, 0, target+rnd.IntN(5)),
		MaxUnavailable: limit(), MaxSurge: limit(), MaxDraining: limit(), FailureBudget: limit(),
		StartTimeout: pick(rnd, 0, 2*time.Minute), DrainTimeout: pick(rnd, 0, 2*time.Minute),
		Mode: pick(rnd, cycle.Roll, cycle.Roll, cycle.Roll, cycle.Roll, cycle.Pause, cycle.Abort),
		From: pick[cycle.ConfigID](rnd, "config-0", "config-1"),
	}
	if rnd.IntN(2) == 0 {
		t.options.Ready = func(id cycle.InstanceID) bool { return !t.unready[id] }
	}
	if rnd.IntN(2) == 0 {
		t.options.MayDrain = func(id cycle.InstanceID) (bool, string) { return !t.fixed[id], "fixed" }
	}
	if rnd.IntN(2) == 0 {
		t.options.Rank = func(id cycle.InstanceID) int { return t.rank[id] }
	}
	return t
}

// naivePlan does what Plan promises in the plainest way: one instance after the other, each time from the whole list.
type naivePlan struct {
	trial
	drained map[cycle.InstanceID]bool
}

func (w *naivePlan) ready(i cycle.Instance) bool {
	return i.State == cycle.Started && (w.options.Ready == nil || w.options.Ready(i.ID))
}

func (w *naivePlan) failed(i cycle.Instance) bool {
	timeout, now := w.options.StartTimeout, w.options.Now
	switch {
	case i.State == cycle.Unhealthy:
		return true
	case timeout == 0:
		return false
	case i.State == cycle.Starting:
		return !now.Before(i.CreatedAt.Add(timeout))
	case i.State == cycle.Started && !w.ready(i):
		return !now.Before(i.CreatedAt.Add(timeout)) && !now.Before(i.UpdatedAt.Add(timeout))
	}
	return false
}

// outdated is what this plan is to replace.
func (w *naivePlan) outdated(i cycle.Instance) bool {
	return i.Config != w.cluster.Config && w.options.Mode != cycle.Abort
}

func (w *naivePlan) count(of func(cycle.Instance) bool) (n int) {
	for _, i := range w.cluster.Instances {
		if of(i) {
			n++
		}
	}
	return n
}

func (w *naivePlan) alive() int {
	return w.count(func(i cycle.Instance) bool {
		return !w.outdated(i) && !w.failed(i) && (i.State == cycle.Starting || i.State == cycle.Started)
	})
}

func (w *naivePlan) listed() int {
	return w.count(func(i cycle.Instance) bool { return i.State != cycle.Terminated })
}

func (w *naivePlan) serving() int {
	return w.count(func(i cycle.Instance) bool { return w.ready(i) && !w.drained[i.ID] })
}

func (w *naivePlan) floor() int {
	floor := w.options.MinSize
	if n, ok := w.options.MaxUnavailable.Get(); ok {
		floor = max(floor, w.options.TargetSize-n)
	}
	return floor
}

func (w *naivePlan) ceiling() int {
	ceiling := 1000
	if w.options.MaxSize > 0 {
		ceiling = w.options.MaxSize
	}
	if n, ok := w.options.MaxSurge.Get(); ok {
		ceiling = min(ceiling, w.options.TargetSize+n)
	}
	return ceiling
}

func (w *naivePlan) overBudget() bool {
	n, ok := w.options.FailureBudget.Get()
	return ok && w.options.Mode != cycle.Abort && n < w.count(func(i cycle.Instance) bool {
		return i.Config == w.cluster.Config && w.failed(i)
	})
}

// starts adds one instance at a time for as long as one is missing and there is room.
func (w *naivePlan) starts() (n int) {
	for w.options.Mode == cycle.Roll && !w.overBudget() && w.alive()+n < w.options.TargetSize && w.listed()+n < w.ceiling() {
		n++
	}
	return n
}

// before compares by one rule after the other.
func (w *naivePlan) before(a, b cycle.Instance) bool {
	if w.options.Rank != nil && w.options.Rank(a.ID) != w.options.Rank(b.ID) {
		return w.options.Rank(a.ID) < w.options.Rank(b.ID)
	}
	if w.ready(a) != w.ready(b) {
		return !w.ready(a)
	}
	first := func(i cycle.Instance) bool {
		if w.outdated(i) {
			return i.Config != w.options.From
		}
		return i.Config == w.cluster.Config
	}
	if first(a) != first(b) {
		return first(a)
	}
	if !a.CreatedAt.Equal(b.CreatedAt) {
		return a.CreatedAt.Before(b.CreatedAt)
	}
	return a.ID < b.ID
}

// drains takes the best candidate of all, again and again.
func (w *naivePlan) drains() (ids []cycle.InstanceID) {
	w.drained = map[cycle.InstanceID]bool{}
	if w.options.Mode == cycle.Pause || w.overBudget() {
		return nil
	}
	old := func(i cycle.Instance) bool { return i.State == cycle.Started && w.outdated(i) }
	wanted := func(i cycle.Instance) bool { return i.State == cycle.Started && !w.outdated(i) && !w.failed(i) }
	candidates, most := old, 1000
	if w.count(old) == 0 {
		candidates = wanted
		starting := w.count(func(i cycle.Instance) bool {
			return i.State == cycle.Starting && !w.outdated(i) && !w.failed(i)
		})
		most = w.alive() - w.options.TargetSize - starting
	}
	draining := w.count(func(i cycle.Instance) bool {
		return i.State == cycle.Draining && (w.options.DrainTimeout == 0 || i.UpdatedAt.IsZero() ||
			noon.Before(i.UpdatedAt.Add(w.options.DrainTimeout)) || noon.Before(i.CreatedAt.Add(w.options.DrainTimeout)))
	})
	for len(ids) < most {
		if n, ok := w.options.MaxDraining.Get(); ok && draining+len(ids) >= n {
			break
		}
		var best *cycle.Instance
		for n := range w.cluster.Instances {
			i := w.cluster.Instances[n]
			if !candidates(i) || w.drained[i.ID] || w.ready(i) && w.serving() <= w.floor() {
				continue
			}
			if w.options.MayDrain != nil {
				if ok, _ := w.options.MayDrain(i.ID); !ok {
					continue
				}
			}
			if best == nil || w.before(i, *best) {
				best = &i
			}
		}
		if best == nil {
			break
		}
		w.drained[best.ID] = true
		ids = append(ids, best.ID)
	}
	return ids
}

func TestPlanEqualsNaivePlan(t *testing.T) {
	var planned, started, drained, paused int
	for seed := range uint64(20_000) {
		trial := randomTrial(rand.New(rand.NewPCG(seed, 7)))
		decision, err := cycle.Plan(trial.cluster, trial.options)
		w := &naivePlan{trial: trial}
		impossible := trial.options.Mode == cycle.Roll && !w.overBudget() && w.floor() == w.ceiling() &&
			w.alive() < w.floor() && w.count(func(i cycle.Instance) bool { return w.ready(i) && w.outdated(i) }) > 0
		if (err != nil) != impossible {
			t.Fatalf("seed %d: error %v, impossible %v", seed, err, impossible)
		}
		if err != nil {
			continue
		}
		planned++
		start, _ := decision.Step(cycle.Start, "")
		if want := w.starts(); start.Count != want {
			t.Fatalf("seed %d: %v\nstarts %d, want %d\n%+v", seed, decision, start.Count, want, trial.cluster)
		}
		drain, _ := decision.Step(cycle.Drain, "")
		if want := w.drains(); !slices.Equal(drain.IDs(), want) {
			t.Fatalf("seed %d: %v\ndrains %v, want %v\n%+v", seed, decision, drain.IDs(), want, trial.cluster)
		}
		started, drained = started+start.Count, drained+drain.Count
		if decision.Progress == cycle.Paused {
			paused++
		}
	}
	// The trials reach what they are about.
	if planned < 10_000 || started < 5_000 || drained < 5_000 || paused < 1_000 {
		t.Errorf("planned %d, started %d, drained %d, paused %d: want more of each", planned, started, drained, paused)
	}
}

// The same cluster gives the same bytes, in whatever order it lists its instances and however often it lists them.
func TestPlanIgnoresTheOrderOfTheList(t *testing.T) {
	for seed := range uint64(3_000) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		trial := randomTrial(rnd)
		want, wantErr := cycle.Plan(trial.cluster, trial.options)
		list := slices.Clone(trial.cluster.Instances)
		if len(list) > 0 && rnd.IntN(2) == 0 {
			list = append(list, list[rnd.IntN(len(list))])
		}
		rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		listed := slices.Clone(list)
		shuffled := trial.cluster
		shuffled.Instances = list
		got, gotErr := cycle.Plan(shuffled, trial.options)
		if text, wantText := fmt.Sprintf("%#v %v", got, gotErr), fmt.Sprintf("%#v %v", want, wantErr); text != wantText {
			t.Fatalf("seed %d:\n got %s\nwant %s", seed, text, wantText)
		}
		if !got.Equal(want) {
			t.Fatalf("seed %d: Equal says no to\n%v\n%v", seed, got, want)
		}
		if !slices.Equal(list, listed) {
			t.Fatalf("seed %d: Plan changed the list", seed)
		}
	}
}
