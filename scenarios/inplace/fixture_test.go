package inplace_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
)

const (
	phaseLabel = "agentbox.navix.sh/sandbox-phase"
	stateKey   = inplace.PodAnnotationInPlaceUpdateStateKey
	prefix     = "agentbox.navix.sh/"
)

// t0 is when updates are triggered, where a test gives the time.
var t0 = fakekubelet.T0

// aPod is a running pod with a sandbox phase; the empty one is no label.
func aPod(phase string, images ...string) *corev1.Pod {
	pod := fakekubelet.New("box-1", images...)
	if phase != "" {
		pod.Labels[phaseLabel] = phase
	}
	return pod
}

// withState puts a state on a pod.
func withState(t *testing.T, pod *corev1.Pod, s inplace.InplaceUpdateState) *corev1.Pod {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return withAnnotation(pod, string(text))
}

func withAnnotation(pod *corev1.Pod, text string) *corev1.Pod {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[stateKey] = text
	return pod
}

func state(t *testing.T, pod *corev1.Pod) *inplace.InplaceUpdateState {
	t.Helper()
	s, err := inplace.GetInplaceUpdateState(pod)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func server(pods ...*corev1.Pod) client.WithWatch { return meddled(interceptor.Funcs{}, pods...) }

func meddled(funcs interceptor.Funcs, pods ...*corev1.Pod) client.WithWatch {
	b := fake.NewClientBuilder().WithStatusSubresource(&corev1.Pod{}).WithInterceptorFuncs(funcs)
	for _, pod := range pods {
		b = b.WithObjects(pod.DeepCopy())
	}
	return b.Build()
}

func stored(t *testing.T, c client.Client, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	live := &corev1.Pod{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), live); err != nil {
		t.Fatal(err)
	}
	return live
}

// kubelet has the kubelet finish what it has to do with a stored pod.
func kubelet(t *testing.T, c client.Client, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	live := fakekubelet.Settle(stored(t, c, pod))
	if err := c.Status().Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	return stored(t, c, pod)
}

func ago(d time.Duration) metav1.Time { return metav1.NewTime(t0.Add(-d)) }

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v: want %v", err, want)
	}
}
