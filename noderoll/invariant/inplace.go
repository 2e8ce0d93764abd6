package invariant

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// What holds for a pod that is changed where it runs: the containers come and go,
// the pod stays.
var (
	restartRenews = &Invariant{
		Name:     "restart-renews",
		Sentence: "While a container runs by one containerID, neither its restartCount nor its imageID changes: what starts anew, or runs another image, has another one.",
		Source:   "kubelet, pkg/kubelet/kuberuntime/kuberuntime_container.go, startContainer; pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions",
	}
	containersKept = &Invariant{
		Name:     "containers-kept",
		Sentence: "A pod keeps its containers, by their names and in their order, whatever becomes of their images and resources.",
		Source:   "kubernetes, pkg/apis/core/validation/validation.go, ValidatePodUpdate and ValidatePodResize",
	}
	changeIsCounted = &Invariant{
		Name:     "change-is-counted",
		Sentence: "A change of a container's image, CPU or memory in the spec of a pod that counts generations raises metadata.generation.",
		Source:   "kubernetes, pkg/registry/core/pod/strategy.go, updatePodGeneration",
	}
	podStartsOnce = &Invariant{
		Name:     "pod-starts-once",
		Sentence: "status.startTime is set once and never changes, whatever becomes of the pod's containers.",
		Source:   "kubelet, pkg/kubelet/status/status_manager.go, updateStatusInternal",
	}
)

var inPlaceInvariants = []*Invariant{restartRenews, containersKept, changeIsCounted, podStartsOnce}

// trackedRun is a container's run: hashes of its containerID and imageID, zero while
// none is known.
type trackedRun struct{ id, image uint64 }

// trackedSpec holds what of a pod's spec may change, and what may not.
type trackedSpec struct {
	names, made uint64 // zero while nothing is known
	generation  int64
	started     int64 // status.startTime in seconds
	// first and count are the list of which they are: most states of a pod share it.
	first *corev1.Container
	count int
}

// containersOf are hashes of the names of containers, and of what may change of them.
func containersOf(all []corev1.Container) (names, made uint64) {
	names, made = hashBasis, hashBasis
	for i := range all {
		k := &all[i]
		names, made = hashText(names, k.Name), hashText(made, k.Image)
		for _, list := range [...]corev1.ResourceList{k.Resources.Requests, k.Resources.Limits} {
			made = hashNumber(hashNumber(made, list.Cpu().MilliValue()), list.Memory().Value())
		}
	}
	return names, made
}

// renewed looks at a container that runs, and returns what to remember of it.
func (c *Checker) renewed(h *trackedObject, k *corev1.ContainerStatus, was *trackedContainer) (trackedRun, int32) {
	if k.State.Running == nil || k.ContainerID == "" {
		return was.run, was.ran
	}
	is := trackedRun{hashText(hashBasis, k.ContainerID), 0}
	if k.ImageID != "" {
		is.image = hashText(hashBasis, k.ImageID)
	}
	switch {
	case is.id != was.run.id:
	case k.RestartCount != was.ran:
		c.report(h, restartRenews, "restartCount "+strconv.Itoa(int(k.RestartCount))+" of "+k.Name+" after "+strconv.Itoa(int(was.ran))+", in the same container", "another containerID")
	case is.image != was.run.image && is.image != 0 && was.run.image != 0:
		c.report(h, restartRenews, "imageID "+k.ImageID+" of "+k.Name+", in the same container as another one before", "another containerID")
	}
	return is, k.RestartCount
}

// inPlace looks at what may change of a pod that runs, and what may not.
func (c *Checker) inPlace(h *trackedObject, o *corev1.Pod) {
	was := &h.pod.spec
	is := *was
	if all := o.Spec.Containers; len(all) == 0 || len(all) != was.count || &all[0] != was.first {
		is.names, is.made = containersOf(all)
		is.first, is.count = nil, len(all)
		if len(all) > 0 {
			is.first = &all[0]
		}
	}
	is.generation = o.Generation
	if was.names != 0 && is.names != was.names {
		c.report(h, containersKept, "other containers than before", "them to stay")
	}
	if was.made != 0 && is.made != was.made && is.generation != 0 && is.generation == was.generation {
		c.report(h, changeIsCounted, "other images or resources at generation "+itoa(is.generation)+" than before", "a greater one")
	}
	if t := timeOf(o.Status.StartTime); !t.IsZero() {
		is.started = t.Unix()
		if was.started != 0 && is.started != was.started && !h.pod.mirror {
			c.report(h, podStartsOnce, "startTime "+stamp(t)+" after another one", "it to stay")
		}
	}
	*was = is
}

// FNV-1a of 64 bits: texts that are compared and need not be kept.
const (
	hashBasis uint64 = 14695981039346656037
	hashPrime uint64 = 1099511628211
)

// hashText continues with a text and its end.
func hashText(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return (h ^ 0xff) * hashPrime
}

func hashNumber(h uint64, n int64) uint64 {
	for range 8 {
		h = (h ^ uint64(n&0xff)) * hashPrime
		n >>= 8
	}
	return h
}
