package pool

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace"
	agentsv1alpha1 "github.com/nodesim/nodesim/scenarios/inplace/agents/v1alpha1"
	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
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

// Stopped describes the end of a sandbox.
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
	// RunningImages are the images that the sandbox ran, by container.
	RunningImages map[string]string
	// ContainerID is the container that failed, as it was before.
	ContainerID string
}

// Releasing is the options by which a pod is released: towards the pool's idle images, with the end on the pod. The
// sandbox's id stays until the pod is idle.
func Releasing(keys podupdate.Keys, pool *agentsv1alpha1.SandboxPool, pod *corev1.Pod, end Stopped) inplace.UpdateOptions {
	annotations := map[string]string{
		keys.Key(podupdate.NameStopReason):   end.Reason,
		keys.Key(podupdate.NameTerminatedAt): end.TerminatedAt.UTC().Format(time.RFC3339),
	}
	for name, value := range map[string]string{
		podupdate.NameFailureReason: end.FailureReason, podupdate.NameFailureMessage: end.FailureMessage, podupdate.NameContainerID: end.ContainerID,
	} {
		if value != "" {
			annotations[keys.Key(name)] = value
		}
	}
	if end.ExitCode != nil {
		annotations[keys.Key(podupdate.NameExitCode)] = strconv.Itoa(int(*end.ExitCode))
	}
	if images, err := json.Marshal(running(pod)); err == nil {
		annotations[keys.Key(podupdate.NameRunningImages)] = string(images)
	}
	return inplace.UpdateOptions{
		ContainerImages: pool.IdleImages(), Annotations: annotations,
		UpdatePodPhase: inplace.InplaceUpdatePhaseStopping, TargetPodPhase: podupdate.SandboxPhaseIdle,
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
func ReadStopped(keys podupdate.Keys, pod *corev1.Pod) (Stopped, bool) {
	keys = keys.Filled()
	get := func(name string) string { return pod.Annotations[keys.Key(name)] }
	s := Stopped{
		SandboxID: sandboxID(keys, pod), Namespace: pod.Namespace, Pod: pod.Name, Reason: get(podupdate.NameStopReason),
		FailureReason: get(podupdate.NameFailureReason), FailureMessage: get(podupdate.NameFailureMessage), ContainerID: get(podupdate.NameContainerID),
	}
	if s.Reason == "" {
		return Stopped{}, false
	}
	if code, err := strconv.ParseInt(get(podupdate.NameExitCode), 10, 32); err == nil {
		exit := int32(code)
		s.ExitCode = &exit
	}
	if at, err := time.Parse(time.RFC3339, get(podupdate.NameTerminatedAt)); err == nil {
		s.TerminatedAt = at.UTC()
	}
	if err := json.Unmarshal([]byte(get(podupdate.NameRunningImages)), &s.RunningImages); err != nil {
		s.RunningImages = nil
	}
	return s, true
}

func sandboxID(keys podupdate.Keys, pod *corev1.Pod) string {
	if id := pod.Annotations[keys.SandboxID]; id != "" {
		return id
	}
	return pod.Labels[keys.SandboxID]
}

// failure is the end of a sandbox one of whose containers was restarted: by the kubelet's word for how the container
// ended, where there is one.
func failure(keys podupdate.Keys, pod *corev1.Pod, container string, now time.Time) Stopped {
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
