package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// While a node is silent nothing is done for its pods; when it is back, one look catches up.
func TestSilentNodeCatchesUp(t *testing.T) {
	var silent atomic.Bool
	s := runningPodFixture(t, func(cfg *podConfig) {
		cfg.PodEventFilterFunc = func(_ context.Context, pod *corev1.Pod) bool { return pod.Name != "witness" && !silent.Load() }
	})
	silent.Store(true)
	s.says("unheard")
	s.edit("web", func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.example/app:2" })
	s.cached("the image", func(p *corev1.Pod) bool { return p.Spec.Containers[0].Image == "registry.example/app:2" })
	s.create(aPod("new"))
	s.soon("the news in the cache", func() bool {
		_, err := s.controller.lister.Pods("default").Get("new")
		return err == nil
	})
	s.controller.Relook(s.ctx)
	s.idle()
	if s.message() == "unheard" || s.provider.count("update web")+s.provider.count("create new") > 0 {
		t.Fatalf("the silent node acts: message %q, calls %q", s.message(), s.provider.log())
	}
	silent.Store(false)
	s.controller.Relook(s.ctx)
	s.soon("the other pod", func() bool { return s.phase("new") == corev1.PodRunning })
	s.soon("the change", func() bool { return s.provider.count("update web") == 1 })
	s.soon("the status", func() bool { return s.message() == "unheard" })
}

func TestDanglingPodsAreFoundLaterToo(t *testing.T) {
	s := newPodFixture(t, nil).run()
	if err := s.provider.MockProvider.CreatePod(s.ctx, aPod("dangling")); err != nil {
		t.Fatal(err)
	}
	s.provider.failing(func(string, *corev1.Pod) error { return errors.New("not now") })
	s.clock.Step(DefaultRelookInterval)
	s.soon("an attempt", func() bool { return s.provider.count("delete dangling") > 0 })
	s.provider.failing(nil)
	s.until("the end of the pod", func() bool {
		_, err := s.provider.GetPod(s.ctx, "default", "dangling")
		return IsNotFound(err)
	})
}

// The watch missed the deletion; what the informer hands over then is a tombstone.
func TestTombstonesAreFollowed(t *testing.T) {
	for name, filter := range map[string]PodEventFilterFunc{"unfiltered": nil, "filtered": FilterPodsForNodeName("virtual")} {
		t.Run(name, func(t *testing.T) {
			s := newPodFixture(t, func(cfg *podConfig) { cfg.PodEventFilterFunc = filter })
			s.run()
			if err := s.provider.MockProvider.CreatePod(s.ctx, aPod("web")); err != nil {
				t.Fatal(err)
			}
			s.controller.store.remember(aPod("web"))
			handler := s.controller.handler(s.ctx)
			handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/other", Obj: "not a pod"})
			handler.OnDelete("nothing at all")
			handler.OnAdd("nothing at all", false)
			handler.OnUpdate("nothing", aPod("web"))
			handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/web", Obj: aPod("web")})
			s.soon("the deletion", func() bool { return s.provider.count("delete web") == 1 })
			s.idle()
			if n := len(s.controller.store.pods) + len(s.controller.store.gone); n > 0 {
				t.Errorf("%d notes left: want none", n)
			}
		})
	}
}

// A list after a lost watch shows the successor of a pod as its next state.
func TestSuccessorOfTheSameName(t *testing.T) {
	s := runningPodFixture(t, nil)
	successor := aPod("web")
	successor.UID = "successor"
	if err := s.factory.Core().V1().Pods().Informer().GetStore().Update(successor); err != nil {
		t.Fatal(err)
	}
	s.controller.handler(s.ctx).OnUpdate(aPod("web"), successor)
	s.soon("the successor", func() bool {
		held, err := s.provider.GetPod(s.ctx, "default", "web")
		return err == nil && held.UID == "successor"
	})
	want := []string{"create web", "delete web", "create web"}
	if calls := s.provider.log(); !slices.Equal(calls, want) {
		t.Errorf("calls %q: want %q", calls, want)
	}
}

// byUID holds pods by UID, so that a name may be there twice.
type byUID struct {
	*spy
	mu   sync.Mutex
	pods map[types.UID]*corev1.Pod
}

func (p *byUID) GetPodByUID(_ context.Context, _, _ string, uid types.UID) (*corev1.Pod, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pod := p.pods[uid]; pod != nil {
		return pod, nil
	}
	return nil, NotFoundf("no pod %s", uid)
}

func (p *byUID) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pods[pod.UID] = pod
	return p.note("create", pod)
}

func (p *byUID) DeletePod(_ context.Context, pod *corev1.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pods, pod.UID)
	return p.note("delete", pod)
}

func TestProviderThatIsAskedByUID(t *testing.T) {
	var provider *byUID
	s := newPodFixture(t, func(cfg *podConfig) {
		provider = &byUID{spy: cfg.Provider.(*spy), pods: map[types.UID]*corev1.Pod{}}
		cfg.Provider = provider
	}).run()
	s.create(aPod("web"))
	s.soon("the pod", func() bool { return s.provider.count("create web") == 1 })
	s.idle()
	s.remove("web")
	successor := aPod("web")
	successor.UID = "successor"
	s.create(successor)
	s.soon("the change of pods", func() bool {
		return s.provider.count("create web") == 2 && s.provider.count("delete web") == 1
	})
	if _, err := provider.GetPodByUID(s.ctx, "default", "web", "successor"); err != nil {
		t.Errorf("the provider has lost the successor: %v", err)
	}
}

func TestRefusalsAreToldOnce(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	s := runningPodFixture(t, func(cfg *podConfig) {
		cfg.ErrorHandler = func(_ context.Context, err error) error {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, err.Error())
			return nil
		}
	})
	refusal := apierrors.NewForbidden(pods, "web", errors.New(`User "u" cannot update resource "pods/status"`))
	met := s.answers("update", "status", 3, refusal)
	s.says("news")
	s.until("the news", func() bool { return s.message() == "news" })
	want := `pod controller: update pods/status: pods "web" is forbidden: User "u" cannot update resource "pods/status": ` +
		`grant the verb update on pods/status in namespace "default"`
	if len(lines) != 1 || lines[0] != want || met.Load() < 4 {
		t.Errorf("after %d attempts the lines are %q: want one, %q", met.Load(), lines, want)
	}
}

func TestHandlerMayEndTheController(t *testing.T) {
	end := errors.New("enough")
	s := runningPodFixture(t, func(cfg *podConfig) {
		cfg.ErrorHandler = func(context.Context, error) error { return end }
	})
	s.answers("update", "status", 1000, apierrors.NewForbidden(pods, "web", nil))
	s.says("news")
	select {
	case err := <-s.ended:
		if !errors.Is(err, end) || !errors.Is(s.controller.Err(), end) {
			t.Errorf("Run ended with %v, Err is %v: want %v", err, s.controller.Err(), end)
		}
	case <-s.ctx.Done():
		t.Fatal("Run goes on")
	}
}

// An informer that never fills is asked about after some seconds.
func TestEmptyCacheIsExplained(t *testing.T) {
	reported := make(chan string, 1)
	s := newPodFixture(t, func(cfg *podConfig) {
		cfg.ErrorHandler = func(_ context.Context, err error) error { reported <- err.Error(); return err }
	})
	s.answers("list", "", 1000, apierrors.NewForbidden(pods, "", errors.New("no right")))
	s.start()
	s.soon("a wait", s.clock.HasWaiters)
	s.clock.Step(askAfter)
	if line := <-reported; !strings.Contains(line, "grant the verb list on pods in all namespaces") {
		t.Errorf("told %q", line)
	}
	if err := <-s.ended; err == nil {
		t.Error("Run ended without an error")
	}
	select {
	case <-s.controller.Ready():
		t.Error("ready after a failed start")
	default:
	}
}
