package examples_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/features"
	featuretesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/replay/observe"
)

// served is a tape over HTTP, in a bubble: synctest.Wait returns when every
// client has dealt with everything that was applied.
type served struct {
	player *replay.Player
	server *apiserver.Server
	config *rest.Config
}

func serve(t *testing.T, name string, opts ...replay.Option) *served {
	t.Helper()
	p, err := replay.NewPlayer(replay.File(name), opts...)
	if err != nil {
		t.Fatal(err)
	}
	s, err := apiserver.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return &served{p, s, s.RESTConfig()}
}

func (s *served) close(t *testing.T) {
	t.Helper()
	s.server.Close()
	if err := s.player.Close(); err != nil {
		t.Error(err)
	}
}

// step applies one event and waits for the clients; more is false at the end.
func (s *served) step(t *testing.T) (more bool) {
	t.Helper()
	err := s.player.Step()
	if errors.Is(err, io.EOF) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return true
}

// source gives the informers of the four resources: of client-go, or of
// controller-runtime.
type source func(ctx context.Context, t *testing.T, config *rest.Config, h cache.ResourceEventHandler) (stop func())

func fromClientGo(ctx context.Context, t *testing.T, config *rest.Config, h cache.ResourceEventHandler) func() {
	t.Helper()
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	for _, i := range []cache.SharedIndexInformer{
		factory.Core().V1().Nodes().Informer(), factory.Core().V1().Pods().Informer(),
		factory.Core().V1().Events().Informer(), factory.Policy().V1().PodDisruptionBudgets().Informer(),
	} {
		if _, err := i.AddEventHandler(h); err != nil {
			t.Fatal(err)
		}
	}
	factory.Start(ctx.Done())
	return factory.Shutdown
}

func fromControllerRuntime(ctx context.Context, t *testing.T, config *rest.Config, h cache.ResourceEventHandler) func() {
	t.Helper()
	c, err := ctrlcache.New(config, ctrlcache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	for _, o := range []client.Object{&corev1.Node{}, &corev1.Pod{}, &corev1.Event{}, &policyv1.PodDisruptionBudget{}} {
		i, err := c.GetInformer(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.AddEventHandler(h); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// Over HTTP in lock-step, with WatchList and without it, the feed that informers
// drive is that of the tape, and each sees every event once, in its order.
func TestFeedThroughServe(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		for how, from := range map[string]source{"client-go": fromClientGo, "controller-runtime": fromControllerRuntime} {
			t.Run(fmt.Sprintf("%s/watchlist=%t", how, watchList), func(t *testing.T) {
				featuretesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
				for _, name := range tapes(t) {
					synctest.Test(t, func(t *testing.T) {
						text, log := ofServe(t, name, from)
						if d := cmp.Diff(ofTape(t, name), text); d != "" {
							t.Errorf("%s (-tape +serve):\n%s", name, d)
						}
						if d := cmp.Diff(logOfTape(t, name), log); d != "" {
							t.Errorf("%s: what informers saw (-tape +serve):\n%s", name, d)
						}
					})
				}
			})
		}
	}
}

// ofServe is the feed that informers drive over HTTP, and what they saw.
func ofServe(t *testing.T, name string, from source) (string, map[string][]string) {
	t.Helper()
	s := serve(t, name)
	seen := &logger{live: live{feed: noderoll.NewFeed(options(t, s.player.Header()).FeedOptions)}, log: map[string][]string{}}
	ctx, cancel := context.WithCancel(t.Context())
	stop := from(ctx, t, s.config, seen)
	synctest.Wait()
	for _, r := range []string{noderoll.Nodes, noderoll.Pods, noderoll.Events, noderoll.Budgets} {
		seen.add(seen.feed.Synced(0, r))
	}
	seen.forget() // the lists
	for {
		at, more, err := s.player.Upcoming()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		seen.moment(at)
		if !s.step(t) {
			break
		}
	}
	cancel()
	stop()
	s.close(t)
	return seen.out.String(), seen.log
}

// KubeObserver over HTTP, by lists and by watches, sees after each event what a
// Follower reads off the tape.
func TestKubeObserverThroughServe(t *testing.T) {
	for _, name := range tapes(t) {
		for _, watches := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/watches=%t", name, watches), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { observersAgree(t, name, watches) })
			})
		}
	}
}

func observersAgree(t *testing.T, name string, watches bool) {
	t.Helper()
	s := serve(t, name)
	tape := open(t, name)
	o := options(t, tape.Header())
	follower := observe.New(tape.Header(), o)
	o.Target.Auto = true // as a Feed does by itself
	clock := clocktesting.NewFakeClock(follower.Now())
	client := kubernetes.NewForConfigOrDie(s.config)
	kube := noderoll.NewKubeObserverWithOptions(client, noderoll.KubeOptions{
		StateOptions: o.StateOptions, Clock: clock, Budgets: client.PolicyV1().PodDisruptionBudgets(""),
	})
	ctx, cancel := context.WithCancel(t.Context())
	if watches {
		if err := kube.StartInformers(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for applied := 0; ; {
		for ; applied < s.player.Status().Number; applied++ {
			ev, err := tape.Next()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := follower.Apply(ev); err != nil {
				t.Fatal(err)
			}
		}
		clock.SetTime(follower.Now())
		want, err := follower.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kube.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("at %s (-follower +kube observer):\n%s", follower.At(), d)
		}
		if !s.step(t) {
			break
		}
	}
	cancel()
	kube.StopInformers()
	s.close(t)
}
