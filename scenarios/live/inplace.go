package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// A podRoll is a roll in place: the template of the ReplicaSet first, so that a
// pod that is made meanwhile is born as it shall be; then the pods, by a Roller.
type podRoll struct {
	r        *run
	workload *scenarios.Workload
	deadline time.Duration // in wall time
	roller   roller.Roller

	mu      sync.Mutex
	failure *failedRoll // of the first pod that has failed
	since   time.Time   // since when nothing can be done
}

// rollInPlace rolls the workload's pods at their time, reports the outcome to the live run, and reports unexpected
// restarts until ctx ends.
func (r *run) rollInPlace(ctx context.Context, w *scenarios.Workload, poll func(context.Context) error) error {
	p := &podRoll{r: r, workload: w, deadline: time.Duration(float64(r.file.Roll.JoinTimeout) / r.speed)}
	p.roller = roller.Roller{
		Pods: rollPods{r.clients.kube.CoreV1()}, Namespace: w.Namespace, Selector: labels.SelectorFromSet(w.Labels()),
		Roll: p.wanted(), Poll: r.pollInterval(),
		OnAction: p.done, OnRestart: p.restarted, OnError: r.warn,
	}
	if err := r.await(ctx, r.file.Roll.At, poll); err != nil {
		return err
	}
	if err := r.again(ctx, func(ctx context.Context) error { return p.redefine(ctx, true) }); err != nil {
		return fmt.Errorf("roll of %s in place: its template: %w", w.Name, err)
	}
	err := p.run(ctx)
	var failed *failedRoll
	if err != nil && !errors.As(err, &failed) {
		return err
	}
	if err := r.rolled(ctx, failed); err != nil {
		return err
	}
	return p.watch(ctx, poll)
}

// rollPods are the pods of a roller.Roller over a typed client.
type rollPods struct{ client kubeclient.CoreV1 }

// GetPod implements [roller.Pods].
func (p rollPods) GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return p.client.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
}

// ListPods implements [roller.Pods].
func (p rollPods) ListPods(ctx context.Context, namespace string, selector labels.Selector) (*corev1.PodList, error) {
	return p.client.Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector.String()})
}

// PatchPod implements [roller.Pods].
func (p rollPods) PatchPod(ctx context.Context, namespace, name, subresource string, patch []byte) (*corev1.Pod, error) {
	var subresources []string
	if subresource != "" {
		subresources = []string{subresource}
	}
	return p.client.Pods(namespace).Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, subresources...)
}

// wanted returns the roll: the target of the pods, and its bounds.
func (p *podRoll) wanted() roller.Roll {
	roll, w := p.r.file.Roll, p.workload
	out := roller.Roll{
		MaxUnavailable: max(1, roll.MaxUnavailable.Of(w.Replicas, false)), Replicas: w.Replicas, Deadline: p.deadline,
		OnFailure: roller.Stop, Keys: podupdate.DefaultKeys(),
	}
	if roll.OnFailure == spec.OnFailureRollback {
		out.OnFailure = roller.RollbackAll
	}
	if roll.Image != "" {
		out.Images = map[string]string{w.Name: roll.Image}
	} else {
		out.Resources = podupdate.Resources{w.Name: {Requests: p.requests(true)}}
	}
	return out
}

// requests are those of the roll, or of before.
func (p *podRoll) requests(after bool) corev1.ResourceList {
	list := corev1.ResourceList{}
	q := p.r.file.Roll.Requests
	if q == nil {
		return list
	}
	if q.CPU != nil {
		list[corev1.ResourceCPU] = p.workload.Requests.CPU
		if after {
			list[corev1.ResourceCPU] = *q.CPU
		}
	}
	if q.Memory != nil {
		list[corev1.ResourceMemory] = p.workload.Requests.Memory
		if after {
			list[corev1.ResourceMemory] = *q.Memory
		}
	}
	return list
}

// redefine changes the ReplicaSet's template, or changes it back.
func (p *podRoll) redefine(ctx context.Context, after bool) error {
	container := map[string]any{"name": p.workload.Name}
	switch {
	case p.r.file.Roll.Image == "":
		container["resources"] = map[string]any{"requests": p.requests(after)}
	case after:
		container["image"] = p.r.file.Roll.Image
	default:
		container["image"] = p.workload.Image
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}}})
	if err != nil {
		return err
	}
	_, err = p.r.clients.kube.AppsV1().ReplicaSets(p.workload.Namespace).Patch(ctx, p.workload.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

// run rolls until the roll ends.
func (p *podRoll) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	p.roller.OnPass = func(d roller.Decision) {
		if failed := p.checkDeadline(d); failed != nil {
			end(failed)
		}
	}
	d, err := p.roller.Run(ctx)
	p.roller.OnPass = nil
	var failed *failedRoll
	if errors.As(context.Cause(ctx), &failed) {
		return failed
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		return err
	case d.Standing == roller.RolledBack:
		return &failedRoll{"RolledBack", fmt.Sprintf("the pods of %s are as they were before", p.workload.Name)}
	case d.Standing == roller.Stopped && p.failure != nil:
		return p.failure
	case d.Standing == roller.Stopped:
		return &failedRoll{podupdate.ReasonDeadlineExceeded, fmt.Sprintf("pods of %s have failed", p.workload.Name)}
	}
	return nil
}

// checkDeadline fails the roll where the wait for pods that no update touches takes too long.
func (p *podRoll) checkDeadline(d roller.Decision) *failedRoll {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.r.clock.Now()
	if d.Standing != roller.Stuck || p.since.IsZero() {
		p.since = now
	}
	if p.deadline == 0 || now.Sub(p.since) < p.deadline {
		return nil
	}
	reason := "its pods aren't ready"
	if len(d.Blockers) > 0 {
		reason = d.Blockers[0].Pod + " " + d.Blockers[0].Reason
	}
	return &failedRoll{podupdate.ReasonDeadlineExceeded, fmt.Sprintf("nothing has happened to %s for %s: %s", p.workload.Name, p.r.file.Roll.JoinTimeout, reason)}
}

// done is told of each action: the first pod that has failed takes the template
// back where the pods are to go.
func (p *podRoll) done(a roller.Action, err error) {
	if errors.Is(err, podupdate.ErrRefused) { // it has failed where it was begun
		a.Kind, a.Reason, a.Message, err = roller.Fail, podupdate.ReasonRefused, err.Error(), nil
	}
	if err != nil || a.Kind != roller.Fail && a.Kind != roller.TakeBack {
		return
	}
	p.mu.Lock()
	first := p.failure == nil
	if first {
		p.failure = &failedRoll{a.Reason, fmt.Sprintf("pod %s/%s: %s", a.Namespace, a.Pod, a.Message)}
	}
	p.mu.Unlock()
	if !first || p.r.file.Roll.OnFailure != spec.OnFailureRollback {
		return
	}
	p.r.eventLoop.post(func() {
		p.r.apiServer.Mark("rollback", fmt.Sprintf("the update of %s has failed (%s); its pods go back", p.workload.Name, a.Reason))
	})
	p.r.apiServer.writeQueue.send("replicasets/"+p.workload.Name, "patch replicasets "+p.workload.Name, func(ctx context.Context) error { return p.redefine(ctx, false) })
}

func (p *podRoll) restarted(restart roller.Restart) {
	p.r.eventLoop.post(func() {
		p.r.apiServer.Mark("unexpected restart", fmt.Sprintf("pod %s/%s: container %s was restarted since its update", restart.Namespace, restart.Pod, restart.Container))
	})
}

// watch reports restarts after the end of the roll.
func (p *podRoll) watch(ctx context.Context, poll func(context.Context) error) error {
	for {
		if err := poll(ctx); err != nil {
			return err
		}
		if _, err := p.roller.Pass(ctx); err != nil && ctx.Err() == nil {
			p.r.warn(err)
		}
	}
}
