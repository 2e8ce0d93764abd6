package fakeclient

import (
	"context"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Test is a [Client] for one test, with informers that lock-step waits for.
// Errors fail the test.
type Test struct {
	*Client
	// Informers holds what the code under test takes. Whatever it adds to an
	// informer, in whatever way, is waited for: see [Test.Play].
	Informers informers.SharedInformerFactory

	factory *factory
	t       testing.TB
	ctx     context.Context
	started bool
}

// ForTest makes a client that is at the beginning of a tape, and closes it
// when the test ends, inside of the testing/synctest bubble if the test runs in
// one. The factory starts the informers that it was asked for before [Test.Start],
// and those alone. It has none for custom resources: use [Client.Dynamic] and
// [Client.Track] for those.
func ForTest(t testing.TB, src timeline.Source, opts ...Option) *Test {
	t.Helper()
	c, err := New(src, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	f := newFactory(c)
	t.Cleanup(func() {
		cancel()
		f.Shutdown()
	})
	return &Test{Client: c, Informers: f, factory: f, t: t, ctx: ctx}
}

// Start starts the informers that were asked for and waits until they have their
// lists and handlers have learned of them, one resource after the other, in the
// order of the tape's header. Play, PlayTo, Step and Run call it where nobody has;
// call it again for informers that were asked for since. One whose resource isn't
// on the tape fails the test: it would never have its list.
func (p *Test) Start() {
	p.t.Helper()
	if absent := p.factory.takeAbsent(); len(absent) > 0 {
		p.t.Fatal(p.explain(absent[0], apierrors.NewNotFound(absent[0].GroupResource(), "")))
	}
	p.Informers.Start(p.ctx.Done())
	waiting, enough := context.WithCancel(p.ctx)
	defer enough()
	defer context.AfterFunc(p.readable, enough)()
	p.factory.untilSynced(waiting)
	if err := p.unreadable(); err != nil { // the informer of its kind would try for ever
		p.t.Fatal(err)
	}
	p.started = true
	if err := p.Settle(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

// Play steps through the whole tape: after each event it waits until every
// informer has it and every handler has returned.
func (p *Test) Play() {
	p.t.Helper()
	p.PlayTo(replay.End)
}

// Step is [Client.Step] after [Test.Start].
func (p *Test) Step(ctx context.Context) error {
	p.t.Helper()
	p.begin()
	return p.Client.Step(ctx)
}

// Run is [Client.Run] after [Test.Start].
func (p *Test) Run(ctx context.Context) error {
	p.t.Helper()
	p.begin()
	return p.Client.Run(ctx)
}

func (p *Test) begin() {
	p.t.Helper()
	if !p.started {
		p.Start()
	}
}

// PlayTo steps to a position on the tape; see [Client.StepTo].
func (p *Test) PlayTo(at time.Duration) {
	p.t.Helper()
	p.begin()
	if err := p.StepTo(p.t.Context(), at); err != nil {
		p.t.Fatal(err)
	}
}
