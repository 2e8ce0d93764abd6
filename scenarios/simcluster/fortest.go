package simcluster

import (
	"context"
	"errors"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
)

// TB holds what [ForTest] needs of a testing.TB.
type TB interface {
	apiserver.TB
	Context() context.Context
}

// TestCluster is a Cluster whose errors fail its test.
type TestCluster struct {
	*Cluster
	tb TB
}

// ForTest makes a cluster for one test; options are those of a Player and of an
// apiserver. It is closed when the test ends, inside of the testing/synctest
// bubble if the test runs in one.
func ForTest(t TB, start Start, opts ...replay.Option) *TestCluster {
	t.Helper()
	c, err := New(start, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return &TestCluster{Cluster: c, tb: t}
}

// Start lets the cluster live until the test ends, by the clock of the bubble in
// which the test runs.
func (c *TestCluster) Start() {
	ctx, cancel := context.WithCancel(c.tb.Context())
	ended := make(chan error)
	c.lives.Store(true) // so that Eventually leaves time to Run, even before Run begins
	go func() { ended <- c.Run(ctx) }()
	c.tb.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			c.tb.Error(err)
		}
	})
}

// Eventually is [Cluster.RunUntil]; what doesn't happen ends the test.
func (c *TestCluster) Eventually(limit time.Duration, waitedFor string, ok func() bool) {
	c.tb.Helper()
	if err := c.RunUntil(c.tb.Context(), limit, waitedFor, ok); err != nil {
		c.tb.Fatal(err)
	}
}
