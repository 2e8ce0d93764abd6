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

// KwokPodConditions are those that kwok writes to a pod that it starts, in its order; PodScheduled, which the
// scheduler wrote, comes after them (sigs.k8s.io/kwok/kustomize/stage/pod/fast/pod-ready.yaml).
func KwokPodConditions() [3]Condition {
	return [3]Condition{{Type: "Initialized", Status: True}, {Type: Ready, Status: True}, {Type: "ContainersReady", Status: True}}
}

// What a graceful node shutdown writes as reason and message of a pod's status: of the pods that it ends, and of those that
// come too late (k8s.io/kubernetes/pkg/kubelet/nodeshutdown/nodeshutdown_manager.go).
const (
	ShutdownReason  = "Terminated"
	ShutdownMessage = "Pod was terminated in response to imminent node shutdown."
	RejectedReason  = "NodeShutdown"
	RejectedMessage = "Pod was rejected as the node is shutting down."
)
