package podupdate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// UnexpectedRestart names a container that was restarted since its update was complete, the first by name. Only pods whose
// update is complete and led to running are looked at, and of these only the containers that were updated. A broken state
// shows nothing.
//
// The signal is the container's id alone: the kubelet may report a new id and a higher restart count in separate writes.
func (k Keys) UnexpectedRestart(pod *corev1.Pod) (container string, is bool) {
	s, err := k.Read(pod)
	if err != nil || s == nil || s.Phase != InplaceUpdatePhaseCompleted || s.TargetPodPhase != SandboxPhaseRunning {
		return "", false
	}
	for _, name := range slices.Sorted(maps.Keys(s.StableContainerStatuses)) {
		stable, now := s.StableContainerStatuses[name].ContainerID, ContainerStatus(pod, name)
		if now != nil && stable != "" && now.ContainerID != stable {
			return name, true
		}
	}
	return "", false
}
