package loop_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
)

func TestCallsComeInOrder(t *testing.T) {
	type call struct {
		At  time.Duration
		Seq int
	}
	chance := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var l loop.Loop
		var want, got []call
		for seq := range 500 {
			c := call{time.Duration(chance.IntN(40)), seq}
			want = append(want, c)
			l.At(c.At, func() {
				if l.Now() != c.At {
					t.Fatalf("called at %d, want %d", l.Now(), c.At)
				}
				got = append(got, c)
			})
		}
		slices.SortStableFunc(want, func(a, b call) int { return int(a.At - b.At) })
		if err := l.Run(100); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
}

// Calls put calls in, as every component does: time never goes back.
func TestTimeNeverGoesBack(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		var l loop.Loop
		last, calls := time.Duration(0), 0
		var call func()
		call = func() {
			if l.Now() < last {
				t.Fatalf("called at %d behind %d", l.Now(), last)
			}
			last = l.Now()
			if calls++; calls < 60_000 {
				for range chance.IntN(3) {
					l.After(time.Duration(chance.IntN(1_000_000)), call)
				}
			}
		}
		for range 5000 {
			l.At(time.Duration(chance.IntN(1_000_000)), call)
		}
		if err := l.Run(1 << 40); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunEndsAtItsLimit(t *testing.T) {
	var l loop.Loop
	calls := 0
	var again func()
	again = func() { calls++; l.After(time.Second, again) }
	again()
	if err := l.Run(10 * time.Second); err != nil || calls != 11 || l.Now() != 10*time.Second {
		t.Errorf("%d calls up to %s (%v), want 11 up to 10s", calls, l.Now(), err)
	}
}

func TestTimersAreCalledOff(t *testing.T) {
	var l loop.Loop
	var got []string
	a := l.Timer(time.Second, func() { got = append(got, "a") })
	b := l.Timer(2*time.Second, func() { got = append(got, "b") })
	l.After(time.Second, b.Stop)
	if err := l.Run(time.Minute); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a"}, got); diff != "" || a.Pending() || b.Pending() {
		t.Error(diff, a.Pending(), b.Pending())
	}
}

func TestFailAndStopEndTheRun(t *testing.T) {
	var l loop.Loop
	wrong := errors.New("wrong")
	l.After(1, func() { l.Fail(wrong) })
	l.After(2, func() { t.Error("called behind Fail") })
	if err := l.Run(10); !errors.Is(err, wrong) {
		t.Error(err)
	}
	var s loop.Loop
	s.After(1, s.Stop)
	s.After(2, func() { t.Error("called behind Stop") })
	if err := s.Run(10); err != nil || s.Now() != 1 {
		t.Error(err, s.Now())
	}
}

func BenchmarkLoop(b *testing.B) {
	var l loop.Loop
	chance := rand.New(rand.NewPCG(1, 2))
	var again func()
	again = func() { l.After(time.Duration(chance.Uint64N(1e9)), again) }
	for range 100_000 {
		again()
	}
	b.ResetTimer()
	n := 0
	l.After(0, func() {})
	for n < b.N {
		if err := l.Run(l.Now() + time.Microsecond); err != nil {
			b.Fatal(err)
		}
		n += 100
	}
}
