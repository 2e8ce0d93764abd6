package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// caused wraps as the older convention does.
type caused struct{ error }

func (c caused) Cause() error { return c.error }

// circle is its own cause.
type circle struct{ text string }

func (c *circle) Error() string { return c.text }
func (c *circle) Cause() error  { return c }

// maybe says of itself whether it is a not-found error.
type maybe bool

func (maybe) Error() string    { return "maybe" }
func (m maybe) NotFound() bool { return bool(m) }

func TestTypedErrorsAreFound(t *testing.T) {
	gone, wrong := NotFoundf("pod %q", "web"), InvalidInputf("no")
	for name, c := range map[string]struct {
		err             error
		notFound, wrong bool
	}{
		"nil":                {nil, false, false},
		"plain":              {errors.New("plain"), false, false},
		"not found":          {gone, true, false},
		"invalid":            {wrong, false, true},
		"wrapped":            {fmt.Errorf("a: %w", gone), true, false},
		"caused":             {caused{caused{wrong}}, false, true},
		"caused and wrapped": {fmt.Errorf("a: %w", caused{fmt.Errorf("b: %w", gone)}), true, false},
		"joined":             {errors.Join(errors.New("plain"), caused{gone}), true, false},
		"both":               {AsInvalidInput(gone), true, true},
		"says so":            {maybe(true), true, false},
		"says no":            {maybe(false), false, false},
		"circle":             {&circle{"round"}, false, false},
		"typed later":        {AsNotFound(errors.New("plain")), true, false},
	} {
		if got := IsNotFound(c.err); got != c.notFound {
			t.Errorf("%s: not found %t, want %t", name, got, c.notFound)
		}
		if got := IsInvalidInput(c.err); got != c.wrong {
			t.Errorf("%s: invalid input %t, want %t", name, got, c.wrong)
		}
	}
	if AsNotFound(nil) != nil || AsInvalidInput(nil) != nil {
		t.Error("nil became an error")
	}
	if !errors.Is(NotFoundf("a: %w", context.Canceled), context.Canceled) {
		t.Error("what a typed error wraps is lost")
	}
}

func ExampleIsNotFound() {
	err := NotFoundf("pod %q is not here", "web")
	fmt.Println(IsNotFound(fmt.Errorf("delete: %w", err)), IsInvalidInput(err))
	// Output: true false
}

func ExamplePodFilters() {
	ours := PodFilters(FilterPodsForNodeName("one"), FilterPodsForNodeName("two"))
	for _, node := range []string{"one", "two", "three"} {
		fmt.Println(node, ours(context.Background(), &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}}))
	}
	fmt.Println("none", PodFilters()(context.Background(), &corev1.Pod{}))
	// Output:
	// one true
	// two true
	// three false
	// none false
}

func TestInformerOfOneNodesPods(t *testing.T) {
	api := fake.NewClientset()
	factory := informers.NewSharedInformerFactoryWithOptions(api, 0, informers.WithTweakListOptions(PodInformerFilter("virtual")))
	factory.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(t.Context())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	cancel()
	factory.Shutdown()
	for _, action := range api.Actions() {
		if list, ok := action.(clienttesting.ListAction); ok {
			if got, want := list.GetListRestrictions().Fields.String(), "spec.nodeName=virtual"; got != want {
				t.Errorf("listed with %q: want %q", got, want)
			}
			return
		}
	}
	t.Errorf("requests %v: want a list", api.Actions())
}

func TestConfigurationIsCheckedInOrder(t *testing.T) {
	full := newPodFixture(t, nil).config
	for _, c := range []struct {
		change func(*podConfig)
		want   string
	}{
		{func(c *podConfig) { *c = podConfig{} }, "PodClient"},
		{func(c *podConfig) { *c = podConfig{PodClient: c.PodClient} }, "EventRecorder"},
		{func(c *podConfig) { c.PodInformer, c.Provider = nil, nil }, "PodInformer"},
		{func(c *podConfig) { c.ConfigMapInformer, c.SecretInformer = nil, nil }, "ConfigMapInformer"},
		{func(c *podConfig) { c.SecretInformer, c.ServiceInformer = nil, nil }, "SecretInformer"},
		{func(c *podConfig) { c.ServiceInformer, c.Provider = nil, nil }, "ServiceInformer"},
		{func(c *podConfig) { c.Provider = nil }, "Provider"},
	} {
		cfg := full
		c.change(&cfg)
		_, err := NewPodController(cfg)
		if want := "new pod controller: " + c.want + " is missing: set it in the configuration"; !IsInvalidInput(err) || err.Error() != want {
			t.Errorf("error %v: want %q", err, want)
		}
	}
	full.ConfigMapInformer, full.SecretInformer, full.ServiceInformer, full.SkipEnvironment = nil, nil, nil, true
	if _, err := NewPodController(full); err != nil {
		t.Errorf("without an environment to resolve: %v, want none", err)
	}
	full.RelookInterval = -1
	if _, err := NewPodController(full); !IsInvalidInput(err) {
		t.Errorf("error %v for an interval below zero: want an invalid-input error", err)
	}
}

func TestControllerRunsOnce(t *testing.T) {
	s := runningPodFixture(t, nil)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.controller.Run(s.ctx, 1); err == nil {
		t.Error("it ran a second time")
	}
	other := newPodFixture(t, nil)
	if err := other.controller.Err(); err != nil {
		t.Errorf("Err is %v before Run: want nil", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a controller without workers ran")
		}
	}()
	_ = other.controller.Run(other.ctx, 0)
}

// Ended while the caches fill: an error, and never ready.
func TestEndBeforeTheStart(t *testing.T) {
	s := newPodFixture(t, nil)
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	err := s.controller.Run(ctx, 1) // no informer runs
	if !errors.Is(err, context.Canceled) || err.Error() != "run pod controller: wait for the cache of pods: context canceled" {
		t.Errorf("Run ended with %v", err)
	}
}

func TestLostPodOfAPolledProvider(t *testing.T) {
	for name, c := range map[string]struct {
		phase corev1.PodPhase
		lost  bool
	}{"running": {corev1.PodRunning, true}, "pending": {corev1.PodPending, false}} {
		t.Run(name, func(t *testing.T) {
			s := newPodFixture(t, func(cfg *podConfig) { cfg.Provider = silent{cfg.Provider} })
			poller := newPodPoller(s.controller)
			var said *corev1.Pod
			poller.NotifyPods(s.ctx, func(pod *corev1.Pod) { said = pod })
			pod := aPod("web")
			pod.CreationTimestamp = metav1.NewTime(s.clock.Now())
			pod.Status = corev1.PodStatus{Phase: c.phase, ContainerStatuses: []corev1.ContainerStatus{
				{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}}
			poller.askFor(s.ctx, pod)
			if !c.lost {
				if said != nil {
					t.Fatalf("reported %v: want a young pod to be waited for", said.Status)
				}
				s.clock.Step(startLimit + 1)
				poller.askFor(s.ctx, pod)
			}
			if said == nil || said.Status.Phase != corev1.PodFailed || said.Status.Reason != "NotFound" ||
				said.Status.ContainerStatuses[0].State.Terminated.ExitCode != -137 {
				t.Errorf("reported %v: want Failed, NotFound, exit code -137", said)
			}
			if pod.Status.Phase != c.phase {
				t.Error("the cache's pod was changed")
			}
		})
	}
}

func TestPodWithoutACreationTimeIsNotLost(t *testing.T) {
	s := newPodFixture(t, func(cfg *podConfig) { cfg.Provider = silent{cfg.Provider} })
	poller := newPodPoller(s.controller)
	poller.NotifyPods(s.ctx, func(pod *corev1.Pod) { t.Errorf("reported %v before the provider had the pod", pod.Status) })
	pod := aPod("web")
	pod.CreationTimestamp, pod.Status = metav1.Time{}, corev1.PodStatus{Phase: corev1.PodPending}
	poller.askFor(s.ctx, pod)
}

// leaves is a provider whose record of a pod is gone while it still ends it.
type leaves struct {
	PodLifecycleHandler
	meanwhile func()
}

func (l leaves) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	err := l.PodLifecycleHandler.DeletePod(ctx, pod)
	l.meanwhile()
	return err
}

// A pod that isn't found while its own deletion is under way isn't lost.
func TestDeletionOfAPolledProvider(t *testing.T) {
	var meanwhile func()
	s := newPodFixture(t, func(cfg *podConfig) {
		cfg.Provider = leaves{silent{cfg.Provider}, func() { meanwhile() }}
	})
	poller := newPodPoller(s.controller)
	var said []string
	poller.NotifyPods(s.ctx, func(pod *corev1.Pod) { said = append(said, string(pod.Status.Phase)+" "+pod.Status.Reason) })
	pod := aPod("web")
	pod.Status.Phase = corev1.PodRunning
	meanwhile = func() { poller.askFor(s.ctx, pod) }
	if err := poller.DeletePod(s.ctx, pod); err != nil && !IsNotFound(err) {
		t.Fatal(err)
	}
	for _, what := range said {
		if what != "Succeeded Terminated" {
			t.Errorf("reported %q", said)
		}
	}
}

// What a provider says of an earlier pod of the name isn't said of its successor.
func TestSuccessorAtAPolledProvider(t *testing.T) {
	s := newPodFixture(t, nil)
	if err := s.provider.CreatePod(s.ctx, aPod("web")); err != nil {
		t.Fatal(err)
	}
	poller := newPodPoller(s.controller)
	poller.NotifyPods(s.ctx, func(pod *corev1.Pod) { t.Errorf("reported %v of the successor", pod.Status) })
	successor := aPod("web")
	successor.UID = "another"
	poller.askFor(s.ctx, successor)
}

// The status of a pod without a UID, as client-go's fake keeps them, is written at once.
func TestReportOfAPodWithoutAUID(t *testing.T) {
	s := newPodFixture(t, nil)
	pod := aPod("web")
	pod.UID = ""
	s.controller.store.remember(pod)
	s.controller.report(pod.ObjectMeta, &podReport{status: &corev1.PodStatus{Phase: corev1.PodRunning}, fingerprint: 7})
	if n := s.controller.statuses.len(); n != 1 {
		t.Errorf("%d statuses are to be written, want 1", n)
	}
}

// A pod that the controller has just written Failed isn't created from a cache that doesn't know it yet.
func TestACacheBehindTheOwnWrite(t *testing.T) {
	s := newPodFixture(t, nil)
	pod := aPod("web")
	s.controller.store.remember(pod)
	failed := pod.DeepCopy()
	failed.ResourceVersion, failed.Status.Phase = "2", corev1.PodFailed
	s.controller.store.write(nameOf(pod), pod.UID, func(r *podRecord) { r.newest = failed })
	if err := s.controller.syncLive(s.ctx, nameOf(pod), pod); err != nil {
		t.Fatal(err)
	}
	if calls := s.provider.log(); len(calls) > 0 {
		t.Errorf("the provider was called: %q", calls)
	}
}
