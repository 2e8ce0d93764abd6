package live

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// A minute of the scenario takes three seconds at 20x.
func TestPaceDividesBySpeed(t *testing.T) {
	c := clocktesting.NewFakeClock(noon)
	p := newPace(c, 20, 0)
	c.Step(time.Second)
	if at := p.now(); at != 20*time.Second {
		t.Errorf("after 1s of wall: at %s, want 20s", at)
	}
	if d := p.until(time.Minute).Truncate(time.Millisecond); d != 2*time.Second {
		t.Errorf("40s of the scenario take %s, want 2s", d)
	}
	if w := p.wall(40 * time.Second); !w.Equal(noon.Add(2 * time.Second)) {
		t.Errorf("40s is at %s, want noon and 2s", w)
	}
	if w := p.wall(-20 * time.Second); !w.Equal(noon.Add(-time.Second)) {
		t.Errorf("-20s is at %s, want a second before noon", w)
	}
}

// An hour in which the machine slept shifts the scenario; what was before stays where it was.
func TestPaceDoesNotMakeUpForSleep(t *testing.T) {
	c := clocktesting.NewFakeClock(noon)
	p := newPace(c, 1, 0)
	c.Step(time.Second)
	p.now()
	c.Step(time.Hour)
	if at := p.now(); at != time.Second+maxCatchUp {
		t.Errorf("after an hour of sleep: at %s, want %s", at, time.Second+maxCatchUp)
	}
	if p.lost != time.Hour-maxCatchUp {
		t.Errorf("lost %s, want %s", p.lost, time.Hour-maxCatchUp)
	}
	if w := p.wall(500 * time.Millisecond); !w.Equal(noon.Add(500 * time.Millisecond)) {
		t.Errorf("a moment before the sleep is at %s", w)
	}
	c.Step(time.Second)
	if w, at := p.wall(p.now()), c.Now(); !w.Equal(at) {
		t.Errorf("now is at %s of the wall, want %s", w, at)
	}
}

// What is due is as far away as it is now, and not as it was when the step began that has just ended.
func TestUntilCountsFromNow(t *testing.T) {
	c := clocktesting.NewFakeClock(noon)
	p := newPace(c, 20, 0)
	at := p.now() + 4*time.Second
	c.Step(150 * time.Millisecond)
	if left := p.until(at); left < 50*time.Millisecond || left > 51*time.Millisecond {
		t.Errorf("4 s at 20x are due in %s, 150 ms later, want 50 ms", left)
	}
	c.Step(time.Second)
	if left := p.until(at); left > time.Millisecond {
		t.Errorf("what is overdue is due in %s, want at once", left)
	}
}

// slowSimulation is a scenario that a request holds up.
type slowSimulation struct {
	simulation
	at    time.Duration
	takes func()
}

func (s *slowSimulation) Advance(to time.Duration) error { s.at = to; s.takes(); return nil }
func (s *slowSimulation) Now() time.Duration             { return s.at }
func (s *slowSimulation) Next() (time.Duration, bool)    { return 0, false }
func (s *slowSimulation) Outcomes() []string             { return nil }
func (s *slowSimulation) Ended() bool                    { return false }

// An eviction that the API server answers late holds the scenario up: a pod that was created meanwhile starts then, not
// before the eviction.
func TestStepThatIsHeldUp(t *testing.T) {
	for held, want := range map[time.Duration]time.Duration{maxCatchUp: 0, time.Minute: time.Minute} {
		c := clocktesting.NewFakeClock(noon)
		r := &run{
			Runner: &Runner{clock: c, tell: func(Progress) {}}, pace: newPace(c, 20, 0),
			sim: &slowSimulation{takes: func() { c.Step(held) }},
		}
		r.begun.Store(true)
		if _, _, err := r.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if is := r.pace.wall(r.sim.Now()).Sub(noon); is != want {
			t.Errorf("held up for %s: the scenario's present is %s after noon, want %s", held, is, want)
		}
		if r.pace.lost != want {
			t.Errorf("held up for %s: lost %s, want %s", held, r.pace.lost, want)
		}
		at := r.sim.Now()
		c.Step(time.Second)
		if next := r.pace.now(); next < at+20*time.Second {
			t.Errorf("held up for %s: a second later at %s, want at least %s", held, next, at+20*time.Second)
		}
	}
}

// dueSimulation is a scenario with something due each second, in which a request may hold it up.
type dueSimulation struct {
	simulation
	at    time.Duration
	holds func()
	acts  func(at time.Duration)
}

func (s *dueSimulation) Advance(to time.Duration) error {
	for next, _ := s.Next(); next <= to; next, _ = s.Next() {
		s.at = next
		s.acts(next)
		s.holds()
	}
	s.at = to
	return nil
}

func (s *dueSimulation) Now() time.Duration { return s.at }
func (s *dueSimulation) Next() (time.Duration, bool) {
	return s.at.Truncate(time.Second) + time.Second, true
}
func (s *dueSimulation) Outcomes() []string { return nil }
func (s *dueSimulation) Ended() bool        { return false }

// What an API server that stalls has made meanwhile is heard of, and acted on, after it was made: no actor writes a time that
// is before the creation of the object.
func TestTimesAfterStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, stalls := time.Now(), true
		s := &dueSimulation{holds: func() {
			if stalls && time.Since(begun) > 10*time.Second {
				stalls = false
				<-time.After(15 * time.Second) // an eviction
			}
		}}
		r := &run{Runner: &Runner{clock: clock.RealClock{}, tell: func(Progress) {}}, pace: newPace(clock.RealClock{}, 20, 0), sim: s}
		r.eventLoop = newEventLoop(r.clock)
		r.begun.Store(true)
		var created time.Time // of the object that was heard of last
		started := func(what string, at time.Duration) {
			if is := r.pace.wall(at); is.Before(created) {
				t.Errorf("%s %s after the beginning: %s before the creation", what, time.Since(begun), created.Sub(is))
			}
		}
		s.acts = func(at time.Duration) { started("an actor's write", at) }
		hear := func(made time.Time) {
			r.eventLoop.post(func() {
				created = made
				started("what is heard", s.at)
			})
		}
		r.eventLoop.post(func() { // a call that takes long, and what is heard meanwhile and later
			<-time.After(1500 * time.Millisecond)
			hear(time.Now())
		})
		go func() {
			for range 60 {
				hear(time.Now())
				<-time.After(700 * time.Millisecond)
			}
			r.eventLoop.post(func() { s.at = -1 })
		}()
		err := r.eventLoop.run(t.Context(), func() (time.Duration, bool, error) {
			if s.at < 0 {
				return 0, true, nil
			}
			return r.step(t.Context())
		})
		if err != nil || stalls || r.pace.lost < 10*time.Second {
			t.Errorf("%v, lost %s", err, r.pace.lost)
		}
	})
}

// Moments and walls grow together, whatever is lost.
func TestPaceNeverGoesBack(t *testing.T) {
	c := clocktesting.NewFakeClock(noon)
	p := newPace(c, 7, -time.Minute)
	last, wall := p.now(), time.Time{}
	for i := range 3 * maxRebases {
		c.Step(time.Duration(i%5) * maxCatchUp / 2)
		at := p.now()
		c.Step(time.Duration(i%7) * maxCatchUp / 4)
		p.reached(at)
		w := p.wall(at)
		if at < last || w.Before(wall) || w.After(c.Now()) {
			t.Fatalf("step %d: from %s to %s, wall from %s to %s, now %s", i, last, at, wall, w, c.Now())
		}
		last, wall = at, w
	}
	if len(p.rebases) > maxRebases {
		t.Errorf("%d bends are kept, want at most %d", len(p.rebases), maxRebases)
	}
}
