package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
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

// Whoever is partitioned or ends, two recorders never make tapes at once, and one of them does again soon.
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
				e := &election{leases: server.of(name), name: "nodesim", identity: name, say: func(string) {}}
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
