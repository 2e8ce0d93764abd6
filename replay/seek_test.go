package replay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

func TestPartOfATape(t *testing.T) {
	p := player(t, roll, WithSpeed(Max), From(4*time.Second), To(6*time.Second))
	if err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := p.Status(); s.Event != 6*time.Second || s.Number != 14 {
		t.Errorf("%+v", s)
	}
	for _, opts := range [][]Option{{From(-1)}, {From(2), To(1)}, {WithSpeed(0)}, {WithSpeed(-1)}} {
		if _, err := NewPlayer(Events(header(), nil), opts...); err == nil {
			t.Errorf("option %v: no error", opts)
		}
	}
}
