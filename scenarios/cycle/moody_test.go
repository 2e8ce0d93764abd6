package cycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
)

// moodyEnvironment is an environment of moods: it forgets orders, lets instances hang, fail or lose their readiness, and refuses
// drains. After settle it behaves, so that every roll must come to its end.
type moodyEnvironment struct {
	rnd     *rand.Rand
	now     time.Time
	born    int
	cluster cycle.Cluster
	ready   map[cycle.InstanceID]bool
	settle  int // ticks until it behaves
	broken  bool
}

func newMoodyEnvironment(rnd *rand.Rand) *moodyEnvironment {
	w := &moodyEnvironment{rnd: rnd, now: noon, ready: map[cycle.InstanceID]bool{}, settle: rnd.IntN(200)}
	w.cluster = cycle.Cluster{ID: "c", Config: "config-2"}
	for range rnd.IntN(12) {
		w.start(pick[cycle.ConfigID](rnd, "config-0", "config-0", "config-1", "config-2"))
		i := &w.cluster.Instances[len(w.cluster.Instances)-1]
		i.State = pick(rnd, cycle.Started, cycle.Started, cycle.Started, cycle.Starting, cycle.Draining, cycle.Drained,
			cycle.Terminating, cycle.Unhealthy)
		w.ready[i.ID] = rnd.IntN(5) > 0
		w.now = w.now.Add(time.Duration(rnd.IntN(20)) * time.Second)
	}
	return w
}

func (w *moodyEnvironment) start(config cycle.ConfigID) {
	w.born++
	w.cluster.Instances = append(w.cluster.Instances, cycle.Instance{
		ID: cycle.InstanceID(fmt.Sprintf("i-%05d", w.born)), State: cycle.Starting, Config: config,
		CreatedAt: w.now, UpdatedAt: w.now,
	})
}

func (w *moodyEnvironment) moody() bool { return w.settle > 0 && w.rnd.IntN(4) == 0 }

// tick lets time pass and each instance take its next step, or not.
func (w *moodyEnvironment) tick() {
	w.settle--
	w.now = w.now.Add(10 * time.Second)
	kept := w.cluster.Instances[:0]
	for _, i := range w.cluster.Instances {
		was := i.State
		switch {
		case w.moody(), w.rnd.IntN(2) == 0:
		case i.State == cycle.Starting && w.broken && i.Config == "config-2":
			i.State = pick(w.rnd, cycle.Starting, cycle.Started, cycle.Unhealthy) // never ready
		case i.State == cycle.Starting:
			i.State = cycle.Started
			if w.moody() {
				i.State = cycle.Unhealthy
			}
		case i.State == cycle.Started && !w.broken && w.ready[i.ID] && w.moody() && w.moody():
			w.ready[i.ID], i.UpdatedAt = false, w.now
		case i.State == cycle.Started && !w.ready[i.ID] && !(w.broken && i.Config == "config-2"):
			w.ready[i.ID], i.UpdatedAt = true, w.now
		case i.State == cycle.Draining:
			i.State = cycle.Drained
		case i.State == cycle.Terminating:
			continue
		}
		if i.State != was {
			i.UpdatedAt = w.now
		}
		kept = append(kept, i)
	}
	w.cluster.Instances = kept
	if w.settle > 0 {
		w.rnd.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
	}
}

func (w *moodyEnvironment) execute(steps []cycle.Step) {
	for _, s := range steps {
		if w.moody() {
			continue // the order is lost
		}
		if s.Kind == cycle.Start {
			for range s.Count {
				w.start(w.cluster.Config)
			}
		}
		for n := range w.cluster.Instances {
			i := &w.cluster.Instances[n]
			if s.Kind == cycle.Wait || !slices.Contains(s.IDs(), i.ID) || w.moody() {
				continue
			}
			i.UpdatedAt = w.now
			if i.State = cycle.Draining; s.Kind == cycle.Terminate {
				i.State = cycle.Terminating
			}
		}
	}
}

func (w *moodyEnvironment) serves(i cycle.Instance) bool {
	return i.State == cycle.Started && w.ready[i.ID]
}

// check holds one decision against what no decision may do, counting by hand.
func (w *moodyEnvironment) check(t *testing.T, d cycle.Decision, o cycle.Options) {
	t.Helper()
	find := func(id cycle.InstanceID) cycle.Instance {
		n := slices.IndexFunc(w.cluster.Instances, func(i cycle.Instance) bool { return i.ID == id })
		if n < 0 {
			t.Fatalf("%v\ntouches %s, which isn't there", d, id)
		}
		return w.cluster.Instances[n]
	}
	var serving, alive, draining int
	for _, i := range w.cluster.Instances {
		if w.serves(i) {
			serving++
		}
		if i.State == cycle.Draining {
			draining++
		}
		late := w.now.Sub(i.UpdatedAt) >= o.StartTimeout
		if i.Config == w.cluster.Config &&
			(w.serves(i) || i.State == cycle.Starting && w.now.Sub(i.CreatedAt) < o.StartTimeout || i.State == cycle.Started && !late) {
			alive++
		}
	}
	floor, ceiling := max(o.MinSize, o.TargetSize-orElse(o.MaxUnavailable, o.TargetSize)),
		o.TargetSize+orElse(o.MaxSurge, 1000)
	if o.MaxSize > 0 {
		ceiling = min(ceiling, o.MaxSize)
	}
	touched := map[cycle.InstanceID]bool{}
	left := serving
	for _, s := range d.Steps {
		switch s.Kind {
		case cycle.Start:
			if s.Count <= 0 || len(w.cluster.Instances)+s.Count > ceiling || alive+s.Count > o.TargetSize {
				t.Fatalf("%v\nstarts %d: %d listed of at most %d, %d alive of %d", d, s.Count, len(w.cluster.Instances),
					ceiling, alive, o.TargetSize)
			}
		case cycle.Drain:
			for _, id := range s.IDs() {
				if i := find(id); i.State != cycle.Started {
					t.Fatalf("%v\ndrains %s, which is %s", d, id, i.State)
				} else if w.serves(i) {
					left--
				}
				if ok, _ := o.MayDrain(id); !ok {
					t.Fatalf("%v\ndrains %s, which may not be drained", d, id)
				}
			}
			if left < min(floor, serving) {
				t.Fatalf("%v\n%d of %d serve after the drains, want at least %d", d, left, serving, floor)
			}
			if n := orElse(o.MaxDraining, 1000); s.Count+draining > max(n, draining) {
				// Drains that time out in the same decision make room.
				if over, _ := d.Step(cycle.Terminate, ""); s.Count+draining-over.Count > n {
					t.Fatalf("%v\n%d drain and %d more, want at most %d", d, draining, s.Count, n)
				}
			}
		case cycle.Terminate:
			for _, id := range s.IDs() {
				if w.serves(find(id)) {
					t.Fatalf("%v\nterminates %s, which serves", d, id)
				}
			}
		case cycle.Wait:
			for _, id := range s.IDs() {
				find(id)
			}
		}
		for _, id := range s.IDs() {
			if touched[id] {
				t.Fatalf("%v\ntouches %s twice", d, id)
			}
			touched[id] = true
		}
	}
	if (d.Progress == cycle.Working) != (len(d.Steps) > 0 || !d.Again.IsZero()) && d.Progress != cycle.Paused {
		t.Fatalf("%v\nis %s with %d steps, again at %v", d, d.Progress, len(d.Steps), d.Again)
	}
	if d.Progress == cycle.Stuck && len(d.Blockers) == 0 {
		t.Fatalf("%v\nis stuck for no reason", d)
	}
}

func orElse(l cycle.Limit, n int) int {
	if bound, ok := l.Get(); ok {
		return bound
	}
	return n
}

// randomBounds have room for a roll: one fewer or one more.
func randomBounds(rnd *rand.Rand) cycle.Options {
	target := rnd.IntN(9)
	o := cycle.Options{TargetSize: target, StartTimeout: 5 * time.Minute, DrainTimeout: 3 * time.Minute}
	if rnd.IntN(2) == 0 && target > 0 {
		o.MaxUnavailable, o.MaxSurge = cycle.AtMost(1+rnd.IntN(3)), cycle.AtMost(rnd.IntN(3))
	} else {
		o.MinSize, o.MaxSize = rnd.IntN(target+1), target+1+rnd.IntN(4)
	}
	if rnd.IntN(3) == 0 {
		o.MaxDraining = cycle.AtMost(1 + rnd.IntN(2))
	}
	return o
}

const ticks = 3_000

// play rolls a world until its decision is one of those, and checks every decision on the way.
func play(t *testing.T, w *moodyEnvironment, o cycle.Options, end ...cycle.Progress) cycle.Decision {
	t.Helper()
	o.Ready = func(id cycle.InstanceID) bool { return w.ready[id] }
	for range ticks {
		refused := w.rnd.IntN(3)
		o.MayDrain = func(id cycle.InstanceID) (bool, string) {
			return w.settle <= 0 || int(id[len(id)-1])%3 != refused, "not now"
		}
		o.Now = w.now
		d, err := cycle.Plan(w.cluster, o)
		if err != nil {
			t.Fatal(err)
		}
		w.check(t, d, o)
		if slices.Contains(end, d.Progress) && (d.Progress == cycle.Finished || len(d.Steps) == 0) {
			return d
		}
		o.Failures = d.Failures
		w.execute(d.Steps)
		w.tick()
	}
	t.Fatalf("not %v after %d ticks", end, ticks)
	return cycle.Decision{}
}

func TestEveryRollEndsWithinItsBounds(t *testing.T) {
	for seed := range uint64(1_500) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			w, o := newMoodyEnvironment(rnd), randomBounds(rnd)
			play(t, w, o, cycle.Finished)
			if len(w.cluster.Instances) != o.TargetSize {
				t.Errorf("%d instances at the end, want %d", len(w.cluster.Instances), o.TargetSize)
			}
			for _, i := range w.cluster.Instances {
				if !w.serves(i) || i.Config != w.cluster.Config {
					t.Errorf("%s is %s of %s at the end", i.ID, i.State, i.Config)
				}
			}
		})
	}
}

// A config whose instances never serve costs no more than the floor, and ends in a pause. Taken back, the cluster comes
// to its target in the old config.
func TestBrokenConfigIsPausedAndRolledBack(t *testing.T) {
	for seed := range uint64(500) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			w, o := newMoodyEnvironment(rnd), randomBounds(rnd)
			o.TargetSize = max(o.TargetSize, 1)
			o.MaxSize = 0
			w.broken, w.settle = true, 0
			w.cluster.Instances = nil
			for range o.TargetSize {
				w.start("config-0")
				w.cluster.Instances[len(w.cluster.Instances)-1].State = cycle.Started
				w.ready[w.cluster.Instances[len(w.cluster.Instances)-1].ID] = true
			}
			o.FailureBudget = cycle.AtMost(rnd.IntN(4))
			d := play(t, w, o, cycle.Paused)
			budget, _ := o.FailureBudget.Get()
			if len(d.Failures) <= budget {
				t.Errorf("paused with %d failures, %d may", len(d.Failures), budget)
			}
			floor := max(o.MinSize, o.TargetSize-orElse(o.MaxUnavailable, o.TargetSize))
			if d.Census.Serving < floor {
				t.Errorf("%d serve in the pause, want at least %d", d.Census.Serving, floor)
			}
			w.cluster.Config, o.Failures = "config-0", nil
			play(t, w, o, cycle.Finished)
		})
	}
}
