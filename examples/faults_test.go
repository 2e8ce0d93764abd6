package examples_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
)

// mended are faults that an informer gets over: whatever it is told on the way,
// in the end it knows what the tape ends with.
var mended = []string{
	"delay:pods,by=20s", "duplicate,p=0.3,seed=1", "coalesce:nodes,within=5s", "reorder,by=3s,p=0.5", "slow:pods,every=1s",
	"bookmarks", "close,p=0.05,seed=3", "close:nodes,lose=DELETED", "gone:pods,p=0.05,seed=4", "gone:nodes,in=stream", "stall:pods,at=T+5s",
	"stale,at=T+10s", "unobserved", "intermediate", "gone:pods,event=6; stale-list:pods,by=5s,at=T+1s,for=30s", "429:pods,retry-after=2s,p=0.5",
	"500:nodes,p=0.5,seed=5", "timeout:events,p=0.5",
}

// Under faults that must not change the end state, it doesn't change, for
// informers over HTTP.
func TestEndStateUnderFaults(t *testing.T) {
	// client-go waits a millisecond between two errors that it reports, by a clock outside of the bubble: for years.
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	t.Cleanup(func() { utilruntime.ErrorHandlers = handlers })
	fired := map[string]bool{}
	for _, spec := range mended {
		t.Run(spec, func(t *testing.T) {
			for _, name := range tapes(t) {
				want := endState(t, name)
				synctest.Test(t, func(t *testing.T) {
					got, hits := endStateThroughServe(t, name, spec)
					fired[spec] = fired[spec] || hits > 0
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("%s (-tape +informers):\n%s", name, d)
					}
				})
			}
			if !fired[spec] {
				t.Error("it never fired, on no tape: the trial says nothing")
			}
		})
	}
}

// endState returns what a tape ends with: every object with its version.
func endState(t *testing.T, name string) []string {
	t.Helper()
	p, err := replay.NewPlayer(replay.File(name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }() // it was only read
	if err := p.Seek(t.Context(), replay.End); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range p.Cluster().Resources() {
		list, err := p.Cluster().List(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}, "", metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.Items {
			all = append(all, fmt.Sprintf("%s %s/%s@%s", r.Resource, o.Namespace(), o.Name(), o.ResourceVersion()))
		}
	}
	slices.Sort(all)
	return all
}

// endStateThroughServe returns what informers know when a tape with a fault has
// been played to its end, and a while after.
func endStateThroughServe(t *testing.T, name, spec string) (all []string, fired int) {
	t.Helper()
	s := serve(t, name, fault.InjectAndLog(func(fault.Fired) { fired++ }, strings.Split(spec, "; ")...), replay.WithSpeed(replay.Speed(1)))
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(s.config), 0)
	stores := map[string]cache.SharedIndexInformer{
		"nodes": factory.Core().V1().Nodes().Informer(), "pods": factory.Core().V1().Pods().Informer(),
		"events": factory.Core().V1().Events().Informer(), "poddisruptionbudgets": factory.Policy().V1().PodDisruptionBudgets().Informer(),
	}
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	synctest.Wait()
	if err := s.player.Run(ctx); err != nil {
		t.Fatal(err)
	}
	<-time.After(30 * time.Minute) // of the bubble: clients that were sent away have come back by then
	synctest.Wait()
	for resource, i := range stores {
		for _, o := range i.GetStore().List() {
			m, err := meta.Accessor(o)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s %s/%s@%s", resource, m.GetNamespace(), m.GetName(), m.GetResourceVersion()))
		}
	}
	slices.Sort(all)
	cancel()
	factory.Shutdown()
	s.close(t)
	return all, fired
}
