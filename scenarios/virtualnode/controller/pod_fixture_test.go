package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
)

// A podFixture runs one PodController over a fake API and a provider that notes every call, under a fake clock.
type podFixture struct {
	t          *testing.T
	ctx        context.Context
	api        *fake.Clientset
	clock      *clocktesting.FakeClock
	factory    informers.SharedInformerFactory
	provider   *spy
	recorder   *record.FakeRecorder
	controller *PodController
	config     podConfig
	cancel     context.CancelFunc
	ended      chan error
}

// newPodFixture prepares a fixture whose controller has not begun to run; change may alter its configuration.
func newPodFixture(t *testing.T, change func(*podConfig), pods ...*corev1.Pod) *podFixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx = klog.NewContext(ctx, klog.Logger{})
	s := &podFixture{
		t: t, ctx: ctx, api: fake.NewClientset(),
		clock:    clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
		recorder: record.NewFakeRecorder(1000), ended: make(chan error, 1),
	}
	for _, pod := range pods {
		s.create(pod)
	}
	s.provider = &spy{MockProvider: NewMockProvider(s.clock)}
	s.factory = informers.NewSharedInformerFactory(s.api, 0)
	core := s.factory.Core().V1()
	s.config = podConfig{
		PodClient: s.api.CoreV1(), PodInformer: core.Pods(), EventRecorder: s.recorder, Provider: s.provider,
		ConfigMapInformer: core.ConfigMaps(), SecretInformer: core.Secrets(), ServiceInformer: core.Services(),
		Clock: s.clock,
	}
	if change != nil {
		change(&s.config)
	}
	controller, err := NewPodController(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.controller = controller
	return s
}

// run starts the informers and the controller, and waits until it is ready. Both end with the test.
func (s *podFixture) run() *podFixture {
	s.t.Helper()
	s.start()
	select {
	case <-s.controller.Ready():
	case <-s.ctx.Done():
		s.t.Fatal("the controller isn't ready in time")
	}
	return s
}

// start is run without the wait.
func (s *podFixture) start() {
	ctx, cancel := context.WithCancel(s.ctx)
	informing, stop := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	s.cancel = cancel
	s.config.PodInformer.Informer() // the factory starts what has been asked for
	s.factory.Start(informing.Done())
	go func() { s.ended <- s.controller.Run(ctx, 4) }()
	s.t.Cleanup(func() {
		cancel()
		<-s.controller.Done()
		stop()
		s.factory.Shutdown()
	})
}

// stop ends the controller and returns what Run returned.
func (s *podFixture) stop() error {
	s.cancel()
	return <-s.ended
}

// until waits for a condition while a second of the fake clock passes at every look.
func (s *podFixture) until(what string, holds func() bool) {
	s.t.Helper()
	s.await(what, holds, func() { s.clock.Step(time.Second) })
}

// soon waits for a condition while the fake clock stands still.
func (s *podFixture) soon(what string, holds func() bool) {
	s.t.Helper()
	s.await(what, holds, func() {})
}

func (s *podFixture) await(what string, holds func() bool, between func()) {
	s.t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("waited in vain: %s; calls %q, pods %s", what, s.provider.log(), s.show())
		case <-ticker.C:
			between()
		}
	}
}

// idle waits until no queue holds work.
func (s *podFixture) idle() {
	s.t.Helper()
	s.soon("idle queues", func() bool {
		return s.controller.pods.len()+s.controller.statuses.len()+s.controller.removals.len() == 0
	})
}

func (s *podFixture) create(pod *corev1.Pod) {
	s.t.Helper()
	if _, err := s.api.CoreV1().Pods(pod.Namespace).Create(s.ctx, pod, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// get is the pod in the API; nil if it isn't there.
func (s *podFixture) get(name string) *corev1.Pod {
	pod, err := s.api.CoreV1().Pods("default").Get(s.ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return pod
}

// edit changes a pod in the API.
func (s *podFixture) edit(name string, change func(*corev1.Pod)) {
	s.t.Helper()
	pod := s.get(name)
	if pod == nil {
		s.t.Fatalf("pod %s isn't there to be changed", name)
	}
	change(pod)
	if _, err := s.api.CoreV1().Pods("default").Update(s.ctx, pod, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// remove takes a pod out of the API at once.
func (s *podFixture) remove(name string) {
	s.t.Helper()
	if err := s.api.CoreV1().Pods("default").Delete(s.ctx, name, metav1.DeleteOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

// deleted marks a pod as a deletion with that grace period does; the fake API knows no grace.
func (s *podFixture) deleted(grace *int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		at := metav1.NewTime(s.clock.Now())
		if grace != nil {
			at = metav1.NewTime(at.Add(time.Duration(*grace) * time.Second))
		}
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &at, grace
	}
}

// cached waits until the informer shows the pod "web" so. The fake API knows no conflicts: what is written upon an older
// state would win there.
func (s *podFixture) cached(what string, holds func(*corev1.Pod) bool) {
	s.t.Helper()
	s.soon(what+" in the cache", func() bool {
		pod, err := s.controller.lister.Pods("default").Get("web")
		return err == nil && holds(pod)
	})
}

func (s *podFixture) phase(name string) corev1.PodPhase {
	if pod := s.get(name); pod != nil {
		return pod.Status.Phase
	}
	return "gone"
}

func (s *podFixture) show() string {
	list, err := s.api.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, pod := range list.Items {
		all = append(all, fmt.Sprintf("%s %s deleted %v", pod.Name, pod.Status.Phase, pod.DeletionTimestamp))
	}
	return strings.Join(all, "; ")
}

// aPod is bound to node "virtual", with one container.
func aPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(name + "-uid"), ResourceVersion: "1",
			Labels: map[string]string{"app": name},
		},
		Spec: corev1.PodSpec{
			NodeName: "virtual", EnableServiceLinks: new(false),
			Containers: []corev1.Container{{Name: "main", Image: "registry.example/app:1"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// A spy is a mock provider that notes each call and can be made to fail.
type spy struct {
	*MockProvider
	mu    sync.Mutex
	calls []string
	fails func(call string, pod *corev1.Pod) error
}

func (p *spy) note(call string, pod *corev1.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, call+" "+pod.Name)
	if p.fails != nil {
		return p.fails(call, pod)
	}
	return nil
}

func (p *spy) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	if err := p.note("create", pod); err != nil {
		return err
	}
	return p.MockProvider.CreatePod(ctx, pod)
}

func (p *spy) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	if err := p.note("update", pod); err != nil {
		return err
	}
	return p.MockProvider.UpdatePod(ctx, pod)
}

func (p *spy) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	if err := p.note("delete", pod); err != nil {
		return err
	}
	return p.MockProvider.DeletePod(ctx, pod)
}

// failing sets what calls fail from now on.
func (p *spy) failing(fails func(call string, pod *corev1.Pod) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fails = fails
}

// log is the calls so far.
func (p *spy) log() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls)
}

// count counts the calls "verb name".
func (p *spy) count(call string) int {
	n := 0
	for _, c := range p.log() {
		if c == call {
			n++
		}
	}
	return n
}

// silent hides that a provider reports by itself, so that it is polled.
type silent struct{ PodLifecycleHandler }
