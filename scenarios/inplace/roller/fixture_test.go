package roller_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
)

// fixture is an API server without a kubelet, whose part the test plays, and a Roller.
type fixture struct {
	t      *testing.T
	client client.Client
	clock  *testclock.FakeClock
	roller *roller.Roller
	told   []string // what the Roller has done
}

func newFixture(t *testing.T, roll roller.Roll, pods ...*corev1.Pod) *fixture {
	return interfered(t, interceptor.Funcs{}, roll, pods...)
}

func interfered(t *testing.T, funcs interceptor.Funcs, roll roller.Roll, pods ...*corev1.Pod) *fixture {
	t.Helper()
	b := fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).WithInterceptorFuncs(funcs)
	for _, pod := range pods {
		b = b.WithObjects(pod)
	}
	w := &fixture{t: t, client: b.Build(), clock: testclock.NewFakeClock(fakekubelet.T0)}
	w.roller = &roller.Roller{
		Pods: inplace.Pods(w.client, nil), Clock: w.clock, Namespace: "shop", Roll: roll,
		OnAction: func(a roller.Action, err error) {
			text := a.String()
			if err != nil {
				text += " -> " + err.Error()
			}
			w.told = append(w.told, text)
		},
	}
	return w
}

func (w *fixture) pass() roller.Decision {
	w.t.Helper()
	d, err := w.roller.Pass(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *fixture) pods() []corev1.Pod {
	w.t.Helper()
	var list corev1.PodList
	if err := w.client.List(w.t.Context(), &list); err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

func (w *fixture) pod(name string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, pod); err != nil {
		w.t.Fatal(err)
	}
	return pod
}

// kubelet writes a pod's status.
func (w *fixture) kubelet(name string, step func(*corev1.Pod) *corev1.Pod) {
	w.t.Helper()
	if err := w.client.Status().Update(w.t.Context(), step(w.pod(name))); err != nil {
		w.t.Fatal(err)
	}
}

// settle has every kubelet finish what it has to do.
func (w *fixture) settle() {
	w.t.Helper()
	for _, pod := range w.pods() {
		w.kubelet(pod.Name, fakekubelet.Settle)
	}
}

// images are the images of the first containers, by the pods' names.
func (w *fixture) images() string {
	var all []string
	for _, pod := range w.pods() {
		all = append(all, pod.Spec.Containers[0].Image)
	}
	return strings.Join(all, " ")
}

// unavailable counts the pods that aren't ready.
func unavailable(pods []corev1.Pod) int {
	n := 0
	for _, pod := range pods {
		if !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			n++
		}
	}
	return n
}

// some are pods web-0, web-1 and so on, that run an image.
func some(n int, image string) []*corev1.Pod {
	pods := make([]*corev1.Pod, n)
	for i := range pods {
		pods[i] = fakekubelet.New(fmt.Sprintf("web-%d", i), image)
	}
	return pods
}

func (w *fixture) did(want ...string) {
	w.t.Helper()
	if !slices.Equal(w.told, want) {
		w.t.Fatalf("done:\n%s\nwant:\n%s", strings.Join(w.told, "\n"), strings.Join(want, "\n"))
	}
	w.told = nil
}

func to(image string) roller.Roll {
	return roller.Roll{Images: map[string]string{"app": image}, Deadline: 5 * time.Minute}
}
