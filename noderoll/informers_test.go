package noderoll_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"

	"github.com/nodesim/nodesim/noderoll"
)

// TestMain: whatever a test starts must have ended when it returns.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// informed is an observer in informer mode, and its clientset, whose lists are
// counted from then on.
func informed(t *testing.T, objects ...runtime.Object) (*noderoll.KubeObserver, *fake.Clientset, *atomic.Int32) {
	t.Helper()
	c := fake.NewSimpleClientset(objects...)
	o := noderoll.NewKubeObserver(c, group, newImage)
	watched := watching(c)
	if err := o.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.StopInformers)
	watched(t)
	var lists atomic.Int32
	c.PrependReactor("list", "*", func(ktesting.Action) (bool, runtime.Object, error) {
		lists.Add(1)
		return false, nil, nil
	})
	return o, c, &lists
}

// watching returns what waits until everything that was listed is watched:
// what is deleted between a list and its watch, client-go's fake forgets to tell
// (kubernetes/kubernetes#141528).
func watching(c *fake.Clientset) (wait func(*testing.T)) {
	var mu sync.Mutex
	unwatched, changed := map[string]bool{}, make(chan struct{}, 1)
	c.PrependReactor("list", "*", func(a ktesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		unwatched[a.GetResource().Resource] = true
		return false, nil, nil
	})
	c.PrependWatchReactor("*", func(a ktesting.Action) (bool, watch.Interface, error) {
		w, err := c.Tracker().Watch(a.GetResource(), a.GetNamespace())
		mu.Lock()
		defer mu.Unlock()
		delete(unwatched, a.GetResource().Resource)
		select {
		case changed <- struct{}{}:
		default:
		}
		return true, w, err
	})
	return func(t *testing.T) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		for {
			mu.Lock()
			done := len(unwatched) == 0
			mu.Unlock()
			if done {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatalf("watches: %v", ctx.Err())
			}
		}
	}
}

func TestKubeObserverRollByWatch(t *testing.T) {
	t.Parallel()
	o, c, lists := informed(t, startOfRoll()...)
	rollOf(t, c, func(step string, want [4]int) noderoll.Snapshot {
		return eventually(t, o, step, func(s noderoll.Snapshot) bool { return counts(s) == want })
	})
	if n := lists.Load(); n != 0 {
		t.Errorf("%d lists in informer mode, want none", n)
	}
}

func TestInformersCountPodsAndWarn(t *testing.T) {
	t.Parallel()
	o, c, _ := informed(t, cordoned(kubeNode("ip-1", oldImage, true)), kubePod("web-1", "ip-1"),
		warning("a", "ip-1", "FailedDraining", "", 0))
	s := look(t, o)
	if s.Nodes[0].Pods != 1 || s.Nodes[0].PodsTotal != 1 || len(s.Warnings) != 1 {
		t.Errorf("got %s and %d warnings, want 1/1 and one", brief(s), len(s.Warnings))
	}
	deletePod(t, c, "web-1")
	eventually(t, o, "the pod is evicted", func(s noderoll.Snapshot) bool {
		return s.Nodes[0].Pods == 0 && s.Nodes[0].PodsTotal == 1 && !s.Nodes[0].PodsUnknown
	})
}

func TestPodsOfEveryKindByWatch(t *testing.T) {
	o, _, _ := informed(t, append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)))...)
	if got := brief(look(t, o)); !strings.Contains(got, "ip-1=Draining,3/3") {
		t.Errorf("got %s, want 3/3", got)
	}
}

func TestStopInformersAnytime(t *testing.T) {
	o := noderoll.NewKubeObserver(fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true)), group, newImage)
	o.StopInformers()
	o.StopInformers()
	if s := look(t, o); s.Total != 1 {
		t.Errorf("%d nodes, want 1 by list", s.Total)
	}
}

func TestSecondStartIsFine(t *testing.T) {
	o, _, lists := informed(t, kubeNode("ip-1", oldImage, true))
	if err := o.StartInformers(t.Context()); err != nil {
		t.Errorf("second start: %v", err)
	}
	if n := lists.Load(); n != 0 {
		t.Errorf("the second start listed %d times", n)
	}
}

func TestStopGoesBackToListsAndJoins(t *testing.T) {
	before := goleak.IgnoreCurrent()
	o, c, lists := informed(t, kubeNode("ip-1", oldImage, true))
	o.StopInformers()
	goleak.VerifyNone(t, before)
	create(t, c, kubeNode("ip-2", oldImage, true))
	if s := look(t, o); s.Total != 2 || lists.Load() == 0 {
		t.Errorf("%d nodes by %d lists, want 2 by list", s.Total, lists.Load())
	}
}

// When the context of the informers ends, their cache would be frozen for
// ever. The observer notices and lists.
func TestEndedContextIsNoFrozenCache(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	o := noderoll.NewKubeObserver(c, group, newImage)
	ctx, cancel := context.WithCancel(t.Context())
	if err := o.StartInformers(ctx); err != nil {
		t.Fatal(err)
	}
	look(t, o)
	cancel()
	create(t, c, kubeNode("ip-2", newImage, true))
	update(t, c, kubeNode("ip-1", oldImage, false))
	s := look(t, o)
	if s.Total != 2 {
		t.Errorf("%d nodes, want 2: the cache is frozen", s.Total)
	}
	if s.Nodes[0].Phase != notReady {
		t.Errorf("ip-1 is %s, want NotReady: what the informers knew of it is lost", s.Nodes[0].Phase)
	}
	if err := o.StartInformers(t.Context()); err != nil {
		t.Errorf("a new start: %v", err)
	}
	if s := look(t, o); s.Nodes[0].Phase != notReady {
		t.Errorf("ip-1 is %s after the new start, want NotReady", s.Nodes[0].Phase)
	}
	o.StopInformers()
}

// While a watch can't be opened, memory may lag behind the server.
func TestBrokenWatchIsNoFrozenCache(t *testing.T) {
	t.Parallel()
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	var broken atomic.Bool
	var first *watch.FakeWatcher
	c.PrependWatchReactor("nodes", func(ktesting.Action) (bool, watch.Interface, error) {
		if broken.Load() {
			return true, nil, errRefused
		}
		first = watch.NewFake()
		return true, first, nil
	})
	o := noderoll.NewKubeObserver(c, group, newImage)
	if err := o.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer o.StopInformers()
	eventually(t, o, "the watch is open", func(noderoll.Snapshot) bool {
		for _, a := range c.Actions() {
			if a.Matches("watch", "nodes") {
				return true
			}
		}
		return false
	})
	broken.Store(true)
	first.Stop()
	create(t, c, kubeNode("ip-2", newImage, true))
	eventually(t, o, "the new node is seen by list", func(s noderoll.Snapshot) bool { return s.Total == 2 })
}

func TestFailedSyncKeepsListMode(t *testing.T) {
	t.Parallel()
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	var broken atomic.Bool
	broken.Store(true)
	refuse(c, "pods", broken.Load)
	o := noderoll.NewKubeObserverWithOptions(c, noderoll.KubeOptions{SyncTimeout: 20 * time.Millisecond})
	err := o.StartInformers(t.Context())
	if err == nil {
		t.Fatal("no error, though pods can't be listed")
	}
	for _, part := range []string{"caches did not sync", "waiting for pods", "refused by the test"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q: want it to say %q", err, part)
		}
	}
	broken.Store(false)
	if s := look(t, o); s.Total != 1 {
		t.Errorf("%d nodes, want 1 by list", s.Total)
	}
}

// A roll continues while no watch is open: what is gone after a new list is gone.
func TestRelistDropsWhatIsGone(t *testing.T) {
	t.Parallel()
	c := fake.NewSimpleClientset(append(podsOfEveryKind(), cordoned(kubeNode("ip-1", oldImage, true)), kubeNode("ip-2", oldImage, true),
		warning("a", "ip-1", "FailedDraining", "", 0))...)
	opened := map[string]chan *watch.FakeWatcher{}
	for _, resource := range []string{"nodes", "pods", "events"} {
		ch := make(chan *watch.FakeWatcher, 8)
		opened[resource] = ch
		c.PrependWatchReactor(resource, func(ktesting.Action) (bool, watch.Interface, error) {
			w := watch.NewFake()
			ch <- w
			return true, w, nil
		})
	}
	o := noderoll.NewKubeObserver(c, group, newImage)
	if err := o.StartInformers(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer o.StopInformers()
	deleteNode(t, c, "ip-2")
	deletePod(t, c, "web-1")
	if err := c.CoreV1().Events("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, ch := range opened {
		w := <-ch
		w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired})
	}
	eventually(t, o, "relist", func(s noderoll.Snapshot) bool {
		return s.Total == 1 && s.Nodes[0].Pods == 2 && s.Nodes[0].PodsTotal == 3 && len(s.Warnings) == 0
	})
}
