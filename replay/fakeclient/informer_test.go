package fakeclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// informersOf gives one informer of nodes for each way to make one.
func informersOf(c *Client) map[string]cache.SharedIndexInformer {
	bare := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return c.CoreV1().Nodes().List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return c.CoreV1().Nodes().Watch(ctx, o)
		},
	}, &corev1.Node{}, 0, cache.Indexers{})
	return map[string]cache.SharedIndexInformer{
		"typed":    informers.NewSharedInformerFactory(c, 0).Core().V1().Nodes().Informer(),
		"dynamic":  dynamicinformer.NewDynamicSharedInformerFactory(c.Dynamic(), 0).ForResource(nodes).Informer(),
		"metadata": metadatainformer.NewSharedInformerFactory(c.Metadata(), 0).ForResource(nodes).Informer(),
		"bare":     bare,
	}
}

func run(t *testing.T, c *Client, i cache.SharedIndexInformer) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { i.RunWithContext(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	if err := untilSynced(ctx, i); err != nil {
		t.Fatal("never synced")
	}
}

// Every kind of informer sees every event with its recorded version, one by
// one in lock-step, with WatchList and without.
func TestInformersInLockStep(t *testing.T) {
	for _, opts := range [][]Option{nil, {WithWatchList()}} {
		for name := range informersOf(client(t, nil)) {
			t.Run(fmt.Sprint(name, len(opts)), func(t *testing.T) {
				c := client(t, roll(), opts...)
				i := informersOf(c)[name]
				var d handlerLog
				if _, err := c.Handle(i, &d); err != nil {
					t.Fatal(err)
				}
				run(t, c, i)
				if err := c.Settle(t.Context()); err != nil {
					t.Fatal(err)
				}
				equal(t, "initial", fmt.Sprint(d.len(), " at ", i.LastSyncResourceVersion()), "2 at 50")
				seen := 2
				for _, want := range []string{"add c@60", "update a@61", "", "", "delete a@64", "", "", "update b@71"} {
					if err := c.Step(t.Context()); err != nil {
						t.Fatal(err)
					}
					if name == "typed" || name == "bare" {
						for plain, cordoned := range map[string]string{"update a@61": "update cordoned a@61", "delete a@64": "delete cordoned a@64", "update b@71": "update cordoned b@71"} {
							if want == plain {
								want = cordoned
							}
						}
					}
					equal(t, "step", d.since(seen), want)
					seen = d.len()
				}
				if err := c.Step(t.Context()); !errors.Is(err, io.EOF) {
					t.Errorf("after the end: %v", err)
				}
			})
		}
	}
}

func TestFreeRunningLosesNothing(t *testing.T) {
	events := start()
	for i := range 3000 {
		events = append(events, object(time.Second, "MODIFIED", "nodes", "a", 100+i, fmt.Sprintf(`{"podCIDR":"%d"}`, i)))
	}
	c := client(t, events, replay.WithSpeed(replay.Max))
	for name, i := range informersOf(c) {
		var d handlerLog
		if _, err := c.Handle(i, &d); err != nil {
			t.Fatal(err)
		}
		run(t, c, i)
		t.Cleanup(func() {
			if d.len() != 3002 {
				t.Errorf("%s: %d events, want 3002", name, d.len())
			}
			for k, s := range d.from(2) {
				if want := fmt.Sprintf("update a@%d", 100+k); s != want {
					t.Fatalf("%s: event %d is %s, want %s", name, k, s, want)
				}
			}
		})
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// In a bubble the tape plays on fake time, and synctest.Wait waits for
// everything that a consumer does.
func TestSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(replay.Events(header(), roll()))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(c, 0)
		var d handlerLog
		if _, err := factory.Core().V1().Nodes().Informer().AddEventHandler(&d); err != nil {
			t.Fatal(err)
		}
		factory.Start(ctx.Done())
		synctest.Wait()
		began, seen := time.Now(), d.len()
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		<-time.After(2500 * time.Millisecond)
		synctest.Wait()
		equal(t, "after 2.5s", d.since(seen), "add c@60, update cordoned a@61")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		equal(t, "all", d.since(seen), "add c@60, update cordoned a@61, delete cordoned a@64, update cordoned b@71")
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("6s of tape took %s", took)
		}
		cancel()
		factory.Shutdown()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// After a rewind informers list again and continue with higher versions.
func TestRewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(replay.Events(header(), roll()))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(c, 0)
		i := factory.Core().V1().Nodes().Informer()
		var d handlerLog
		if _, err := c.Handle(i, &d); err != nil {
			t.Fatal(err)
		}
		factory.Start(ctx.Done())
		synctest.Wait()
		if err := c.StepTo(ctx, replay.End); err != nil {
			t.Fatal(err)
		}
		seen := d.len()
		if err := c.Player().Seek(ctx, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute) // the reflector's back-off
		synctest.Wait()
		if d.len()-seen != 3 {
			t.Errorf("after the rewind: %s", d.since(seen))
		}
		a, ok, err := i.GetStore().GetByKey("a")
		if err != nil || !ok || a.(*corev1.Node).ResourceVersion != "161" {
			t.Errorf("a after the rewind: %v %t %v", a, ok, err)
		}
		seen = d.len()
		if err := c.StepTo(ctx, 4*time.Second); err != nil {
			t.Fatal(err)
		}
		equal(t, "again", d.since(seen), "delete cordoned a@164")
		cancel()
		factory.Shutdown()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestFieldSelector(t *testing.T) {
	c := client(t, roll())
	f := informers.NewSharedInformerFactoryWithOptions(c, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("spec.unschedulable", "false").String()
	}))
	i := f.Core().V1().Nodes().Informer()
	var d handlerLog
	if _, err := c.Handle(i, &d); err != nil {
		t.Fatal(err)
	}
	run(t, c, i)
	if err := c.StepTo(t.Context(), replay.End); err != nil {
		t.Fatal(err)
	}
	equal(t, "schedulable nodes", d.since(2), "add c@60, delete a@61, delete b@71")
}

// A client over another owner's player, with a resource that the tape doesn't
// hold.
func TestForPlayer(t *testing.T) {
	p, err := replay.NewPlayer(replay.Events(header(), roll()), replay.WithCluster(replay.Empty(
		timeline.Resource{Version: "v1", Kind: "Service", Resource: "services", Namespaced: true})))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if _, err := ForPlayer(p, replay.Loop()); err == nil {
		t.Error("options for a player that exists: no error")
	}
	c, err := ForPlayer(p)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	i := informers.NewSharedInformerFactory(c, 0).Core().V1().Services().Informer()
	c.Track(i)
	run(t, c, i)
	if err := c.StepTo(t.Context(), 3*time.Second); err != nil {
		t.Fatal(err)
	}
	if at := p.Position(); at != 3*time.Second || len(i.GetStore().List()) != 0 {
		t.Errorf("at %s: %v", at, i.GetStore().List())
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a watch of a closed client: no error")
	}
}

// A client may begin in the middle of a tape.
func TestFrom(t *testing.T) {
	c := client(t, roll(), replay.From(3*time.Second))
	i := informersOf(c)["typed"]
	var d handlerLog
	if _, err := c.Handle(i, &d); err != nil {
		t.Fatal(err)
	}
	run(t, c, i)
	if err := c.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "from 3s", d.since(3), "delete cordoned a@64")
}
