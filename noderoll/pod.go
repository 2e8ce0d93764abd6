package noderoll

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Pod holds what a roll needs to know of a Pod object. Labels may be shared with
// the object it was made from; nothing here writes to them, and State keeps one
// map for all pods of a namespace with the same labels.
type Pod struct {
	Namespace string
	Name      string
	UID       string
	Labels    map[string]string
	Node      string // spec.nodeName; empty while pending
	DaemonSet bool   // any owner reference of kind DaemonSet
	Mirror    bool   // a static pod, by annotation kubernetes.io/config.mirror
	Phase     string // status.phase
	Ready     bool   // condition Ready is True
	Deleting  bool   // metadata.deletionTimestamp is set
	// Disruption is the reason of condition DisruptionTarget where that is True.
	Disruption string
}

// Evictable reports whether a drain has to move the pod: it hasn't ended, and
// is neither a static pod nor one of a DaemonSet.
func (p *Pod) Evictable() bool {
	return !p.ended() && !p.Mirror && !p.DaemonSet
}

func (p *Pod) ended() bool {
	return p.Phase == string(corev1.PodSucceeded) || p.Phase == string(corev1.PodFailed)
}

// PodFrom extracts what a roll needs from a Pod object. It shares the object's
// label map.
func PodFrom(o *corev1.Pod) Pod {
	p := Pod{
		Namespace: o.Namespace,
		Name:      o.Name,
		UID:       string(o.UID),
		Labels:    o.Labels,
		Node:      o.Spec.NodeName,
		Phase:     string(o.Status.Phase),
		Deleting:  o.DeletionTimestamp != nil,
	}
	_, p.Mirror = o.Annotations[corev1.MirrorPodAnnotationKey]
	for i := range o.OwnerReferences {
		p.DaemonSet = p.DaemonSet || o.OwnerReferences[i].Kind == "DaemonSet"
	}
	for i := range o.Status.Conditions {
		switch c := &o.Status.Conditions[i]; {
		case c.Type == corev1.PodReady:
			p.Ready = c.Status == corev1.ConditionTrue
		case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue:
			p.Disruption = c.Reason
		}
	}
	return p
}

// Instance holds what a roll of pods needs to know of a Pod object, beside what
// every roll does: what its containers are to be, and what they are. The slices
// and maps may be shared with the object it was made from; nothing here writes
// to them.
type Instance struct {
	Pod
	// ReadyReason and ReadyMessage are of the condition Ready.
	ReadyReason  string
	ReadyMessage string
	// Behind says that the kubelet's status is of an older generation than the
	// spec, where both are known.
	Behind bool
	// Resize is the reason of the condition PodResizePending where that is True
	// (Deferred, Infeasible), else that of PodResizeInProgress (Error, or
	// ResizeInProgress where it gives none), else empty.
	Resize        string
	ResizeMessage string
	Annotations   map[string]string // only PodScope.StateAnnotation is read
	Containers    []Container       // sidecars (restartable init containers) after the others
}

// Container is one container of an Instance, by its name.
type Container struct {
	Name      string
	Image     string    // of the spec
	Resources Resources // of the spec

	// What follows is of the status, and zero where it says nothing.
	StatusImage string // as the runtime names it
	ID          string
	Running     bool
	Ready       bool
	Started     time.Time // of the running container
	// Waiting is why the container waits, such as ImagePullBackOff.
	Waiting        string
	WaitingMessage string
	// Ended is why the container before ended, such as OOMKilled.
	Ended string
	// Actual are the resources that the container runs with.
	Actual      Resources
	ActualKnown bool
}

// Resources hold what can be resized in place: CPU in thousandths, memory in
// bytes, requests and limits. 0 means none.
type Resources struct {
	CPURequest, CPULimit       int64
	MemoryRequest, MemoryLimit int64
}

// String is the resources as they are in a manifest: "cpu=400m,memory=512Mi".
// Limits follow where they differ from the requests.
func (r Resources) String() string {
	var parts []string
	add := func(name string, q *resource.Quantity, is bool) {
		if is {
			parts = append(parts, name+"="+q.String())
		}
	}
	cpu := func(m int64) *resource.Quantity { return resource.NewMilliQuantity(m, resource.DecimalSI) }
	memory := func(b int64) *resource.Quantity { return resource.NewQuantity(b, resource.BinarySI) }
	add("cpu", cpu(r.CPURequest), r.CPURequest != 0)
	add("memory", memory(r.MemoryRequest), r.MemoryRequest != 0)
	add("limits.cpu", cpu(r.CPULimit), r.CPULimit != 0 && r.CPULimit != r.CPURequest)
	add("limits.memory", memory(r.MemoryLimit), r.MemoryLimit != 0 && r.MemoryLimit != r.MemoryRequest)
	return strings.Join(parts, ",")
}

func resourcesOf(o *corev1.ResourceRequirements) Resources {
	return Resources{
		CPURequest: o.Requests.Cpu().MilliValue(), CPULimit: o.Limits.Cpu().MilliValue(),
		MemoryRequest: o.Requests.Memory().Value(), MemoryLimit: o.Limits.Memory().Value(),
	}
}

// InstanceFrom extracts what a roll of pods needs from a Pod object. It shares the
// object's maps.
func InstanceFrom(o *corev1.Pod) Instance {
	i := Instance{Pod: PodFrom(o), Annotations: o.Annotations}
	i.Behind = o.Status.ObservedGeneration != 0 && o.Status.ObservedGeneration < o.Generation
	for n := range o.Status.Conditions {
		i.condition(&o.Status.Conditions[n])
	}
	i.Containers = make([]Container, 0, min(len(o.Spec.Containers), mostContainers))
	for n := range o.Spec.Containers {
		i.container(&o.Spec.Containers[n], o.Status.ContainerStatuses)
	}
	for n := range o.Spec.InitContainers {
		c := &o.Spec.InitContainers[n]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			i.container(c, o.Status.InitContainerStatuses)
		}
	}
	return i
}

// condition notes one condition. Of two about a resize the pending one counts:
// a newer resize waits for the one in progress (core/v1, PodResizePending).
func (i *Instance) condition(c *corev1.PodCondition) {
	switch {
	case c.Type == corev1.PodReady:
		i.ReadyReason, i.ReadyMessage = c.Reason, c.Message
	case c.Status != corev1.ConditionTrue:
	case c.Type == corev1.PodResizePending:
		i.Resize, i.ResizeMessage = c.Reason, c.Message
		if i.Resize == "" {
			i.Resize = corev1.PodReasonDeferred
		}
	case c.Type == corev1.PodResizeInProgress && i.Resize != corev1.PodReasonDeferred && i.Resize != corev1.PodReasonInfeasible:
		i.Resize, i.ResizeMessage = c.Reason, c.Message
		if i.Resize == "" {
			i.Resize = resizeInProgress
		}
	}
}

// mostContainers bounds what is looked at of one pod. No pod has so many.
const mostContainers = 256

// resizeInProgress represents the condition of that name without a reason, which
// is the kubelet's form while all is well.
const resizeInProgress = "ResizeInProgress"

func (i *Instance) container(spec *corev1.Container, statuses []corev1.ContainerStatus) {
	if len(i.Containers) == mostContainers {
		return
	}
	c := Container{Name: spec.Name, Image: spec.Image, Resources: resourcesOf(&spec.Resources)}
	for n := range statuses {
		s := &statuses[n]
		if s.Name != spec.Name {
			continue
		}
		c.StatusImage, c.ID, c.Ready = s.Image, s.ContainerID, s.Ready
		if r := s.State.Running; r != nil {
			c.Running, c.Started = true, r.StartedAt.Time
		}
		if w := s.State.Waiting; w != nil {
			c.Waiting, c.WaitingMessage = w.Reason, w.Message
		}
		if t := s.LastTerminationState.Terminated; t != nil {
			c.Ended = t.Reason
		}
		if s.Resources != nil {
			c.Actual, c.ActualKnown = resourcesOf(s.Resources), true
		}
		break
	}
	i.Containers = append(i.Containers, c)
}
