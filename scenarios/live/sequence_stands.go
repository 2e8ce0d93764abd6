package live

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// podStands reports whether a server's pod shows what its kubelet has posted.
// Conditions of others than the kubelet may be left out of the write.
func podStands(posted, server *corev1.Pod) bool {
	p, s := &posted.Status, &server.Status
	if p.Phase != s.Phase || !apiequality.Semantic.DeepEqual(p.ContainerStatuses, s.ContainerStatuses) {
		return false
	}
	for i := range p.Conditions {
		is := &p.Conditions[i]
		switch is.Type {
		case corev1.PodReady, corev1.ContainersReady, corev1.PodInitialized, corev1.PodReadyToStartContainers,
			corev1.PodResizePending, corev1.PodResizeInProgress:
			if !shows(s.Conditions, is) {
				return false
			}
		}
	}
	return true
}

func shows(on []corev1.PodCondition, is *corev1.PodCondition) bool {
	for i := range on {
		if on[i].Type == is.Type {
			return on[i].Status == is.Status && on[i].Reason == is.Reason
		}
	}
	return false
}

// nodeStands reports whether a server's node shows what its kubelet has posted.
func nodeStands(posted, server *corev1.Node) bool {
	for _, is := range posted.Status.Conditions {
		found := false
		for _, on := range server.Status.Conditions {
			found = found || on.Type == is.Type && on.Status == is.Status && on.Reason == is.Reason && on.Message == is.Message
		}
		if !found {
			return false
		}
	}
	return posted.Status.NodeInfo.BootID == server.Status.NodeInfo.BootID && len(posted.Status.Addresses) == len(server.Status.Addresses)
}
