package live

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// toldOf is a pods that notes what the scenario is told of each pod, in its order.
func toldOf(t *testing.T) (p *pods, told *[]string) {
	t.Helper()
	told = &[]string{}
	p = newPods()
	t.Cleanup(p.line.close)
	p.serves = func(string) bool { return true }
	p.give = func(pod *corev1.Pod) bool {
		word := "run "
		if pod.DeletionTimestamp != nil {
			word = "end "
		}
		*told = append(*told, word+pod.Name)
		return true
	}
	p.left = func(pod *corev1.Pod) { *told = append(*told, "left "+pod.Name) }
	return p, told
}

// A pod that is being deleted leaves the API, and the controller ends what it holds
// then: the scenario must not hear that the pod runs or ends once more, since nobody
// would ever tell it that it is gone.
func TestPodThatHasLeftIsNotToldAgain(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "1"}, Spec: corev1.PodSpec{NodeName: "ip-10-0-0-4"}}
	ends := pod.DeepCopy()
	now := metav1.Now()
	ends.DeletionTimestamp = &now
	for name, begin := range map[string]func(*pods) error{
		"of this live run":       func(p *pods) error { return p.CreatePod(t.Context(), pod.DeepCopy()) },
		"of an earlier live run": func(*pods) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			p, told := toldOf(t)
			if err := begin(p); err != nil {
				t.Fatal(err)
			}
			if err := p.DeletePod(t.Context(), ends.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			held, err := p.GetPodByUID(t.Context(), "shop", "web-0", "1")
			if err != nil {
				t.Fatal(err)
			}
			if err := p.DeletePod(t.Context(), held); err != nil { // it isn't in the API any more
				t.Fatal(err)
			}
			if want := []string{"run web-0", "end web-0", "left web-0"}; !slices.Equal(*told, want) {
				t.Errorf("told %q, want %q", *told, want)
			}
			if all, err := p.GetPods(t.Context()); err != nil || len(all) > 0 {
				t.Errorf("%d pods are held, error %v: want none", len(all), err)
			}
		})
	}
}

// A pod that is on the server as its kubelet has it is held once, although the
// time at which it was scheduled is the scheduler's; one that differs is held as its
// kubelet has it.
func TestPodAtRestIsHeldOnce(t *testing.T) {
	status := func(scheduled, ready int64) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(ready, 0)},
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(scheduled, 0)},
		}}
	}
	held := func(server *corev1.Pod) *corev1.Pod {
		p, _ := toldOf(t)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "1"}, Spec: corev1.PodSpec{NodeName: "ip-10-0-0-4"}}
		if err := p.CreatePod(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		said := pod.DeepCopy()
		said.Status = status(10, 20)
		p.post(said)
		p.share(server)
		is, err := p.GetPodByUID(t.Context(), "shop", "web-0", "1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := is.Status.Conditions[0].LastTransitionTime.Unix(); diff != 20 {
			t.Errorf("Ready since %d: want what the kubelet has said, 20", diff)
		}
		return is
	}
	server := func(status corev1.PodStatus) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "1", ResourceVersion: "7"},
			Spec:       corev1.PodSpec{NodeName: "ip-10-0-0-4"}, Status: status,
		}
	}
	if same := server(status(11, 20)); held(same) != same {
		t.Error("a pod that is as the server has it is held twice")
	}
	if other := server(status(10, 21)); held(other) == other {
		t.Error("a pod that isn't as the server has it was let go of")
	}
	unscheduled := status(10, 20)
	unscheduled.Conditions[1].Status = corev1.ConditionFalse
	if other := server(unscheduled); held(other) == other {
		t.Error("a pod that the server has as unscheduled was let go of")
	}
}
