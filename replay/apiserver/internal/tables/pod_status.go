package tables

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// podSummary is a pod in the words of the columns READY, STATUS and RESTARTS.
//
// It is found in four steps, each of which may overrule the status of those before it: the pod as a whole, its init
// containers, its containers, its deletion. A pod that is held up by an init container tells of that one and counts the
// restarts of init containers; one that got past them counts those of its containers and of its sidecars (init
// containers with restartPolicy Always, KEP-753).
type podSummary struct {
	containers int // containers and sidecars that are asked for
	ready      int // of them
	status     string
	restarts   restarts
}

func summarize(pod *corev1.Pod) podSummary {
	s := podSummary{status: podReason(pod), containers: len(pod.Spec.Containers)}
	sidecars := map[string]bool{} // by name; of two with one name the last counts
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		sidecars[c.Name] = ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
		if sidecars[c.Name] {
			s.containers++
		}
	}
	ofSidecars, held := s.readInit(pod, sidecars)
	if !held || conditionStatus(pod, corev1.PodInitialized) == corev1.ConditionTrue {
		s.restarts = ofSidecars
		s.readContainers(pod)
	}
	s.readDeletion(pod)
	return s
}

// podReason returns what the pod says of itself: its phase, or a reason for it.
func podReason(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonSchedulingGated {
			return corev1.PodReasonSchedulingGated
		}
	}
	return cmp.Or(pod.Status.Reason, string(pod.Status.Phase))
}

// readInit goes through the init containers, up to the first that holds up the pod, and reports whether one does. The
// restarts of the sidecars that it meets are counted apart as well.
func (s *podSummary) readInit(pod *corev1.Pod, sidecars map[string]bool) (ofSidecars restarts, held bool) {
	for i := range pod.Status.InitContainerStatuses {
		c := &pod.Status.InitContainerStatuses[i]
		s.restarts.add(c)
		if sidecars[c.Name] {
			ofSidecars.add(c)
		}
		terminated, waiting := c.State.Terminated, c.State.Waiting
		switch {
		case terminated != nil && terminated.ExitCode == 0:
			continue
		case sidecars[c.Name] && ptr.Deref(c.Started, false):
			if c.Ready {
				s.ready++
			}
			continue
		case terminated != nil:
			s.status = "Init:" + ending(terminated)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			s.status = "Init:" + waiting.Reason
		default:
			s.status = fmt.Sprintf("Init:%d/%d", i, len(pod.Spec.InitContainers))
		}
		return ofSidecars, true
	}
	return ofSidecars, false
}

// readContainers goes through the containers from the last to the first: what the first has to say counts most.
func (s *podSummary) readContainers(pod *corev1.Pod) {
	running, failure := false, ""
	for i := len(pod.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &pod.Status.ContainerStatuses[i]
		s.restarts.add(c)
		switch terminated, waiting := c.State.Terminated, c.State.Waiting; {
		case waiting != nil && waiting.Reason != "":
			s.status = waiting.Reason
		case terminated != nil:
			s.status = ending(terminated)
			if terminated.ExitCode != 0 {
				failure = s.status
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	// That the first container has completed isn't all there is to say while another runs or has failed.
	switch {
	case running && isReady(pod):
		s.status = "Running"
	case failure != "":
		s.status = failure
	case running:
		s.status = "NotReady"
	}
}

// readDeletion overrules everything for a pod that is being deleted and hasn't ended. NodeLost is the reason that the
// node controller once gave pods of nodes that it couldn't reach (pkg/util/node/node.go).
func (s *podSummary) readDeletion(pod *corev1.Pod) {
	switch phase := pod.Status.Phase; {
	case pod.DeletionTimestamp == nil:
	case pod.Status.Reason == "NodeLost":
		s.status = "Unknown"
	case phase != corev1.PodFailed && phase != corev1.PodSucceeded:
		s.status = "Terminating"
	}
}

// isReady reports whether any Ready condition is true.
func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// ending says how a container ended.
func ending(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	default:
		return fmt.Sprintf("ExitCode:%d", t.ExitCode)
	}
}

// restarts counts the restarts of containers.
type restarts struct {
	count int
	last  metav1.Time // when the container restarted last had ended, or zero
}

func (r *restarts) add(c *corev1.ContainerStatus) {
	r.count += int(c.RestartCount)
	if t := c.LastTerminationState.Terminated; t != nil && r.last.Before(&t.FinishedAt) {
		r.last = t.FinishedAt
	}
}

func (r restarts) text(now time.Time) string {
	if r.count == 0 || r.last.IsZero() {
		return fmt.Sprint(r.count)
	}
	return fmt.Sprintf("%d (%s ago)", r.count, since(r.last, now))
}
