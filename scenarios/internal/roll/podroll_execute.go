package roll

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
	"github.com/nodesim/nodesim/scenarios/inplace/roller"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// execute executes an action.
func (r *PodRoller) execute(a roller.Action, m *podMember, pod *corev1.Pod) {
	now := r.env.API.Now().Time()
	why := podupdate.Progress{State: podupdate.Failed, Reason: a.Reason, Message: a.Message, Container: a.Container}
	switch a.Kind {
	case roller.TakeBack, roller.Fail:
		r.halt(a)
		m.done = false
	case roller.Trigger:
		m.done = false
	}
	var next *corev1.Pod
	var err error
	switch {
	case r.cfg.Image == "":
		next, err = r.resize(a.Kind, m, pod, why, now)
	case a.Kind == roller.Trigger:
		next, _, err = r.keys.Apply(pod, podupdate.UpdateOptions{ContainerImages: r.roll.Images, TargetPodPhase: podupdate.SandboxPhaseRunning}, now)
	case a.Kind == roller.Mark:
		next, _, err = r.keys.Complete(pod, now)
	case a.Kind == roller.TakeBack:
		next, _, err = r.keys.RollbackFor(pod, why, podupdate.SandboxPhaseRunning, now)
	case a.Kind == roller.Fail:
		next, _, err = r.keys.Fail(pod, why, now)
	}
	switch {
	case r.over:
		return
	case err != nil:
		r.env.Fail(fmt.Errorf("%s: %w", a, err))
		return
	}
	r.progress = r.env.Now()
	r.write(m, next)
	switch a.Kind {
	case roller.Mark:
		m.marked()
		r.podSet.update(r, m.pod)
	case roller.Trigger, roller.TakeBack:
		if r.cfg.Deadline > 0 {
			r.env.After(r.cfg.Deadline+time.Millisecond, r.look)
		}
	}
}

// resize writes an action of a resize. Its state is metadata, which the
// subresource resize doesn't take: it is written first, and the resources by a
// write of their own (dropNonResizeUpdates of pkg/registry/core/pod/strategy.go).
func (r *PodRoller) resize(kind roller.Kind, m *podMember, pod *corev1.Pod, why podupdate.Progress, now time.Time) (next *corev1.Pod, err error) {
	want := r.roll.Resources
	switch kind {
	case roller.Trigger:
		next, _, err = r.keys.BeginResize(pod, want, now)
	case roller.Mark:
		next, _, err = r.keys.CompleteResize(pod, now)
		return next, err
	case roller.Fail:
		next, _, err = r.keys.FailResize(pod, why, now)
		return next, err
	case roller.TakeBack:
		next, _, err = r.keys.RollbackResize(pod, why, now)
	}
	if err != nil {
		return nil, err
	}
	if kind == roller.TakeBack {
		s, err := r.keys.ReadResize(next)
		if err != nil {
			return nil, err
		}
		want = s.TargetResources
	}
	r.write(m, next)
	next, _, err = podupdate.ApplyResize(next, want)
	if err != nil {
		return nil, err
	}
	if refusal := r.refusal(m.pod, next); refusal != "" {
		r.end(Outcome{Failed: true, Code: "Forbidden", Reason: refusal})
		return nil, nil
	}
	return next, nil
}

// refusal returns the API server's message about a resize beyond the allocatable resources of the pod's node, which
// it checks (validateRequestsWithinAllocatable of plugin/pkg/admission/podresize), or "".
func (r *PodRoller) refusal(p *kube.Pod, next *corev1.Pod) string {
	n := r.env.API.Node(p.NodeName)
	if n == nil || !r.env.Version.ResizeAdmission() {
		return ""
	}
	var cpu, memory int64
	for i := range next.Spec.Containers {
		cpu += next.Spec.Containers[i].Resources.Requests.Cpu().MilliValue()
		memory += next.Spec.Containers[i].Resources.Requests.Memory().Value()
	}
	var lacks []string
	if has := quantity(n.Allocatable.Get("cpu")); cpu > has.MilliValue() {
		lacks = append(lacks, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu, has.MilliValue()))
	}
	if has := quantity(n.Allocatable.Get("memory")); memory > has.Value() {
		lacks = append(lacks, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory, has.Value()))
	}
	if lacks == nil {
		return ""
	}
	return fmt.Sprintf("pods %q is forbidden: node didn't have enough allocatable resources: %s", p.Name, strings.Join(lacks, "; "))
}

// quantity reads one; what can't be read is nothing.
func quantity(text string) resource.Quantity {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// requests are as the API has them.
func requests(r kube.Resources) corev1.ResourceList {
	list := corev1.ResourceList{}
	if r.CPU != 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(r.CPU, resource.DecimalSI)
	}
	if r.Memory != 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(r.Memory, resource.BinarySI)
	}
	return list
}

// halt is the first pod that has failed: the template goes back at once where
// the pods are to.
func (r *PodRoller) halt(a roller.Action) {
	if r.halted {
		return
	}
	r.halted = true
	r.failure = Outcome{Failed: true, Code: a.Reason, Reason: fmt.Sprintf("pod %s/%s: %s", a.Namespace, a.Pod, a.Message)}
	if !r.cfg.Rollback {
		return
	}
	r.env.API.Mark("rollback", fmt.Sprintf("the update of %s has failed (%s); its pods go back to %s", r.cfg.Name, a.Reason, r.before()))
	err := r.cfg.Redefine(func(c *kube.ContainerSpec) {
		for _, was := range r.from {
			if was.Name == c.Name {
				*c = was
			}
		}
	})
	if err != nil {
		r.env.Fail(err)
	}
}

// before returns the readable name of the pods' earlier state.
func (r *PodRoller) before() string {
	for _, c := range r.from {
		if c.Name != r.cfg.Container {
			continue
		}
		if r.cfg.Image != "" {
			return c.Image
		}
		return kube.MilliCPU(c.CPU) + " and " + kube.Bytes(c.Memory)
	}
	return "what they had"
}
