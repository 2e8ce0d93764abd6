package podupdate

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// UpdateOptions is what a trigger changes on a pod. The zero one changes nothing.
type UpdateOptions struct {
	// ContainerImages are the wanted images by container: containers and init containers.
	ContainerImages map[string]string
	// Labels and Annotations are set, then RemoveLabels and RemoveAnnotations are removed.
	Labels            map[string]string
	Annotations       map[string]string
	RemoveLabels      []string
	RemoveAnnotations []string
	// TargetPodPhase is the sandbox phase at the end: idle, running or failed. Where images change, empty means running;
	// where none does, it leaves the phase alone.
	TargetPodPhase string
	// UpdatePodPhase is the phase while containers are replaced: starting, which is what empty means, or stopping.
	UpdatePodPhase string
	// ExpectedCurrentSandboxPhase, if set, is the only sandbox phase of which the update may start.
	ExpectedCurrentSandboxPhase string
	// DisableRetry returns the first conflict to the caller, who must look at the pod again before it decides again. It
	// has no meaning to the pure functions.
	DisableRetry bool
}

// check is what is wrong with the options, whatever the pod.
func (o UpdateOptions) check() error {
	var p problems
	for _, err := range []error{
		checkPhase("TargetPodPhase", o.TargetPodPhase, targetPhases),
		checkPhase("UpdatePodPhase", o.UpdatePodPhase, updatePhases),
	} {
		if err != nil {
			p = append(p, err)
		}
	}
	return p.err()
}

// change applies the metadata: removals win.
func (o UpdateOptions) change(pod *corev1.Pod) {
	for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
		label(pod, key, o.Labels[key])
	}
	for _, key := range slices.Sorted(maps.Keys(o.Annotations)) {
		annotate(pod, key, o.Annotations[key])
	}
	for _, key := range o.RemoveLabels {
		delete(pod.Labels, key)
	}
	for _, key := range o.RemoveAnnotations {
		delete(pod.Annotations, key)
	}
}

func label(pod *corev1.Pod, key, value string) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[key] = value
}

func annotate(pod *corev1.Pod, key, value string) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[key] = value
}
