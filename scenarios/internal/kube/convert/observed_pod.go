package convert

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// pod is one with the memory of its containers' states.
type pod struct {
	corev1.Pod
	states []states
}

// states are those that a container may be in, now and before.
type states struct{ now, last state }

type state struct {
	waiting    corev1.ContainerStateWaiting
	running    corev1.ContainerStateRunning
	terminated corev1.ContainerStateTerminated
}

// podSpec is what the pods of a template have in common.
type podSpec struct {
	containers  []corev1.Container
	tolerations []corev1.Toleration
}

// noPod is what a pod was before it came.
var noPod kube.Pod

func (o *Observed) pod(ev *timeline.Event, w *kube.Write, p *kube.Pod) metav1.Object {
	old, _ := w.Old.(*kube.Pod)
	to, fresh := o.pods.of(ev, &p.Beside)
	if fresh {
		to.Pod = corev1.Pod{
			ObjectMeta: begin(ev),
			Status:     corev1.PodStatus{Conditions: to.Status.Conditions[:0], ContainerStatuses: to.Status.ContainerStatuses[:0]},
		}
		old = &noPod
	}
	to.ResourceVersion = ev.RV
	if old == nil {
		return &to.Pod
	}
	if p.Template.Document != nil {
		o.written(to, w)
		return &to.Pod
	}
	o.meta(&to.ObjectMeta, &old.Meta, &p.Meta)
	if old.Template != p.Template {
		spec := o.spec(p.Template)
		to.Spec.Containers = spec.containers
		if old.Template == nil {
			to.Spec.Tolerations = spec.tolerations
		}
	}
	to.Spec.NodeName = p.NodeName
	to.status(o, old, p)
	return &to.Pod
}

// written reads a pod that a client has written by its text, which says more than a [kube.Pod].
func (o *Observed) written(to *pod, w *kube.Write) {
	labels, annotations := to.Labels, to.Annotations
	o.decoder.Pod(&to.Pod, w.Text())
	if w.Change == kube.Added {
		return
	}
	if o.decoder.Labels != nil {
		to.Labels = o.decoder.Merge(labels, o.decoder.Labels)
	}
	if o.decoder.Annotations != nil {
		to.Annotations = o.decoder.Merge(annotations, o.decoder.Annotations)
	}
}

// spec reads what the pods of a template have in common by the text of one.
func (o *Observed) spec(t *kube.Template) *podSpec {
	spec := o.specs[t]
	if spec == nil {
		var one corev1.Pod
		o.decoder.Pod(&one, (&kube.Pod{Template: t}).JSON())
		spec = &podSpec{one.Spec.Containers, one.Spec.Tolerations}
		o.specs[t] = spec
	}
	return spec
}

// status sets what has changed of a pod's status.
func (to *pod) status(o *Observed, old, p *kube.Pod) {
	s := &to.Status
	s.Phase, s.PodIP, s.ObservedGeneration = corev1.PodPhase(p.Phase), p.PodIP, p.ObservedGeneration
	if old.Started != p.Started {
		s.StartTime = moment(p.Started)
	}
	if !kube.Identical(old.Conditions, p.Conditions) {
		s.Conditions = s.Conditions[:0]
		for i := range p.Conditions {
			c := &p.Conditions[i]
			s.Conditions = append(s.Conditions, corev1.PodCondition{
				Type: corev1.PodConditionType(c.Type), Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
				ObservedGeneration: c.Observed, LastTransitionTime: metav1.Time{Time: second(c.Transition)},
			})
		}
	}
	if kube.Identical(old.Containers, p.Containers) && kube.Identical(old.Init, p.Init) {
		return
	}
	for n := len(p.Containers) + len(p.Init); len(to.states) < n; {
		to.states = append(to.states, states{})
	}
	s.ContainerStatuses = o.containers(s.ContainerStatuses[:0], p.Containers, to.states)
	s.InitContainerStatuses = o.containers(s.InitContainerStatuses[:0], p.Init, to.states[len(p.Containers):])
}

func (o *Observed) containers(all []corev1.ContainerStatus, now []kube.Container, room []states) []corev1.ContainerStatus {
	for i := range now {
		c := &now[i]
		is := corev1.ContainerStatus{
			Name: c.Name, Ready: c.Ready, RestartCount: c.Restarts, Image: c.Image, ImageID: c.ImageID, ContainerID: c.ContainerID,
			State: room[i].now.of(&c.State), LastTerminationState: room[i].last.of(&c.Last),
		}
		if c.Given != nil {
			is.Resources = o.resources(c.Given)
		}
		all = append(all, is)
	}
	return all
}

func (s *state) of(c *kube.ContainerState) (is corev1.ContainerState) {
	switch c.Kind {
	case "waiting":
		s.waiting = corev1.ContainerStateWaiting{Reason: c.Reason, Message: c.Message}
		is.Waiting = &s.waiting
	case "running":
		s.running = corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: second(c.StartedAt)}}
		is.Running = &s.running
	case "terminated":
		s.terminated = corev1.ContainerStateTerminated{
			Reason: c.Reason, StartedAt: metav1.Time{Time: second(c.StartedAt)}, FinishedAt: metav1.Time{Time: second(c.Finished)},
		}
		is.Terminated = &s.terminated
	}
	return is
}

// resources are those that a container has, which it shares with others.
func (o *Observed) resources(g *kube.Given) *corev1.ResourceRequirements {
	r := o.given[g]
	if r == nil {
		r = &corev1.ResourceRequirements{
			Limits: amounts(g.Actual.CPULimit, g.Actual.MemoryLimit), Requests: amounts(g.Actual.CPU, g.Actual.Memory),
		}
		o.given[g] = r
	}
	return r
}
