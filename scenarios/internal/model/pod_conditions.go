package model

import "strings"

// PodConditions are the conditions that the kubelet owns, in its order: PodReadyToStartContainers where the version
// has it, Initialized, Ready, ContainersReady, PodScheduled (generateAPIPodStatus of
// k8s.io/kubernetes/pkg/kubelet/kubelet_pods.go, pkg/kubelet/status/generate.go). Conditions of others,
// DisruptionTarget among them, come before these once the kubelet has written. names are the containers' names, in
// the same order. Before the kubelet has seen the pod there is PodScheduled alone. They are appended to dst.
//
// From 1.34 on each has the pod's generation as its observedGeneration (Version.PodGeneration).
func PodConditions(dst []Condition, p Pod, containers []Container, names []string, v Version) []Condition {
	scheduled := Condition{Type: "PodScheduled", Status: True}
	if !p.Seen {
		return append(dst, scheduled)
	}
	if v.PodReadyToStartContainers() {
		dst = append(dst, Condition{Type: "PodReadyToStartContainers", Status: status(p.Sandbox)})
	}
	initialized := Condition{Type: "Initialized", Status: True}
	ready := Condition{Type: Ready, Status: True}
	switch p.Phase {
	case Succeeded:
		initialized.Reason = "PodCompleted"
		ready.Status, ready.Reason = False, "PodCompleted"
	case Failed:
		ready.Status, ready.Reason = False, "PodFailed"
	default:
		if message := unready(containers, names); message != "" {
			ready.Status, ready.Reason, ready.Message = False, "ContainersNotReady", message
		}
	}
	all := ready
	all.Type = "ContainersReady"
	return append(dst, initialized, ready, all, scheduled)
}

// unready is the message of a pod of which some containers aren't ready, empty where all are.
func unready(containers []Container, names []string) string {
	const before, behind = "containers with unready status: [", "]"
	first := ""
	var several []string
	for i := range containers {
		if containers[i].Ready || i >= len(names) {
			continue
		}
		switch {
		case first == "":
			first = names[i]
		case several == nil:
			several = []string{first, names[i]}
		default:
			several = append(several, names[i])
		}
	}
	switch {
	case several != nil:
		return before + strings.Join(several, " ") + behind
	case first != "":
		return before + first + behind
	}
	return ""
}

func status(yes bool) string {
	if yes {
		return True
	}
	return False
}

// Unschedulable is PodScheduled of a pod that fits nowhere; message is the scheduler's.
func Unschedulable(message string) Condition {
	return Condition{Type: "PodScheduled", Status: False, Reason: "Unschedulable", Message: message}
}

// UnreadyWithItsNode returns the Ready condition that the node lifecycle controller gives a pod on a lost node:
// False, and nothing else (MarkPodsNotReady of k8s.io/kubernetes/pkg/controller/util/node).
func UnreadyWithItsNode(c Condition) Condition {
	c.Status = False
	return c
}

// KwokPodConditions are those that kwok writes to a pod that it starts, in its order; PodScheduled, which the
// scheduler wrote, comes after them (sigs.k8s.io/kwok/kustomize/stage/pod/fast/pod-ready.yaml).
func KwokPodConditions() [3]Condition {
	return [3]Condition{{Type: "Initialized", Status: True}, {Type: Ready, Status: True}, {Type: "ContainersReady", Status: True}}
}

// Disruption names the component that ends a pod before its time, and what the condition DisruptionTarget says of it.
type Disruption uint8

// The disruptions (k8s.io/api/core/v1 and the sources named with each).
const (
	// Evicted through the API: k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go.
	EvictedByAPI Disruption = iota
	// Deleted for a NoExecute taint: pkg/controller/tainteviction.
	DeletedForTaint
	// Deleted as an orphan: pkg/controller/podgc.
	DeletedByPodGC
	// Ended by a graceful shutdown of its node: pkg/kubelet/nodeshutdown.
	EndedByShutdown
	// Preempted by a more important pod: pkg/scheduler/framework/preemption. The message starts with the scheduler's name.
	Preempted
)

// Condition is DisruptionTarget as it is written on the pod.
func (d Disruption) Condition() Condition {
	out := Condition{Type: "DisruptionTarget", Status: True}
	switch d {
	case EvictedByAPI:
		out.Reason, out.Message = "EvictionByEvictionAPI", "Eviction API: evicting"
	case DeletedForTaint:
		out.Reason, out.Message = "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint"
	case DeletedByPodGC:
		out.Reason, out.Message = "DeletionByPodGC", "PodGC: node no longer exists"
	case EndedByShutdown:
		out.Reason, out.Message = "TerminationByKubelet", ShutdownMessage
	case Preempted:
		out.Reason, out.Message = "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"
	}
	return out
}

// What a graceful node shutdown writes as reason and message of a pod's status: of the pods that it ends, and of those that
// come too late (k8s.io/kubernetes/pkg/kubelet/nodeshutdown/nodeshutdown_manager.go).
const (
	ShutdownReason  = "Terminated"
	ShutdownMessage = "Pod was terminated in response to imminent node shutdown."
	RejectedReason  = "NodeShutdown"
	RejectedMessage = "Pod was rejected as the node is shutting down."
)
