package kube

import (
	"slices"
	"time"
)

// Pod is a v1 Pod. Its Template holds what all pods of a workload share. A pod whose containers are changed in place
// is given another Template, a [Template.Variant] of its own one.
type Pod struct {
	Meta
	Template *Template
	// NodeName is the node that the pod is bound to, or "".
	NodeName string
	// Pinned is the node that a DaemonSet's pod asks for by its affinity.
	Pinned string
	// Claim names the claim of the pod's volume, or is "". OtherClaims are those of its further volumes, which the scheduler
	// looks at.
	Claim       string
	OtherClaims []string
	// Gated says that a scheduling gate keeps the scheduler from the pod.
	Gated bool

	Phase           string
	Reason, Message string
	Conditions      Conditions
	Containers      []Container
	Init            []Container // of init containers
	HostIP, PodIP   string
	Started         Instant // status.startTime
	// ObservedGeneration is status.observedGeneration; 0 is none.
	ObservedGeneration int64
	// Nominated is status.nominatedNodeName.
	Nominated string

	readiness readiness
	places    [listKinds]int32 // in the lists of the store
}

// Template holds the fields that a workload's pods have in common. It must not be changed once a pod has it.
type Template struct {
	// First is the template of which this one is a variant; nil says that it is
	// none. Pods of variants belong together.
	First        *Template
	GenerateName string
	Containers   []ContainerSpec
	GraceSeconds int64
	NodeSelector Pairs
	Tolerations  []Toleration
	Spread       []Spread
	Priority     int32
	PriorityClass,
	SchedulerName,
	RestartPolicy string
	HostNetwork bool
	// Volume names the volume that a pod mounts from its Claim, or is "".
	Volume string
	// Resizable has the status of each container say what it was given, so that
	// a resize shows. Kubelets say so since 1.33 of every container; on a tape it
	// stands where a scenario resizes.
	Resizable bool
	// Unprobed says that no container has a readiness or a startup probe: each is ready as soon as it runs.
	Unprobed bool
	// Document is {"metadata":{},"spec":…}, the spec as a client has written it for a workload's pods; nil where no
	// client has. A pod that is created has what the fields here don't say from it.
	Document []byte
	// Demands are nil where a pod asks for nothing of them.
	Demands *Demands
	// Workload holds what the simulation knows of the pods and no API shows.
	Workload any
}

// Variant returns a template that differs in its containers: in their images
// and resources, the two that may change in a pod's spec.
func (t *Template) Variant(change func(*ContainerSpec)) *Template {
	next := *t
	next.First = t.Origin()
	next.Containers = slices.Clone(t.Containers)
	for c := range next.Containers {
		change(&next.Containers[c])
	}
	return &next
}

// Copy is a template of its own that says the same.
func (t *Template) Copy() *Template {
	next := *t
	return &next
}

// Origin is the template of which all variants were made: it identifies the pods of one workload.
func (t *Template) Origin() *Template {
	if t.First != nil {
		return t.First
	}
	return t
}

// ContainerSpec is a container as the spec has it. Requests are millicores and
// bytes; 0 is none.
type ContainerSpec struct {
	Name, Image           string
	CPU, Memory           int64
	CPULimit, MemoryLimit int64
	// CPUPolicy and MemoryPolicy are the resizePolicy, NotRequired or
	// RestartContainer; "" is none, which counts as NotRequired.
	CPUPolicy, MemoryPolicy string
	// Sidecar is an init container that goes on running.
	Sidecar bool
	// End is how the container ends by itself; the zero End is never.
	End End
}

// End is a container's exit, so long after its start. A negative After is at once.
type End struct {
	After time.Duration
	Code  int
}

// Ends reports whether there is an end at all.
func (e End) Ends() bool { return e.After != 0 }

// Resources are the container's requests and limits.
func (c *ContainerSpec) Resources() Resources {
	return Resources{c.CPU, c.Memory, c.CPULimit, c.MemoryLimit}
}

// Resources are the requests and limits of a container, in millicores and
// bytes; 0 is none.
type Resources struct {
	CPU, Memory           int64
	CPULimit, MemoryLimit int64
}

// Toleration of a taint; Seconds is -1 for ever.
type Toleration struct {
	Key, Operator, Value, Effect string
	Seconds                      int64
}

// Tolerates reports whether the toleration covers a taint.
func (t Toleration) Tolerates(taint Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	return t.Operator == "Exists" || t.Value == taint.Value && t.Key != ""
}

// Spread is a topologySpreadConstraint.
type Spread struct {
	MaxSkew           int
	TopologyKey       string
	WhenUnsatisfiable string
	Selector          Pairs
}

// Container is a container's status.
type Container struct {
	Name, Image, ImageID, ContainerID string
	Ready, Started                    bool
	Restarts                          int32
	State, Last                       ContainerState
	// Given is nil where the status doesn't say it. It must not be changed:
	// containers share it.
	Given *Given
}

// Given are the resources of a container's status: what the kubelet has set
// aside for it, and what it has.
type Given struct{ Allocated, Actual Resources }

// ContainerState is waiting, running or terminated, or, for Last, nothing.
type ContainerState struct {
	Kind                string // "waiting", "running", "terminated" or ""
	Reason, Message     string
	ExitCode            int
	StartedAt, Finished Instant
	ContainerID         string
}

// Ready reports whether the pod's Ready condition is True.
func (p *Pod) Ready() bool { return p.readiness.in(p.Conditions) }

// Terminal reports whether the pod's phase is one that it never leaves.
func (p *Pod) Terminal() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// Active reports whether a controller counts on the pod (FilterActivePods of pkg/controller/controller_utils.go).
func (p *Pod) Active() bool { return !p.Terminating() && !p.Terminal() }

// Requests returns what the pod asks of a node, in millicores and bytes.
func (p *Pod) Requests() (cpu, memory int64) {
	if d := p.Template.Demands; d != nil && d.Whole != nil {
		return d.Whole.CPU, d.Whole.Memory
	}
	for i := range p.Template.Containers {
		cpu += p.Template.Containers[i].CPU
		memory += p.Template.Containers[i].Memory
	}
	return cpu, memory
}

// Tolerates reports whether the pod tolerates a taint, and for how many seconds;
// -1 is for ever. Of several tolerations the first counts (GetMatchingTolerations
// of component-helpers/scheduling/corev1).
func (p *Pod) Tolerates(taint Taint) (bool, int64) {
	for i := range p.Template.Tolerations {
		if t := &p.Template.Tolerations[i]; t.Tolerates(taint) {
			return true, t.Seconds
		}
	}
	return false, 0
}
