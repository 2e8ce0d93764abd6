package pool

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace"
	agentsv1alpha1 "github.com/nodesim/nodesim/scenarios/inplace/agents/v1alpha1"
)

// Why a sandbox was released, beside what its holder says.
const (
	// StopFailed is a container that was restarted, or an update that has failed.
	StopFailed = "Failed"
	// StopStartupTimeout is a sandbox that took too long to start.
	StopStartupTimeout = "StartupTimeout"
)

// FailureUnexpectedRestart is why a sandbox failed if the kubelet doesn't say why its container ended.
const FailureUnexpectedRestart = "UnexpectedRestart"

// Stopped is how a sandbox ended.
type Stopped struct {
	SandboxID      string
	Namespace, Pod string
	// Reason is the holder's, StopFailed or StopStartupTimeout.
	Reason string
	// FailureReason and FailureMessage say more of a failure, such as OOMKilled.
	FailureReason, FailureMessage string
	// ExitCode is that of the container that failed, if one did.
	ExitCode *int32
	// TerminatedAt is when the end was seen, not when a container exited.
	TerminatedAt time.Time
	// RunningImages are what the sandbox ran, by container.
	RunningImages map[string]string
	// ContainerID is the container that failed, as it was before.
	ContainerID string
}

// Releasing is the options by which a pod is released: towards the pool's idle images, with the end on the pod. The
// sandbox's id stays until the pod is idle.
func Releasing(keys inplace.Keys, pool *agentsv1alpha1.SandboxPool, pod *corev1.Pod, end Stopped) inplace.UpdateOptions {
	annotations := map[string]string{
		keys.Key(inplace.NameStopReason):   end.Reason,
		keys.Key(inplace.NameTerminatedAt): end.TerminatedAt.UTC().Format(time.RFC3339),
	}
	for name, value := range map[string]string{
		inplace.NameFailureReason: end.FailureReason, inplace.NameFailureMessage: end.FailureMessage, inplace.NameContainerID: end.ContainerID,
	} {
		if value != "" {
			annotations[keys.Key(name)] = value
		}
	}
	if end.ExitCode != nil {
		annotations[keys.Key(inplace.NameExitCode)] = strconv.Itoa(int(*end.ExitCode))
	}
	if images, err := json.Marshal(running(pod)); err == nil {
		annotations[keys.Key(inplace.NameRunningImages)] = string(images)
	}
	return inplace.UpdateOptions{
		ContainerImages: pool.IdleImages(), Annotations: annotations,
		UpdatePodPhase: inplace.InplaceUpdatePhaseStopping, TargetPodPhase: inplace.SandboxPhaseIdle,
	}
}

func running(pod *corev1.Pod) map[string]string {
	images := make(map[string]string, len(pod.Spec.Containers))
	for _, c := range pod.Spec.Containers {
		images[c.Name] = c.Image
	}
	return images
}

// ReadStopped is the end that is on a pod, and false if there is none. What can't be read of it is left out.
func ReadStopped(keys inplace.Keys, pod *corev1.Pod) (Stopped, bool) {
	keys = keys.Filled()
	get := func(name string) string { return pod.Annotations[keys.Key(name)] }
	s := Stopped{
		SandboxID: sandboxID(keys, pod), Namespace: pod.Namespace, Pod: pod.Name, Reason: get(inplace.NameStopReason),
		FailureReason: get(inplace.NameFailureReason), FailureMessage: get(inplace.NameFailureMessage), ContainerID: get(inplace.NameContainerID),
	}
	if s.Reason == "" {
		return Stopped{}, false
	}
	if code, err := strconv.ParseInt(get(inplace.NameExitCode), 10, 32); err == nil {
		exit := int32(code)
		s.ExitCode = &exit
	}
	if at, err := time.Parse(time.RFC3339, get(inplace.NameTerminatedAt)); err == nil {
		s.TerminatedAt = at.UTC()
	}
	if err := json.Unmarshal([]byte(get(inplace.NameRunningImages)), &s.RunningImages); err != nil {
		s.RunningImages = nil
	}
	return s, true
}

func sandboxID(keys inplace.Keys, pod *corev1.Pod) string {
	if id := pod.Annotations[keys.SandboxID]; id != "" {
		return id
	}
	return pod.Labels[keys.SandboxID]
}

// failure is the end of a sandbox one of whose containers was restarted: by the kubelet's word for how the container
// ended, where there is one.
func failure(keys inplace.Keys, pod *corev1.Pod, container string, now time.Time) Stopped {
	end := Stopped{Reason: StopFailed, FailureReason: FailureUnexpectedRestart, TerminatedAt: now}
	if s, err := keys.Read(pod); err == nil && s != nil {
		end.ContainerID = s.StableContainerStatuses[container].ContainerID
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for _, s := range list {
			t := s.LastTerminationState.Terminated
			if s.Name != container || t == nil {
				continue
			}
			code := t.ExitCode
			end.ExitCode = &code
			if t.Reason != "" {
				end.FailureReason = t.Reason
			}
			end.FailureMessage = t.Message
		}
	}
	if end.FailureMessage == "" {
		end.FailureMessage = fmt.Sprintf("container %q was restarted", container)
	}
	return end
}
