package convert

import (
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PostedPod is a pod as its kubelet posts it: whose status it is, and the status.
// The status is that of [PodToAPI], without the way through its text: kubelets post
// three times before a pod runs.
func PostedPod(p *kube.Pod, c Clock) *corev1.Pod {
	out := &corev1.Pod{Spec: corev1.PodSpec{NodeName: p.NodeName}, Status: PodStatus(p, c)}
	identify(&out.ObjectMeta, &p.Meta)
	if p.Deleting != 0 {
		deleted := metav1.NewTime(c.Time(p.Deleting))
		out.DeletionTimestamp = &deleted
	}
	return out
}

// PodStatus is the status of a pod but for its QoS class, which is the API
// server's.
func PodStatus(p *kube.Pod, c Clock) corev1.PodStatus {
	s := corev1.PodStatus{
		ObservedGeneration: p.ObservedGeneration, Phase: corev1.PodPhase(p.Phase), Message: p.Message, Reason: p.Reason,
		NominatedNodeName: p.Nominated, HostIP: p.HostIP, PodIP: p.PodIP,
	}
	if p.HostIP != "" {
		s.HostIPs = []corev1.HostIP{{IP: p.HostIP}}
	}
	if p.PodIP != "" {
		s.PodIPs = []corev1.PodIP{{IP: p.PodIP}}
	}
	if p.Started != 0 {
		started := c.second(p.Started)
		s.StartTime = &started
	}
	if len(p.Conditions) > 0 {
		s.Conditions = make([]corev1.PodCondition, len(p.Conditions))
	}
	for i := range p.Conditions {
		is := &p.Conditions[i]
		s.Conditions[i] = corev1.PodCondition{
			Type: corev1.PodConditionType(is.Type), Status: corev1.ConditionStatus(is.Status), Reason: is.Reason, Message: is.Message,
			ObservedGeneration: is.Observed, LastProbeTime: c.second(is.Heartbeat), LastTransitionTime: c.second(is.Transition),
		}
	}
	s.ContainerStatuses = c.containerStatuses(p.Containers)
	if p.Template.RestartPolicy == "Always" {
		// Of other pods the API server refuses init containers that run again in a new sandbox
		// (ValidateInitContainerStateTransition of pkg/apis/core/validation/validation.go).
		s.InitContainerStatuses = c.containerStatuses(p.Init)
	}
	return s
}

func (c Clock) containerStatuses(all []kube.Container) []corev1.ContainerStatus {
	if len(all) == 0 {
		return nil
	}
	out := make([]corev1.ContainerStatus, len(all))
	for i := range all {
		out[i] = c.containerStatus(&all[i])
	}
	return out
}

func (c Clock) containerStatus(is *kube.Container) corev1.ContainerStatus {
	out := corev1.ContainerStatus{
		Name: is.Name, State: c.containerState(&is.State), LastTerminationState: c.containerState(&is.Last),
		Ready: is.Ready, RestartCount: is.Restarts, Image: is.Image, ImageID: is.ImageID, ContainerID: is.ContainerID,
	}
	if is.ContainerID != "" || is.State.Kind == "waiting" {
		started := is.Started
		out.Started = &started
	}
	if g := is.Given; g != nil {
		out.AllocatedResources = amounts(g.Allocated.CPU, g.Allocated.Memory)
		out.Resources = &corev1.ResourceRequirements{
			Limits: amounts(g.Actual.CPULimit, g.Actual.MemoryLimit), Requests: amounts(g.Actual.CPU, g.Actual.Memory),
		}
	}
	return out
}

func (c Clock) containerState(is *kube.ContainerState) (out corev1.ContainerState) {
	switch is.Kind {
	case "waiting":
		out.Waiting = &corev1.ContainerStateWaiting{Reason: is.Reason, Message: is.Message}
	case "running":
		out.Running = &corev1.ContainerStateRunning{StartedAt: c.second(is.StartedAt)}
	case "terminated":
		out.Terminated = &corev1.ContainerStateTerminated{
			ExitCode: int32(is.ExitCode), Reason: is.Reason, ContainerID: is.ContainerID,
			StartedAt: c.second(is.StartedAt), FinishedAt: c.second(is.Finished),
		}
	}
	return out
}

// amounts are millicores and bytes; 0 is none.
func amounts(cpu, memory int64) corev1.ResourceList {
	if cpu == 0 && memory == 0 {
		return nil
	}
	list := corev1.ResourceList{}
	if cpu != 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(cpu, resource.DecimalSI)
	}
	if memory != 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(memory, resource.BinarySI)
	}
	return list
}
