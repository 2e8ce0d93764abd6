package fault_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fakeclient"
	"github.com/nodesim/nodesim/replay/fault"
)

// fixture holds what a controller under test works with.
type fixture struct {
	t       *testing.T
	ctx     context.Context
	client  *fakeclient.Client
	factory informers.SharedInformerFactory
}

func (w *fixture) nodes() cache.SharedIndexInformer { return w.factory.Core().V1().Nodes().Informer() }
func (w *fixture) pods() cache.SharedIndexInformer  { return w.factory.Core().V1().Pods().Informer() }

// node looks into the cache.
func (w *fixture) node(name string) *corev1.Node {
	o, ok, err := w.nodes().GetStore().GetByKey(name)
	if err != nil || !ok {
		return nil
	}
	return o.(*corev1.Node)
}

func (w *fixture) on(i cache.SharedIndexInformer, h cache.ResourceEventHandler) {
	if _, err := w.client.Handle(i, h); err != nil {
		w.t.Fatal(err)
	}
}

// controller builds a controller and returns what says how it has done.
type controller func(w *fixture) (result func() string)

// play takes a controller through the roll, in lock-step, on fake time.
func play(t *testing.T, build controller, specs ...string) (result string) {
	synctest.Test(t, func(t *testing.T) {
		c, err := fakeclient.New(replay.Events(header(), roll()), fakeclient.WithWrites(fakeclient.Record), fakeclient.WithWatchList(),
			fault.Inject(specs...))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // of the bubble's time: back-offs
		w := &fixture{t: t, ctx: ctx, client: c, factory: informers.NewSharedInformerFactory(c, 0)}
		how := build(w)
		w.factory.Start(ctx.Done())
		synctest.Wait()
		for {
			err := c.Step(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		result = how()
		cancel()
		w.factory.Shutdown()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return result
}

// bug is a mistake in a controller that a fault brings to light.
type bug struct {
	spec    string
	mistake string
	build   controller
	right   string // without the fault
	wrong   string // with it
}

var bugs = slices.Concat(eventBugs, streamBugs, requestBugs)

// Each fault finds a controller's mistake that stays hidden without it.
func TestEachKindFindsABug(t *testing.T) {
	found := map[string]bool{}
	for _, b := range bugs {
		kind, _, _ := strings.Cut(b.spec, ":")
		kind, _, _ = strings.Cut(kind, ",")
		found[kind] = true
		t.Run(b.spec, func(t *testing.T) {
			if got := play(t, b.build); got != b.right {
				t.Errorf("%s, without the fault: %q, want %q", b.mistake, got, b.right)
			}
			if got := play(t, b.build, b.spec); got != b.wrong {
				t.Errorf("%s, with %s: %q, want %q", b.mistake, b.spec, got, b.wrong)
			}
		})
	}
	for _, k := range fault.Kinds() {
		if !found[k.Name] {
			t.Errorf("no controller shows what %s finds", k.Name)
		}
	}
}

func keys[V any](m map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }
