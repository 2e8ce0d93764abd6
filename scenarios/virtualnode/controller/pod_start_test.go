package controller

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

// slowCache is a cache that fills when it is told to.
type slowCache struct {
	cache.SharedIndexInformer
	full chan struct{}
}

func (c slowCache) HasSynced() bool {
	select {
	case <-c.full:
		return true
	default:
		return false
	}
}

// A pod whose environment comes from a cache that isn't full yet would be created without it.
func TestStartWaitsForTheCachesOfTheEnvironment(t *testing.T) {
	for name, slow := range map[string]func(*podConfig, slowCache){
		"config maps": func(cfg *podConfig, c slowCache) {
			c.SharedIndexInformer = cfg.ConfigMapInformer.Informer()
			cfg.ConfigMapInformer = slowConfigMaps{cfg.ConfigMapInformer, c}
		},
		"secrets": func(cfg *podConfig, c slowCache) {
			c.SharedIndexInformer = cfg.SecretInformer.Informer()
			cfg.SecretInformer = slowSecrets{cfg.SecretInformer, c}
		},
		"services": func(cfg *podConfig, c slowCache) {
			c.SharedIndexInformer = cfg.ServiceInformer.Informer()
			cfg.ServiceInformer = slowServices{cfg.ServiceInformer, c}
		},
	} {
		t.Run(name, func(t *testing.T) {
			full := make(chan struct{})
			s := newPodFixture(t, func(cfg *podConfig) { slow(cfg, slowCache{full: full}) }, aPod("web"))
			s.start()
			s.soon("full caches of the others", func() bool { return s.config.PodInformer.Informer().HasSynced() })
			select {
			case <-s.controller.Ready():
				t.Fatal("ready before the cache is full")
			default:
			}
			if calls := s.provider.log(); len(calls) > 0 {
				t.Fatalf("calls %q before the cache is full: want none", calls)
			}
			close(full)
			s.soon("a running pod", func() bool { return s.phase("web") == corev1.PodRunning })
		})
	}
}

// An informer that nobody started never fills; the controller says which ones it waits for, once.
func TestInformersThatNobodyStartedAreNamed(t *testing.T) {
	reported := make(chan string, 2)
	end := errors.New("the end")
	s := newPodFixture(t, func(cfg *podConfig) {
		others := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1()
		cfg.ConfigMapInformer, cfg.ServiceInformer = others.ConfigMaps(), others.Services()
		cfg.ErrorHandler = func(_ context.Context, err error) error { reported <- err.Error(); return end }
	})
	s.config.SecretInformer.Informer()
	s.start()
	s.soon("full caches of the others", func() bool {
		return s.config.PodInformer.Informer().HasSynced() && s.config.SecretInformer.Informer().HasSynced()
	})
	s.soon("the waiting for the config maps alone", func() bool { return s.clock.Waiters() == 1 })
	s.clock.Step(sayAfter)
	const want = "aren't full: config maps, services: start their informers"
	if line := <-reported; !strings.Contains(line, want) {
		t.Errorf("told %q, want %q in it", line, want)
	}
	if err := <-s.ended; !errors.Is(err, end) || len(reported) > 0 {
		t.Errorf("Run ended with %v and %d more lines, want the handler's error", err, len(reported))
	}
}

// A shared informer outlives the controller, and calls nothing of it any more.
func TestNothingIsHeardAfterTheEnd(t *testing.T) {
	var asked atomic.Int32
	s := runningPodFixture(t, func(cfg *podConfig) {
		cfg.PodEventFilterFunc = func(context.Context, *corev1.Pod) bool { asked.Add(1); return true }
	})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	before := asked.Load()
	s.create(aPod("later"))
	s.soon("the pod in the cache", func() bool {
		_, err := s.controller.lister.Pods("default").Get("later")
		return err == nil
	})
	s.controller.Relook(s.ctx)
	if n := asked.Load() - before; n > 0 {
		t.Errorf("the filter was asked %d times after the end: want none", n)
	}
}

// The status in the cache and the one that the provider said are one once they agree.
func TestOneStatusOfEachPodIsInMemory(t *testing.T) {
	s := runningPodFixture(t, nil)
	s.soon("a shared status", func() bool {
		pod, err := s.controller.lister.Pods("default").Get("web")
		return err == nil && s.controller.store.read("default/web", "web-uid").lastReported.status == &pod.Status
	})
	s.says("news")
	s.soon("the news, shared", func() bool {
		pod, err := s.controller.lister.Pods("default").Get("web")
		return err == nil && pod.Status.Message == "news" &&
			s.controller.store.read("default/web", "web-uid").lastReported.status == &pod.Status
	})
}

type slowConfigMaps struct {
	corev1informers.ConfigMapInformer
	slow slowCache
}

func (i slowConfigMaps) Informer() cache.SharedIndexInformer { return i.slow }

type slowSecrets struct {
	corev1informers.SecretInformer
	slow slowCache
}

func (i slowSecrets) Informer() cache.SharedIndexInformer { return i.slow }

type slowServices struct {
	corev1informers.ServiceInformer
	slow slowCache
}

func (i slowServices) Informer() cache.SharedIndexInformer { return i.slow }
