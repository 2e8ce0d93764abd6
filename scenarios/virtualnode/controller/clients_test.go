package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Slow is a server that works at no more than perSecond requests of a kind in a second, all at once: the more there are, the
// longer each takes.
type slow struct {
	perSecond int

	mu             sync.Mutex
	inFlight, most int
	asked          int
}

// figures are how many requests there were, and how many at once at most.
func (s *slow) figures() (asked, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.most
}

// serve is one request.
func (s *slow) serve(ctx context.Context) error {
	s.mu.Lock()
	s.asked++
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	takes := time.Duration(s.inFlight) * time.Second / time.Duration(s.perSecond)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
	}()
	select {
	case <-time.After(takes):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type slowNodes struct {
	NodeClient
	*slow
}

func (c slowNodes) Create(ctx context.Context, node *corev1.Node, opts metav1.CreateOptions) (*corev1.Node, error) {
	if err := c.serve(ctx); err != nil {
		return nil, err
	}
	return c.NodeClient.Create(ctx, node, opts)
}

type slowLeases struct {
	LeaseClient
	*slow
}

func (c slowLeases) Update(ctx context.Context, lease *coordinationv1.Lease, opts metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	if err := c.serve(ctx); err != nil {
		return nil, err
	}
	return c.LeaseClient.Update(ctx, lease, opts)
}

// A fleet is many nodes on one slow server.
type fleet struct {
	creations, renewals *slow
	controllers         []*NodeController
	failed              atomic.Int32 // renewals
}

// run runs so many nodes with that limit.
func run(t *testing.T, nodes int, creations, renewals *slow, limit *RequestLimit) *fleet {
	f := newFixture(t)
	all := &fleet{creations: creations, renewals: renewals}
	leases := slowLeases{f.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), renewals}
	for i := range nodes {
		c, err := NewNodeController(f, node(fmt.Sprint("virtual-", i)), slowNodes{f.client.CoreV1().Nodes(), creations},
			WithNodeJitter(0), WithNodeEnableLeaseV1(leases, 0), WithNodeRequestLimit(limit),
			WithNodeLeaseErrorHandler(func(context.Context, error) error { all.failed.Add(1); return nil }))
		if err != nil {
			t.Fatal(err)
		}
		all.controllers = append(all.controllers, c)
		go func() { _ = c.Run(t.Context()) }()
	}
	t.Cleanup(func() {
		for _, c := range all.controllers {
			<-c.Done()
		}
	})
	return all
}

func (f *fleet) registered() (count int) {
	for _, c := range f.controllers {
		select {
		case <-c.Ready():
			count++
		default:
		}
	}
	return count
}

// A server that makes ten nodes a second makes two hundred in twenty seconds if each waits for its turn, though a request may
// last ten seconds; without turns it makes none of them, and is asked for each again.
func TestRegistrationsWaitForTheirTurn(t *testing.T) {
	const nodes, most = 200, 5
	synctest.Test(t, func(t *testing.T) {
		f := run(t, nodes, &slow{perSecond: 10}, &slow{perSecond: 1000}, NewRequestLimit(most, most))
		pass(time.Minute / 2)
		if got := f.registered(); got != nodes {
			t.Errorf("%d nodes are registered, want %d", got, nodes)
		}
		if asked, atOnce := f.creations.figures(); asked != nodes || atOnce != most {
			t.Errorf("the server was asked for a node %d times, %d at once, want %d times, %d at once", asked, atOnce, nodes, most)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := run(t, nodes, &slow{perSecond: 10}, &slow{perSecond: 1000}, nil)
		pass(15 * time.Second)
		if asked, atOnce := f.creations.figures(); atOnce != nodes || asked <= nodes {
			t.Errorf("without a limit the server was asked %d times, %d at once: the server of this test isn't slow enough", asked, atOnce)
		}
	})
}

// Renewals wait for one another, and not for nodes whose creation the server doesn't answer.
func TestRenewalsWaitForOneAnotherAlone(t *testing.T) {
	const nodes, most = 200, 5
	synctest.Test(t, func(t *testing.T) {
		limit := NewRequestLimit(most, most)
		f := run(t, nodes, &slow{perSecond: 1000}, &slow{perSecond: 40}, limit)
		pass(time.Minute)
		run(t, most, &slow{perSecond: 1}, &slow{perSecond: 1000}, limit) // five at once: each takes up to five seconds
		before, _ := f.renewals.figures()
		pass(10 * time.Second)
		asked, atOnce := f.renewals.figures()
		if atOnce != most {
			t.Errorf("%d leases were renewed at once, want %d", atOnce, most)
		}
		// A round takes the five seconds that the server needs for it, and the ten until the next begins.
		if renewed := asked - before; renewed < 100 {
			t.Errorf("%d leases were renewed in ten seconds, want 100 and more", renewed)
		}
		if failed := f.failed.Load(); failed > 0 {
			t.Errorf("%d renewals have failed, want none", failed)
		}
	})
}

// A renewal that has no turn is made when its lease is half expired.
func TestRenewalsWaitForHalfTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewRequestLimit(1, 1)
		f := newFixture(t)
		running(t.Context(), t, f.controller(t, readyNode(), f.leases(), WithNodeRequestLimit(limit)))
		synctest.Wait()
		held := make(chan struct{})
		go func() {
			_ = limit.renewals.take(t.Context(), nil, func(context.Context) error { <-held; return nil })
		}()
		f.forget()
		pass(29 * time.Second) // the next renewal is due after 10 s
		if got := leaseRequests(f); len(got) > 0 {
			t.Errorf("found %v before the lease is half expired, want none", got)
		}
		pass(2 * time.Second)
		if got := leaseRequests(f); len(got) != 1 {
			t.Errorf("found %v, want one renewal", got)
		}
		// A node that falls silent while it waits doesn't renew it.
		pass(15 * time.Second)
		f.pings(func(context.Context) error { return errors.New("no answer") })
		pass(5 * time.Second)
		f.forget()
		close(held)
		pass(time.Minute)
		if got := leaseRequests(f); len(got) > 0 {
			t.Errorf("found %v of a node that is silent, want none", got)
		}
	})
}

// A node whose context ends waits no longer, and gives no turn back that it hasn't had.
func TestNoTurnAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := NewRequestLimit(1, 1)
		f := newFixture(t)
		held := make(chan struct{})
		go func() {
			_ = limit.registrations.take(t.Context(), nil, func(context.Context) error { <-held; return nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		n := f.controller(t, readyNode(), WithNodeRequestLimit(limit))
		go func() { _ = n.Run(ctx) }()
		pass(time.Minute)
		cancel()
		<-n.Done()
		if err := n.Err(); err != nil || f.node() != nil {
			t.Errorf("Run ended with %v and made the node %v, want neither", err, f.node())
		}
		close(held)
		synctest.Wait()
		if taken := len(limit.registrations); taken != 0 {
			t.Errorf("%d turns are taken, want none", taken)
		}
	})
}
