package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/retry"
)

// startPatience bounds how long Run retries an API server that doesn't answer, or is too busy, before it gives up.
const startPatience = 30 * time.Second

// Run registers the node and keeps it alive until ctx ends; then it waits for its loops and returns nil. An error means
// that the node could not be registered: the first ping failed, or the API server refused it or was out of reach for half
// a minute; nothing is left running then. Once the node is registered, no error ends Run. It can be called once.
//
// The node and its lease stay on the server: to remove a node for good, delete both.
func (n *NodeController) Run(ctx context.Context) (err error) {
	if !n.ran.CompareAndSwap(false, true) {
		return fmt.Errorf("node controller of %s: Run was called before: make a new controller", n.name)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		err = errors.Join(err, n.join())
		n.err = err
		close(n.done)
	}()
	n.wire(ctx)
	n.provider.NotifyNodeStatus(ctx, n.setDesired(ctx))
	n.pinger.task.start(0)
	if err := n.register(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("register node %s: %w", n.name, err)
	}
	pause := n.pingInterval
	if n.renewal != nil {
		n.renewal.start(0)
		pause = n.statusInterval
	}
	n.status.start(n.jitter(pause))
	close(n.ready)
	<-ctx.Done()
	return nil
}

// wire makes the loops and starts none.
func (n *NodeController) wire(ctx context.Context) {
	n.pinger = &pinger{
		ping: n.ping, interval: n.pingInterval, timeout: n.pingTimeout,
		clock: n.clock, jitter: n.jitter, turned: n.turned,
	}
	n.pinger.task = newPeriodicTask(ctx, n.clock, n.pinger.round)
	n.status = newPeriodicTask(ctx, n.clock, n.statusRound)
	if n.lease != nil {
		n.renewal = newPeriodicTask(ctx, n.clock, n.renewLease)
	}
}

// ping asks the provider within a span.
func (n *NodeController) ping(ctx context.Context) error {
	return n.tracer.do(ctx, Operation{Name: "Ping"}, n.provider.Ping)
}

// turned has both loops look at once when pings begin to fail, or to succeed again.
func (n *NodeController) turned() {
	n.status.trigger()
	if n.renewal != nil {
		n.renewal.trigger()
	}
}

// register ensures the node, and asks again where the API server may come back.
func (n *NodeController) register(ctx context.Context) error {
	var failed time.Time // first: a turn may have been long in coming
	for failures := 1; ; failures++ {
		err := n.limit.registrations.take(ctx, nil, n.ensure)
		if failures == 1 {
			failed = n.clock.Now()
		}
		if err == nil || ctx.Err() != nil || !passing(err) || n.clock.Since(failed) >= startPatience {
			return err
		}
		if failures == 1 {
			klog.FromContext(ctx).Error(err, "node not registered, trying again", "node", n.name)
		}
		if err := retry.Pause(ctx, n.clock, n.backoff(failures)); err != nil {
			return err
		}
	}
}

// join waits until no loop does anything any more. Requests obey the context, which has ended; a Ping should.
func (n *NodeController) join() error {
	pings := n.pinger.task.stop()
	<-n.status.stop()
	if n.renewal != nil {
		<-n.renewal.stop()
	}
	select {
	case <-pings:
		return nil
	default:
	}
	patience := n.clock.NewTimer(n.pingTimeout)
	defer patience.Stop()
	select {
	case <-pings:
		return nil
	case <-patience.C():
		return fmt.Errorf("node controller of %s: the provider's Ping has not returned %s after its context ended, want it to return at once: a goroutine has leaked",
			n.name, n.pingTimeout)
	}
}
