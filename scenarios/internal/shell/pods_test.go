package shell_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/scenarios/internal/shell"
	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// start is when the container of pod web-0 has started.
var start = time.Date(2026, 11, 20, 22, 21, 9, 0, time.UTC)

// changingPods is pods that a test changes.
type changingPods struct {
	mu   sync.Mutex
	pods []*corev1.Pod
}

func (c *changingPods) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, pod := range c.pods {
		if pod.Namespace == namespace && pod.Name == name {
			return pod.DeepCopy(), nil
		}
	}
	return nil, nil
}

func (c *changingPods) GetPods(context.Context) ([]*corev1.Pod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*corev1.Pod(nil), c.pods...), nil
}

// change changes the first pod.
func (c *changingPods) change(f func(*corev1.Pod)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.pods[0].DeepCopy()
	f(changed)
	c.pods[0] = changed
}

// runningPod is pod web-0 of namespace shop, which has run since start and been ready two seconds later.
func runningPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "9f1c", CreationTimestamp: metav1.NewTime(start.Add(-time.Second))},
		Spec: corev1.PodSpec{NodeName: "ip-10-0-1-10", Containers: []corev1.Container{{
			Name: "app", Image: "shop/web:1.2", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("100Mi")},
			},
		}}},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(start.Add(2 * time.Second))}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", Image: "shop/web:1.2", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start)}},
			}},
		},
	}
}

// terminate ends the container of a pod.
func terminate(at time.Time, code int32, reason string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			StartedAt: metav1.NewTime(start), FinishedAt: metav1.NewTime(at), ExitCode: code, Reason: reason,
		}}
	}
}

// scripted is web-0 some time after its start.
func scripted(after time.Duration) (*shell.Scripted, *changingPods, *clocktesting.FakeClock) {
	pods, clock := &changingPods{pods: []*corev1.Pod{runningPod()}}, clocktesting.NewFakeClock(start.Add(after))
	return &shell.Scripted{Pods: pods, Clock: clock}, pods, clock
}

// client is an api.AttachIO.
type client struct {
	in        io.Reader
	out, errs *output
	tty       bool
	sizes     chan api.TermSize
}

func (c *client) Stdin() io.Reader            { return c.in }
func (c *client) Stdout() io.WriteCloser      { return c.out }
func (c *client) Stderr() io.WriteCloser      { return c.errs }
func (c *client) TTY() bool                   { return c.tty }
func (c *client) Resize() <-chan api.TermSize { return c.sizes }

// output is what a client has got; until waits for a text in it.
type output struct {
	mu    sync.Mutex
	fresh sync.Cond
	text  bytes.Buffer
	seen  int
}

func newOutput() *output {
	o := &output{}
	o.fresh.L = &o.mu
	return o
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fresh.Broadcast()
	return o.text.Write(p)
}

func (o *output) Close() error { return nil }

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// until waits for a text after the one that was waited for before, and is false if the context ends first.
func (o *output) until(ctx context.Context, text string) bool {
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.fresh.Broadcast()
	})
	defer stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if i := bytes.Index(o.text.Bytes()[o.seen:], []byte(text)); i >= 0 {
			o.seen += i + len(text)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		o.fresh.Wait()
	}
}
