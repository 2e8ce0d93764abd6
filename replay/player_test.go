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

	"github.com/nodesim/nodesim/timeline"
)

const roll = start + `
	0 MARK begin
	1 MODIFIED nodes a 60 spec.unschedulable=true
	1 MODIFIED pods default/p 61
	4 MARK middle
	4.5 GAP pods 61
	5 DELETED pods default/p -
	5.5 ADDED nodes c 70
	6 ADDED pods default/q 71
	6 SYNC pods 80
	100 SYNC nodes 81
	130 DELETED nodes a 90
	131 END`

func player(t testing.TB, lines string, opts ...PlayerOption) *Player {
	t.Helper()
	p, err := NewPlayer(Events(header(), tape(t, lines)), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// diary writes down what a player tells, each with the time since the start.
type diary struct {
	mu  sync.Mutex
	out []string
}

func keepDiary(p *Player) *diary {
	from := time.Now()
	d := &diary{}
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
func (d *diary) since(what string) string {
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
		d := keepDiary(p)
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "at 2x", d.since("MARK"), "MARK begin@0s moved@0s MODIFIED a@500ms MODIFIED p@500ms MARK middle@2s "+
			"GAP@2.25s DELETED p@2.5s ADDED c@2.75s ADDED q@3s SYNC@3s SYNC@50s DELETED a@1m5s END@1m5.5s ended@1m5.5s")
	})
}

func TestIdleLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, roll, IdleLimit(2*time.Second))
		d := keepDiary(p)
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
		d := keepDiary(p)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		time.Sleep(2 * time.Second)
		p.Pause()
		time.Sleep(time.Hour)
		if got := p.Position(); got != 2*time.Second {
			t.Errorf("paused at %s", got)
		}
		p.SetSpeed(4)
		p.Resume()
		time.Sleep(625 * time.Millisecond) // to 4.5s
		synctest.Wait()
		equal(t, "faster", d.since("paused"), "paused@2s speed@1h0m2s resumed@1h0m2s MARK middle@1h0m2.5s GAP@1h0m2.625s")
		if err := p.Run(ctx); err == nil {
			t.Error("a second Run began")
		}
		if err := p.Seek(ctx, 129*time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 4)
		synctest.Wait()
		equal(t, "sought", d.since("moved@1h0m2.625s"), "moved@1h0m2.625s DELETED a@1h0m2.875s")
		time.Sleep(time.Second)
		if s := p.Status(); !s.Ended || !s.Running || s.Event != 131*time.Second {
			t.Errorf("at the end: %+v", s)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestStep(t *testing.T) {
	p := player(t, roll)
	var got []string
	for {
		err := p.Step()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(p.Status().Number))
	}
	// The lists; MARK; two changes; MARK; c while pods are in a gap; the gap; SYNC; a; END.
	equal(t, "steps", strings.Join(got, " "), "5 6 7 8 9 12 14 15 16 17")
	equal(t, "markers", fmt.Sprint(p.Markers()), "[{begin 0s 6} {middle 4s 9}]")
}

func TestStartPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, roll, StartPaused(), IdleLimit(time.Second))
		d := keepDiary(p)
		done := make(chan error)
		go func() { done <- p.Run(t.Context()) }()
		time.Sleep(time.Minute)
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

// However long the tape, there are at most 16 keyframes.
func TestKeyframesAreBounded(t *testing.T) {
	lines := start
	for i := range 500 {
		lines += fmt.Sprintf("\n%d MODIFIED nodes a %d", i, 100+i)
	}
	p := player(t, lines)
	p.every = 1
	ctx := context.Background()
	if err := p.Seek(ctx, End); err != nil {
		t.Fatal(err)
	}
	if n := len(p.frames); n < maxKeyframes/2 || n > maxKeyframes {
		t.Errorf("%d keyframes", n)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		at := r.IntN(500)
		if err := p.Seek(ctx, time.Duration(at)*time.Second); err != nil {
			t.Fatal(err)
		}
		o, err := p.Cluster().Get(nodes, "", "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "version", recorded(o.ResourceVersion(), p.cluster.base), fmt.Sprint(100+at))
	}
}

func TestSeek(t *testing.T) {
	for _, every := range []int{0, 1, 3, 1024} {
		p := player(t, roll)
		p.every = every
		ctx := context.Background()
		at := func(to time.Duration, want string) {
			t.Helper()
			if err := p.Seek(ctx, to); err != nil {
				t.Fatal(err)
			}
			l, err := p.Cluster().List(pods, "", metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			n, err := p.Cluster().List(nodes, "", metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, fmt.Sprintf("keyframes every %d, at %s", every, to), showList(n)+" "+showList(l), want)
		}
		at(5500*time.Millisecond, "@70 a@60 b@20 c@70 @61 default/p@61")
		at(time.Second, "@160 a@160 b@120 @161 default/p@161")
		at(6*time.Second, "@170 a@160 b@120 c@170 @180 default/q@171")
		at(0, "@250 a@210 b@220 @251 default/p@230")
		at(End, "@290 b@220 c@270 @280 default/q@271")
		if got := p.Position(); got != 131*time.Second {
			t.Errorf("the end is at %s", got)
		}
	}
}

func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := player(t, "0 ADDED nodes a 5\n0 SYNC nodes 9\n1 MODIFIED nodes a 10\n2 DELETED nodes a 12", Loop(), From(time.Second))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		if err := p.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		// From 1s to 2s, twice, and a half.
		equal(t, "third time", list(t, p.Cluster(), nodes, "", metav1.ListOptions{}), "@210 a@210")
		if s := p.Status(); s.Rewinds != 2 || s.Position != 1500*time.Millisecond {
			t.Errorf("%+v", s)
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
				time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
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

func TestBadTapeEndsThePlayer(t *testing.T) {
	p := player(t, start+"\n1 MODIFIED nodes a 60\n2 MODIFIED nodes zz 61\n3 DELETED nodes a 62", WithSpeed(Max))
	err := p.Run(context.Background())
	equal(t, "error", fmt.Sprint(err), `event 7 at 2s: MODIFIED nodes "zz": is not alive: want its ADDED before`)
	equal(t, "state", list(t, p.Cluster(), nodes, "", metav1.ListOptions{}), "@60 a@60 b@20")
	if again := p.Step(); !errors.Is(again, err) {
		t.Errorf("Step: %v", again)
	}
	if err := p.Seek(context.Background(), 0); err != nil {
		t.Errorf("back before it: %v", err)
	}
}

func TestPartOfATape(t *testing.T) {
	p := player(t, roll, WithSpeed(Max), From(4*time.Second), To(6*time.Second))
	if err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := p.Status(); s.Event != 6*time.Second || s.Number != 14 {
		t.Errorf("%+v", s)
	}
	for _, opts := range [][]PlayerOption{{From(-1)}, {From(2), To(1)}, {WithSpeed(0)}, {WithSpeed(-1)}} {
		if _, err := NewPlayer(Events(header(), nil), opts...); err == nil {
			t.Errorf("option %v: no error", opts)
		}
	}
}

func TestSurvey(t *testing.T) {
	s, err := NewSurvey(context.Background(), Events(header(), tape(t, roll)))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "survey", fmt.Sprintf("%+v", s), "{Events:17 Duration:2m11s Markers:[{Name:begin At:0s Number:6} {Name:middle At:4s Number:9}] Gaps:1 Ended:true}")
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"20x": "20x", "0.5x": "0.5x", "3": "3x", "max": "max",
		"0":    `speed "0": want a factor such as 20x or 0.5x, between 0.001x and 1e+06x, or max`,
		"-1x":  `speed "-1x": want a factor such as 20x or 0.5x, between 0.001x and 1e+06x, or max`,
		"fast": `speed "fast": want a factor such as 20x or 0.5x, between 0.001x and 1e+06x, or max`,
		"NaN":  `speed "NaN": want a factor such as 20x or 0.5x, between 0.001x and 1e+06x, or max`,
	} {
		s, err := ParseSpeed(in)
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		equal(t, in, got, want)
	}
	for in, want := range map[string]string{
		"T+2m": "2m0s", "90s": "1m30s", "1m32.4s": "1m32.4s", "end": End.String(),
		"90":  `position "90": has no unit: want 90s for seconds, or such as T+2m, 1m32.4s, end`,
		"-3s": `position "-3s": lies before the tape: want T+0s or later`,
		"x":   `position "x": want a time on the tape such as T+2m, 90s, 1m32.4s, or end`,
	} {
		d, err := ParsePosition(in)
		got := d.String()
		if err != nil {
			got = err.Error()
		}
		equal(t, in, got, want)
	}
}

var _ Stream = (*timeline.Reader)(nil)
