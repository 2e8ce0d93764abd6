package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fakeLeases keeps one Lease as an API server does, and may be away for some clients.
type fakeLeases struct {
	leases
	mu    sync.Mutex
	lease *coordinationv1.Lease
	rv    int
	away  map[string]bool
}

// of is the client of one of several recorders.
func (f *fakeLeases) of(identity string) leases { return &leasesOf{f, identity} }

type leasesOf struct {
	*fakeLeases
	identity string
}

var resource = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (l *leasesOf) begin(ctx context.Context) error {
	l.mu.Lock()
	if l.away[l.identity] {
		l.mu.Unlock()
		<-ctx.Done() // a partition
		l.mu.Lock()
		return ctx.Err()
	}
	return nil
}

func (l *leasesOf) Get(ctx context.Context, name string, _ metav1.GetOptions) (*coordinationv1.Lease, error) {
	err := l.begin(ctx)
	defer l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if l.lease == nil {
		return nil, apierrors.NewNotFound(resource, name)
	}
	return l.lease.DeepCopy(), nil
}

func (l *leasesOf) Create(ctx context.Context, x *coordinationv1.Lease, _ metav1.CreateOptions) (*coordinationv1.Lease, error) {
	err := l.begin(ctx)
	defer l.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case l.lease != nil:
		return nil, apierrors.NewAlreadyExists(resource, x.Name)
	}
	return l.keep(x), nil
}

func (l *leasesOf) Update(ctx context.Context, x *coordinationv1.Lease, _ metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	err := l.begin(ctx)
	defer l.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case x.ResourceVersion != l.lease.ResourceVersion:
		return nil, apierrors.NewConflict(resource, x.Name, errors.New("changed"))
	}
	return l.keep(x), nil
}

func (f *fakeLeases) keep(x *coordinationv1.Lease) *coordinationv1.Lease {
	f.rv++
	f.lease = x.DeepCopy()
	f.lease.ResourceVersion = strconv.Itoa(f.rv)
	return f.lease.DeepCopy()
}

// Whichever of them is partitioned or ends, two recorders never make tapes at once, and one of them does again soon.
func TestElection(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 15))
			server := &fakeLeases{away: map[string]bool{}}
			var all []*election
			ctx, cancel := context.WithCancel(t.Context())
			var owned sync.WaitGroup
			for i := range 3 {
				name := fmt.Sprint("recorder-", i)
				e := &election{leases: server.of(name), name: "nodesim", identity: name, able: func() bool { return true }, log: slog.New(slog.DiscardHandler)}
				all = append(all, e)
				<-time.After(time.Duration(rng.IntN(2000)) * time.Millisecond) // of the bubble
				owned.Go(func() { e.run(ctx) })
			}
			quiet := time.Duration(0)
			for range 2000 {
				<-time.After(100 * time.Millisecond)
				if rng.IntN(150) == 0 {
					server.mu.Lock()
					name := fmt.Sprint("recorder-", rng.IntN(3))
					server.away[name] = !server.away[name] && len(server.away) < 5
					server.mu.Unlock()
				}
				leading := 0
				for _, e := range all {
					if e.leads() {
						leading++
					}
				}
				if leading > 1 {
					t.Fatalf("seed %d: %d recorders make tapes at once", seed, leading)
				}
				server.mu.Lock()
				reachable := 0
				for _, e := range all {
					if !server.away[e.identity] {
						reachable++
					}
				}
				server.mu.Unlock()
				if quiet += 100 * time.Millisecond; leading == 1 || reachable < 3 {
					quiet = 0
				}
				if quiet > leaseTime+3*electEvery {
					t.Fatalf("seed %d: nobody makes tapes for %s", seed, quiet)
				}
			}
			server.mu.Lock()
			clear(server.away)
			server.mu.Unlock()
			<-time.After(leaseTime + 3*electEvery)
			cancel()
			owned.Wait()
			for _, e := range all {
				e.release(t.Context())
			}
			if holder := value(server.lease.Spec.HolderIdentity); holder != "" {
				t.Errorf("the lease is held by %q in the end, want it free", holder)
			}
		})
	}
}

// One that can't make tapes doesn't lead: the other one does, until it can't either. Both never do at once.
func TestOneThatCanLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &fakeLeases{away: map[string]bool{}}
		ctx, cancel := context.WithCancel(t.Context())
		var owned sync.WaitGroup
		var all [2]*election
		var able [2]atomic.Bool
		for i := range all {
			name := fmt.Sprint("recorder-", i)
			all[i] = &election{leases: server.of(name), name: "nodesim", identity: name, able: able[i].Load, log: slog.New(slog.DiscardHandler)}
			owned.Go(func() { all[i].run(ctx) })
		}
		after := func(what string, pass time.Duration, want ...bool) {
			t.Helper()
			for range pass / time.Second {
				<-time.After(time.Second) // of the bubble
				if all[0].leads() && all[1].leads() {
					t.Fatalf("%s: both make tapes", what)
				}
			}
			if got := []bool{all[0].leads(), all[1].leads()}; got[0] != want[0] || got[1] != want[1] {
				t.Errorf("%s: found %v that make tapes, want %v", what, got, want)
			}
		}
		after("neither can", time.Minute, false, false)
		able[0].Store(true)
		after("the first one can", 2*electEvery+time.Second, true, false)
		able[1].Store(true)
		after("both can", time.Minute, true, false)
		if all[0].covered() || !all[1].covered() {
			t.Error("want the second one alone to know that another one leads")
		}
		able[0].Store(false)
		after("the first one connects again", patience/2, true, false)
		able[0].Store(true)
		after("it can again", time.Minute, true, false)
		able[0].Store(false)
		after("it can't for long", patience+2*electEvery+time.Second, false, true)
		able[1].Store(false)
		after("neither can", patience+2*leaseTime, false, false)
		if all[0].covered() || all[1].covered() {
			t.Error("want neither to think that another one leads")
		}
		able[0].Store(true)
		after("the first one can again", 2*electEvery+time.Second, true, false)
		cancel()
		owned.Wait()
	})
}

// When the one that led was killed, a recorder that began in the middle of the roll lets the one take the lease that has all of it; it takes
// the lease itself where nobody else does.
func TestYoungRecorderComesLast(t *testing.T) {
	server := &fakeLeases{away: map[string]bool{}}
	recorder := func(name string, whole bool) *election {
		return &election{
			leases: server.of(name), name: "nodesim", identity: name, log: slog.New(slog.DiscardHandler),
			able: func() bool { return true }, whole: func() bool { return whole },
		}
	}
	killed, young, old := recorder("killed", true), recorder("young", false), recorder("old", true)
	begun := time.Now()
	turn := func(e *election, after time.Duration, want string) {
		t.Helper()
		if err := e.once(t.Context(), begun.Add(after)); err != nil {
			t.Fatal(err)
		}
		if holder := value(server.lease.Spec.HolderIdentity); holder != want {
			t.Errorf("after %s and a turn of %s: the lease is held by %q, want %q", after, e.identity, holder, want)
		}
	}
	turn(killed, 0, "killed")
	turn(young, time.Second, "killed")
	turn(old, 2*time.Second, "killed")
	turn(young, leaseTime+time.Second, "killed")
	turn(old, leaseTime+2*time.Second, "old")
	turn(young, leaseTime+3*time.Second, "old")
	// The other one is killed too.
	turn(young, 2*leaseTime+3*time.Second, "old")
	turn(young, 2*leaseTime+4*electEvery+3*time.Second, "young")
	turn(young, 2*leaseTime+5*electEvery+3*time.Second, "young")
}
