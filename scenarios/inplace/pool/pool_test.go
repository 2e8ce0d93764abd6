package pool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace"
	agentsv1alpha1 "github.com/nodesim/nodesim/scenarios/inplace/agents/v1alpha1"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const prefix = "agentbox.navix.sh/"

// fixture is a pool over an API server without a kubelet, whose part the test plays.
type fixture struct {
	t      *testing.T
	client client.Client
	clock  *testclock.FakeClock
	pool   *pool.Pool
	mu     sync.Mutex
	ends   []pool.Stopped
}

func newFixture(t *testing.T, funcs interceptor.Funcs, pods ...string) *fixture {
	b := fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).WithInterceptorFuncs(funcs)
	for _, name := range pods {
		pod := fakekubelet.New(name, "idle:1", "side:1")
		pod.Labels[prefix+"sandbox-phase"] = "idle"
		b = b.WithObjects(pod)
	}
	idle := &agentsv1alpha1.SandboxPool{}
	idle.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "box:0"}, {Name: "side", Image: "side:1"}}
	idle.Spec.IdleImage = "idle:1"
	w := &fixture{t: t, client: b.Build(), clock: testclock.NewFakeClock(fakekubelet.T0)}
	w.pool = &pool.Pool{
		Client: w.client, Clock: w.clock, Namespace: "shop", Idle: idle, Limits: pool.Limits{Startup: time.Minute, Stop: time.Minute},
		OnStopped: func(_ context.Context, end pool.Stopped) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.ends = append(w.ends, end)
			return nil
		},
	}
	return w
}

func (w *fixture) pod(name string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, pod); err != nil {
		w.t.Fatal(err)
	}
	return pod
}

func (w *fixture) kubelet(name string, step func(*corev1.Pod) *corev1.Pod) {
	w.t.Helper()
	if err := w.client.Status().Update(w.t.Context(), step(w.pod(name))); err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) pass(want ...string) {
	w.t.Helper()
	actions, err := w.pool.Pass(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, a := range actions {
		got = append(got, a.String())
	}
	if !slices.Equal(got, want) {
		w.t.Fatalf("actions %q: want %q", got, want)
	}
}

func (w *fixture) claim(id string) *corev1.Pod {
	w.t.Helper()
	pod, err := w.pool.Claim(w.t.Context(), pool.Claim{SandboxID: id, Images: map[string]string{"app": "box:1"}, Labels: map[string]string{"team": "a"}})
	if err != nil {
		w.t.Fatal(err)
	}
	return pod
}

func (w *fixture) phase(name, want string) *corev1.Pod {
	w.t.Helper()
	pod := w.pod(name)
	if got := inplace.GetSandboxPhase(pod); got != want {
		w.t.Fatalf("pod %s is %s: want %s", name, got, want)
	}
	return pod
}

// running claims a pod and brings it up.
func (w *fixture) running(id string) *corev1.Pod {
	w.t.Helper()
	pod := w.claim(id)
	w.kubelet(pod.Name, fakekubelet.Settle)
	w.pass("mark shop/" + pod.Name)
	return w.phase(pod.Name, "running")
}

func TestTheLifeOfASandbox(t *testing.T) {
	w := newFixture(t, interceptor.Funcs{}, "box-1")
	pod := w.claim("s-1")
	if pod.Labels[prefix+"sandbox-id"] != "s-1" || pod.Annotations[prefix+"claimed-at"] == "" || pod.Spec.Containers[0].Image != "box:1" {
		t.Fatal(pod.Labels, pod.Annotations)
	}
	w.pass()
	w.kubelet("box-1", fakekubelet.Settle)
	w.pass("mark shop/box-1")
	w.clock.Step(time.Hour)
	running := w.phase("box-1", "running")
	if _, err := w.pool.Release(t.Context(), running, pool.Stopped{Reason: "Stopped"}); err != nil {
		t.Fatal(err)
	}
	if stopping := w.phase("box-1", "stopping"); stopping.Labels[prefix+"sandbox-id"] != "s-1" || stopping.Annotations[prefix+"stop-reason"] != "Stopped" {
		t.Fatal(stopping.Labels, stopping.Annotations)
	}
	w.kubelet("box-1", fakekubelet.Settle)
	w.pass("mark shop/box-1")
	idle := w.phase("box-1", "idle")
	for _, key := range []string{"sandbox-id", "stop-reason", "container-id", "running-images", "terminated-at"} {
		if idle.Annotations[prefix+key] != "" || idle.Labels[prefix+key] != "" {
			t.Errorf("an idle pod has %s", key)
		}
	}
	want := []pool.Stopped{{
		SandboxID: "s-1", Namespace: "shop", Pod: "box-1", Reason: "Stopped", TerminatedAt: fakekubelet.T0.Add(time.Hour),
		RunningImages: map[string]string{"app": "box:1", "side": "side:1"},
	}}
	if diff := cmp.Diff(want, w.ends); diff != "" {
		t.Error(diff)
	}
	w.pass()
}

func TestARestartReleasesTheSandbox(t *testing.T) {
	w := newFixture(t, interceptor.Funcs{}, "box-1")
	w.running("s-1")
	w.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod {
		fakekubelet.Start(pod, "app")
		last := fakekubelet.Status(pod, "app").LastTerminationState.Terminated
		last.Reason, last.Message = "OOMKilled", "memory"
		return fakekubelet.Settle(pod)
	})
	w.pass("release shop/box-1: Failed: OOMKilled")
	pod := w.phase("box-1", "stopping")
	for key, want := range map[string]string{
		"sandbox-id": "s-1", "stop-reason": "Failed", "failure-reason": "OOMKilled", "failure-message": "memory", "exit-code": "137",
		"container-id": "containerd://box-1-app-1",
	} {
		if got := pod.Annotations[prefix+key]; got != want {
			t.Errorf("%s is %q: want %q", key, got, want)
		}
	}
	w.kubelet("box-1", fakekubelet.Settle)
	w.pass("mark shop/box-1")
	w.phase("box-1", "idle")
	if len(w.ends) != 1 || w.ends[0].FailureReason != "OOMKilled" || *w.ends[0].ExitCode != 137 {
		t.Errorf("%+v", w.ends)
	}
}

func TestAStartThatTakesTooLong(t *testing.T) {
	w := newFixture(t, interceptor.Funcs{}, "box-1")
	w.claim("s-1")
	w.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Wait(pod, "app", "ImagePullBackOff", "") })
	w.clock.Step(time.Minute)
	w.pass()
	w.clock.Step(time.Second)
	w.pass("release shop/box-1: StartupTimeout")
	w.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Wait(pod, "app", "ImagePullBackOff", "") })
	w.clock.Step(61 * time.Second)
	w.pass("fail shop/box-1: DeadlineExceeded")
	w.phase("box-1", "failed")
}

func TestAnImageNameThatCanNotBeParsedIsAFailureAtOnce(t *testing.T) {
	w := newFixture(t, interceptor.Funcs{}, "box-1")
	w.claim("s-1")
	w.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Wait(pod, "app", "InvalidImageName", "") })
	w.pass("release shop/box-1: Failed: InvalidImageName")
}

func TestAReleaseWithIdleImagesIsIdleAtOnce(t *testing.T) {
	w := newFixture(t, interceptor.Funcs{}, "box-1")
	pod, err := w.pool.Claim(t.Context(), pool.Claim{SandboxID: "s-1", Images: map[string]string{"app": "idle:1"}})
	if err != nil || inplace.GetSandboxPhase(pod) != "running" {
		t.Fatal(pod, err)
	}
	if _, err := w.pool.Release(t.Context(), pod, pool.Stopped{Reason: "Stopped"}); err != nil {
		t.Fatal(err)
	}
	w.phase("box-1", "idle")
	if len(w.ends) != 1 || w.ends[0].SandboxID != "s-1" || w.ends[0].RunningImages["app"] != "idle:1" {
		t.Errorf("%+v", w.ends)
	}
	_, err = w.pool.Release(t.Context(), w.pod("box-1"), pool.Stopped{Reason: "Stopped"})
	if !errors.Is(err, inplace.ErrUnexpectedPodPhase) {
		t.Error("an idle pod was released:", err)
	}
}

func TestAnEndThatCanNotBeRecordedStays(t *testing.T) {
	w := newFixture(t, interceptor.Funcs{}, "box-1")
	pod := w.running("s-1")
	if _, err := w.pool.Release(t.Context(), pod, pool.Stopped{Reason: "Stopped"}); err != nil {
		t.Fatal(err)
	}
	w.kubelet("box-1", fakekubelet.Settle)
	record, full := w.pool.OnStopped, errors.New("disk is full")
	w.pool.OnStopped = func(context.Context, pool.Stopped) error { return full }
	if _, err := w.pool.Pass(t.Context()); !errors.Is(err, full) {
		t.Fatal(err)
	}
	w.phase("box-1", "stopping")
	w.pool.OnStopped = record
	w.pass("mark shop/box-1")
	w.phase("box-1", "idle")
}

func TestClaimsTakeTheLongestIdleAndEachAnother(t *testing.T) {
	w := newFixture(t, interceptor.Funcs{}, "box-1", "box-2", "box-3")
	w.running("s-1") // box-1
	if _, err := w.pool.Release(t.Context(), w.pod("box-1"), pool.Stopped{Reason: "Stopped"}); err != nil {
		t.Fatal(err)
	}
	w.kubelet("box-1", fakekubelet.Settle)
	w.pass("mark shop/box-1")
	var got []string
	for i := range 3 {
		got = append(got, w.claim(fmt.Sprintf("s-%d", i+2)).Name)
	}
	if want := []string{"box-2", "box-3", "box-1"}; !slices.Equal(got, want) {
		t.Errorf("claimed %v: want %v", got, want)
	}
	_, err := w.pool.Claim(t.Context(), pool.Claim{SandboxID: "s-9"})
	if !errors.Is(err, inplace.ErrNoIdlePodsAvailable) {
		t.Error(err)
	}
}

func TestManyClaimsAtOnce(t *testing.T) {
	names := make([]string, 12)
	for i := range names {
		names[i] = fmt.Sprintf("box-%02d", i)
	}
	w := newFixture(t, interceptor.Funcs{}, names...)
	var (
		g     sync.WaitGroup
		mu    sync.Mutex
		taken = map[string]int{}
		none  int
	)
	for i := range 16 {
		g.Go(func() {
			pod, err := w.pool.Claim(t.Context(), pool.Claim{SandboxID: fmt.Sprint("s-", i), Images: map[string]string{"app": "box:1"}})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				taken[pod.Name]++
			case errors.Is(err, inplace.ErrNoIdlePodsAvailable):
				none++
			default:
				t.Error(err)
			}
		})
	}
	g.Wait()
	if len(taken) != 12 || none != 4 {
		t.Errorf("%d pods were claimed, %d claims got none: %v", len(taken), none, taken)
	}
	for name, n := range taken {
		if n != 1 {
			t.Errorf("pod %s was claimed %d times", name, n)
		}
	}
}

func TestAConflictWhileReleasingIsLeftToTheNextPass(t *testing.T) {
	away := false
	funcs := interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
		if away {
			away = false
			other := &corev1.Pod{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(obj), other); err != nil {
				return err
			}
			other.Labels["other"] = "1"
			if err := c.Update(ctx, other); err != nil {
				return err
			}
		}
		return c.Patch(ctx, obj, patch, opts...)
	}}
	w := newFixture(t, funcs, "box-1")
	w.running("s-1")
	w.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Settle(fakekubelet.Start(pod, "app")) })
	away = true
	w.pass("release shop/box-1: Failed: Error")
	w.phase("box-1", "running")
	w.pass("release shop/box-1: Failed: Error")
	w.phase("box-1", "stopping")
}

func TestPodsThatAreDeletedOrBroken(t *testing.T) {
	deleted, broken := fakekubelet.New("box-1", "idle:1"), fakekubelet.New("box-2", "idle:1")
	now := deleted.CreationTimestamp
	deleted.DeletionTimestamp = &now
	deleted.Labels[prefix+"sandbox-phase"] = "starting"
	broken.Annotations = map[string]string{inplace.PodAnnotationInPlaceUpdateStateKey: "{"}
	actions := pool.Plan(podupdate.Keys{}, nil, pool.Limits{}, []corev1.Pod{*broken, *deleted}, fakekubelet.T0)
	if len(actions) != 1 || actions[0].Kind != pool.Broken || !strings.Contains(actions[0].Reason, "state annotation is broken") {
		t.Errorf("%v", actions)
	}
}

// A pod between two phases whose state somebody has removed is released when its time is over.
func TestPodsWithoutAState(t *testing.T) {
	pod := fakekubelet.New("box-1", "idle:1")
	pod.Labels[prefix+"sandbox-phase"] = "starting"
	pod.CreationTimestamp = metav1.NewTime(fakekubelet.T0)
	for after, want := range map[time.Duration]string{time.Minute: "", time.Minute + time.Second: "release shop/box-1: StartupTimeout"} {
		got := ""
		for _, a := range pool.Plan(podupdate.Keys{}, nil, pool.Limits{Startup: time.Minute}, []corev1.Pod{*pod}, fakekubelet.T0.Add(after)) {
			got += a.String()
		}
		if got != want {
			t.Errorf("after %s: found %q, want %q", after, got, want)
		}
	}
}

// A pod that has begun to go since it was listed is no sandbox.
func TestClaimsPassByWhatGoes(t *testing.T) {
	first := true
	w := newFixture(t, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		err := c.Get(ctx, key, obj, opts...)
		if pod, is := obj.(*corev1.Pod); is && first && err == nil {
			first = false
			pod.Status.Phase = corev1.PodFailed
		}
		return err
	}}, "box-1", "box-2")
	pod, err := w.pool.Claim(t.Context(), pool.Claim{SandboxID: "s-1", Images: map[string]string{"app": "idle:1"}})
	if err != nil || first {
		t.Fatal(pod, err)
	}
}
