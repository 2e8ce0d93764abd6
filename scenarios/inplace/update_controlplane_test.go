//go:build controlplane

package inplace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/inplace"
	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
	"github.com/nodesim/nodesim/scenarios/inplace/internal/fakekubelet"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
)

// cluster is a namespace of a real API server whose kubelet is the test.
type cluster struct {
	t         *testing.T
	client    client.Client
	namespace string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c, err := client.New(testcluster.Shared(t).Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// A resize is admitted only where the pod's node exists (k8s.io/kubernetes, plugin/pkg/admission/podresize).
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	if err := c.Create(t.Context(), node); err == nil {
		node.Status.Allocatable = list("4", "8Gi")
		node.Status.Capacity = node.Status.Allocatable
		if err := c.Status().Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	} else if !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "inplace-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return &cluster{t: t, client: c, namespace: ns.Name}
}

// create makes a bound pod that runs.
func (c *cluster) create(name string, change func(*corev1.Pod), images ...string) *corev1.Pod {
	c.t.Helper()
	automount := false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "node-1", AutomountServiceAccountToken: &automount},
	}
	for i, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fakekubelet.Names[i], Image: image})
	}
	if change != nil {
		change(pod)
	}
	if err := c.client.Create(c.t.Context(), pod); err != nil {
		c.t.Fatal(err)
	}
	return c.kubelet(name, fakekubelet.Settle)
}

func (c *cluster) get(name string) *corev1.Pod {
	c.t.Helper()
	pod := &corev1.Pod{}
	if err := c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: name}, pod); err != nil {
		c.t.Fatal(err)
	}
	return pod
}

// kubelet writes the status of a pod, again where another write comes between.
func (c *cluster) kubelet(name string, step func(*corev1.Pod) *corev1.Pod) *corev1.Pod {
	c.t.Helper()
	var pod *corev1.Pod
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		pod = step(c.get(name))
		return c.client.Status().Update(c.t.Context(), pod)
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return pod
}

func TestARealPodIsUpdatedWhole(t *testing.T) {
	c := newCluster(t)
	u := podupdate.Updater{Pods: inplace.Pods(c.client, nil)}
	before := c.create("box-1", nil, "app:1", "side:1")
	triggered, err := u.Trigger(t.Context(), before, inplace.UpdateOptions{
		ContainerImages: map[string]string{"app": "app:2", "side": "docker.io/library/side:1"}, Labels: map[string]string{"team": "a"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if triggered.UID != before.UID || triggered.Generation != before.Generation+1 || triggered.Labels["team"] != "a" {
		t.Fatalf("uid %s, generation %d, labels %v", triggered.UID, triggered.Generation, triggered.Labels)
	}
	for _, step := range []struct {
		do     func(*corev1.Pod) *corev1.Pod
		reason string
	}{
		{func(pod *corev1.Pod) *corev1.Pod { return pod }, podupdate.ReasonNotObserved},
		{fakekubelet.Observe, podupdate.ReasonOldContainer},
		{func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Kill(pod, "app") }, "ContainerCreating"},
		{func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Start(pod, "app") }, podupdate.ReasonNotReady},
	} {
		c.kubelet("box-1", step.do)
		m, err := u.Mark(t.Context(), triggered)
		if err != nil || m.Written || m.Progress.Reason != step.reason {
			t.Fatalf("%+v, %v: want %s", m.Progress, err, step.reason)
		}
	}
	c.kubelet("box-1", fakekubelet.Settle)
	marked, err := inplace.MarkUpdateCompleted(t.Context(), c.client, nil, triggered, imageresolver.Recorded{})
	if err != nil || inplace.GetSandboxPhase(marked) != "running" || inplace.HasUnexpectedRestart(marked) {
		t.Fatal(marked, err)
	}
	restarted := c.kubelet("box-1", func(pod *corev1.Pod) *corev1.Pod { return fakekubelet.Settle(fakekubelet.Start(pod, "app")) })
	if !inplace.HasUnexpectedRestart(restarted) {
		t.Error("a restart wasn't found")
	}
	back, err := u.Rollback(t.Context(), restarted, podupdate.Progress{Reason: "Why"}, "")
	if err != nil || back.Spec.Containers[0].Image != "app:1" {
		t.Fatal(back, err)
	}
}

func TestTheServerRefusesAnEphemeralContainersChangeAndSoDoWe(t *testing.T) {
	c := newCluster(t)
	pod := c.create("box-1", func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "setup:1"}}
	}, "app:1")
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		Name: "debug", Image: "debug:1", ImagePullPolicy: corev1.PullIfNotPresent, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}}}
	if err := c.client.SubResource("ephemeralcontainers").Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	u := podupdate.Updater{Pods: inplace.Pods(c.client, nil)}
	_, err := u.Trigger(t.Context(), pod, inplace.UpdateOptions{ContainerImages: map[string]string{"debug": "debug:2"}})
	wantError(t, err, podupdate.ErrEphemeralContainer)
	live := c.get("box-1")
	live.Spec.EphemeralContainers[0].Image = "debug:2"
	if err := c.client.SubResource("ephemeralcontainers").Update(t.Context(), live); !apierrors.IsInvalid(err) {
		t.Error("the server takes what is refused here:", err)
	}
	if _, err := u.Trigger(t.Context(), pod, inplace.UpdateOptions{ContainerImages: map[string]string{"setup": "setup:2"}}); err != nil {
		t.Fatal(err)
	}
	c.kubelet("box-1", fakekubelet.Settle)
	if m, err := u.Mark(t.Context(), c.get("box-1")); err != nil || !m.Written || m.Pod.Spec.InitContainers[0].Image != "setup:2" {
		t.Errorf("%+v, %v", m, err)
	}
}

// Writers of labels and the kubelet keep writing to a pod while it is updated several times. What they write stays.
func TestAConflictStorm(t *testing.T) {
	c := newCluster(t)
	pod := c.create("box-1", nil, "app:0")
	var g sync.WaitGroup
	const writers, marks = 3, 15
	for w := range writers {
		g.Go(func() {
			for m := range marks {
				err := retry.RetryOnConflict(retryLong, func() error {
					live := &corev1.Pod{}
					if err := c.client.Get(t.Context(), client.ObjectKeyFromObject(pod), live); err != nil {
						return err
					}
					live.Labels[fmt.Sprintf("mark-%d-%d", w, m)] = "x"
					return c.client.Update(t.Context(), live)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	u, updates := podupdate.Updater{Pods: inplace.Pods(c.client, nil)}, 0
	for i := 1; i <= 6; i++ {
		image := fmt.Sprintf("app:%d", i)
		until(t, func() error {
			_, err := u.Trigger(t.Context(), pod, inplace.UpdateOptions{ContainerImages: map[string]string{"app": image}})
			return err
		})
		until(t, func() error {
			live := &corev1.Pod{}
			if err := c.client.Get(t.Context(), client.ObjectKeyFromObject(pod), live); err != nil {
				return err
			}
			return c.client.Status().Update(t.Context(), fakekubelet.Settle(live))
		})
		until(t, func() error {
			m, err := u.Mark(t.Context(), c.get("box-1"))
			if err == nil && m.Written {
				updates++
			}
			return err
		})
	}
	g.Wait()
	live := c.get("box-1")
	if updates != 6 || live.Spec.Containers[0].Image != "app:6" || inplace.GetSandboxPhase(live) != "running" {
		t.Errorf("%d updates, image %s, phase %s", updates, live.Spec.Containers[0].Image, inplace.GetSandboxPhase(live))
	}
	found := 0
	for key := range live.Labels {
		if len(key) > 5 && key[:5] == "mark-" {
			found++
		}
	}
	if found != writers*marks {
		t.Errorf("%d marks are there: want %d", found, writers*marks)
	}
}

// until repeats what ends in a conflict.
func until(t *testing.T, do func() error) {
	t.Helper()
	if err := retry.RetryOnConflict(retryLong, do); err != nil {
		t.Fatal(err)
	}
}

// retryLong gives a writer its turn among many.
var retryLong = wait.Backoff{Steps: 100, Duration: 5 * time.Millisecond, Factor: 1, Jitter: 1}

func TestAPodThatIsReplacedInTheMiddle(t *testing.T) {
	c := newCluster(t)
	u := podupdate.Updater{Pods: inplace.Pods(c.client, nil)}
	triggered, err := u.Trigger(t.Context(), c.create("box-1", nil, "app:1"), inplace.UpdateOptions{ContainerImages: map[string]string{"app": "app:2"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.client.Delete(t.Context(), triggered, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Mark(t.Context(), triggered); !apierrors.IsNotFound(err) {
		t.Error("gone:", err)
	}
	c.create("box-1", nil, "app:1")
	_, err = u.Mark(t.Context(), triggered)
	wantError(t, err, podupdate.ErrPodReplaced)
	_, err = u.Rollback(t.Context(), triggered, podupdate.Progress{}, "")
	wantError(t, err, podupdate.ErrPodReplaced)
	if live := c.get("box-1"); len(live.Annotations) != 0 || live.Generation != 1 {
		t.Error("the other pod was touched:", live.Annotations)
	}
}

func TestARollOverARealServer(t *testing.T) {
	c := newCluster(t)
	for i := range 4 {
		c.create(fmt.Sprintf("web-%d", i), nil, "web:1")
	}
	c.create("other", func(pod *corev1.Pod) { pod.Labels["app"] = "other" }, "web:1")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("the roll takes too long"))
	defer cancel()
	most := 0
	wake := make(chan struct{}, 1)
	r := &roller.Roller{
		Pods: inplace.Pods(c.client, nil), Namespace: c.namespace, Selector: labels.SelectorFromSet(labels.Set{"app": "web"}), Wake: wake,
		Roll: roller.Roll{Images: map[string]string{"app": "web:2"}, MaxUnavailable: 2, Replicas: 4, Deadline: 5 * time.Minute, Digests: &imageresolver.Learned{}},
		OnAction: func(a roller.Action, err error) {
			if err != nil {
				t.Errorf("%s: %v", a, err)
			}
			if a.Kind == roller.Trigger {
				c.kubelet(a.Pod, fakekubelet.Settle)
			}
			select {
			case wake <- struct{}{}:
			default:
			}
		},
		OnPass: func(d roller.Decision) { most = max(most, d.Counts.Unavailable) },
	}
	d, err := r.Run(ctx)
	if err != nil || d.Standing != roller.Finished || d.Counts.Updated != 4 || most > 2 {
		t.Fatal(d, err, most)
	}
	if other := c.get("other"); other.Spec.Containers[0].Image != "web:1" || len(other.Annotations) != 0 {
		t.Error("a pod beyond the selector was touched")
	}
}
