package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
)

// eventLog is a log: it writes down what a player tells, each with the time since the start.
type eventLog struct {
	mu  sync.Mutex
	out []string
}

func keepEventLog(p *Player) *eventLog {
	from := time.Now()
	d := &eventLog{}
	p.Subscribe(func(n Note) {
		what := [...]string{"", "rewound", "moved", "paused", "resumed", "speed", "ended"}[n.Kind]
		if n.Kind == Applied {
			what = strings.TrimSpace(fmt.Sprintf("%s %s", n.Event.Type, n.Event.Name))
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.out = append(d.out, fmt.Sprintf("%s@%s", what, time.Since(from)))
	})
	return d
}

// since returns what was written from a word on.
func (d *eventLog) since(what string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, s := range d.out {
		if strings.HasPrefix(s, what) {
			return strings.Join(d.out[i:], " ")
		}
	}
	return strings.Join(d.out, " ")
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, roll, WithSpeed(2))
		d := keepEventLog(p)
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "at 2x", d.since("MARK"), "MARK begin@0s moved@0s MODIFIED a@500ms MODIFIED p@500ms MARK middle@2s "+
			"GAP@2.25s DELETED p@2.5s ADDED c@2.75s ADDED q@3s SYNC@3s SYNC@50s DELETED a@1m5s END@1m5.5s ended@1m5.5s")
	})
}

// With a fake clock of Kubernetes' own, stepped from event to event.
func TestFakeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake := testingclock.NewFakeClock(time.Unix(0, 0))
		p := player(t, roll, WithClock(fake), WithSpeed(0.5))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		for _, want := range []struct {
			step   time.Duration
			number int
		}{{0, 6}, {1999 * time.Millisecond, 6}, {time.Millisecond, 8}, {6 * time.Second, 9}, {time.Second, 10}} {
			fake.Step(want.step)
			synctest.Wait()
			if s := p.Status(); s.Number != want.number {
				t.Errorf("%s later: %d events, want %d", want.step, s.Number, want.number)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run, cancelled: %v", err)
		}
	})
}

func TestIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, roll, IdleLimit(2*time.Second))
		d := keepEventLog(p)
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "cut", d.since("MARK middle"), "MARK middle@3s GAP@3.5s DELETED p@4s ADDED c@4.5s ADDED q@5s SYNC@5s SYNC@7s DELETED a@7s END@8s ended@8s")
		m := p.TimeMap()
		for at, want := range map[time.Duration]time.Duration{
			0: 0, 3 * time.Second: 3 * time.Second, 4 * time.Second: 3 * time.Second, 50 * time.Second: 7 * time.Second,
			130 * time.Second: 7 * time.Second, 131 * time.Second: 8 * time.Second,
		} {
			if got := m.Shown(at); got != want {
				t.Errorf("%s is shown at %s, want %s", at, got, want)
			}
			if back := m.Tape(want); m.Shown(back) != want {
				t.Errorf("%s shows %s, which is shown at %s", want, back, m.Shown(back))
			}
		}
	})
}

func TestCommandsWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, roll, StayOpen())
		d := keepEventLog(p)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		<-time.After(2 * time.Second)
		p.Pause()
		<-time.After(time.Hour)
		if got := p.Position(); got != 2*time.Second {
			t.Errorf("paused at %s", got)
		}
		p.SetSpeed(4)
		p.Resume()
		<-time.After(625 * time.Millisecond) // to 4.5s
		synctest.Wait()
		equal(t, "faster", d.since("paused"), "paused@2s speed@1h0m2s resumed@1h0m2s MARK middle@1h0m2.5s GAP@1h0m2.625s")
		if err := p.Run(ctx); err == nil {
			t.Error("a second Run began")
		}
		if err := p.Seek(ctx, 129*time.Second); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second / 4)
		synctest.Wait()
		equal(t, "sought", d.since("moved@1h0m2.625s"), "moved@1h0m2.625s DELETED a@1h0m2.875s")
		<-time.After(time.Second)
		if s := p.Status(); !s.Ended || !s.Running || s.Event != 131*time.Second {
			t.Errorf("at the end: %+v", s)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestStartPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, roll, StartPaused(), IdleLimit(time.Second))
		d := keepEventLog(p)
		done := make(chan error)
		go func() { done <- p.Run(t.Context()) }()
		<-time.After(time.Minute)
		if s := p.Status(); !s.Paused || s.Position != 0 || !s.Running {
			t.Errorf("%+v", s)
		}
		for range 2 { // a, p
			if err := p.Step(); err != nil {
				t.Error(err)
			}
		}
		p.Resume()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		equal(t, "from the step on", d.since("resumed"), "resumed@1m0s MARK middle@1m1s GAP@1m1.5s DELETED p@1m2s ADDED c@1m2.5s ADDED q@1m3s SYNC@1m3s SYNC@1m4s DELETED a@1m4s END@1m5s ended@1m5s")
		m := p.TimeMap()
		if at := m.Wall(131 * time.Second); !at.Equal(time.Now()) {
			t.Errorf("the end is shown at %s, it is %s", at, time.Now())
		}
	})
}

// However a tape is played, the same events come in the same order.
func TestPaceIsNotOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		lines := start
		at := 0.0
		for i := range 120 {
			at += float64(r.IntN(3)) * r.Float64()
			lines += fmt.Sprintf("\n%.3f MODIFIED nodes %c %d", at, 'a'+rune(r.IntN(2)), 100+i)
		}
		synctest.Test(t, func(t *testing.T) {
			p := player(t, lines, WithSpeed([]Speed{0.5, 1, 30, Max}[r.IntN(4)]), IdleLimit(time.Duration(r.IntN(3))*time.Second), StayOpen())
			p.every = 1 + r.IntN(50)
			want := tape(t, lines)
			next := 0
			p.Subscribe(func(n Note) {
				switch n.Kind {
				case Rewound:
					next = n.Number
				case Applied:
					if n.Number != next+1 || string(n.Event.Object) != string(want[next].Object) {
						t.Errorf("event %d after %d: %s", n.Number, next, n.Event.Object)
					}
					next = n.Number
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() { _ = p.Run(ctx); close(done) }()
			for range 40 {
				<-time.After(time.Duration(r.IntN(2000)) * time.Millisecond)
				var err error
				switch r.IntN(6) {
				case 0:
					p.Pause()
				case 1:
					p.Resume()
				case 2:
					p.SetSpeed(Speed(0.1 + 10*r.Float64()))
				case 3:
					err = p.Step()
				default:
					err = p.Seek(ctx, time.Duration(r.Float64()*at*float64(time.Second)))
				}
				if err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
			}
			if err := p.Seek(ctx, End); err != nil || next != len(want) {
				t.Errorf("at the end: %d events of %d, %v", next, len(want), err)
			}
			cancel()
			<-done
			twin := NewCluster(header())
			apply(t, twin, lines)
			l, err := p.Cluster().List(nodes, "", metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if base := p.cluster.base; base != "" {
				for i := range l.Items {
					l.Items[i] = l.Items[i].at(recorded(l.Items[i].version, base))
				}
				l.ResourceVersion = recorded(l.ResourceVersion, base)
			}
			equal(t, "end state", showList(l), list(t, twin, nodes, "", metav1.ListOptions{}))
		})
	}
}
