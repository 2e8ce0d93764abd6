package live

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// commonsMost bounds how many specifications are held for others to share.
const commonsMost = 1000

// Commons have pods of one kind share their specification: ten thousand pods of a
// workload are told apart by the node, and a watch brings each of them whole, with
// every change. Nobody changes what a cache holds.
//
// It may be used from any goroutine. The zero commons are empty.
type commons struct {
	mu    sync.Mutex
	specs map[kindOfPod]*corev1.PodSpec
}

// kindOfPod is what pods are likely to share a specification with: those of the
// same owner, or, where they have none, of the same image.
type kindOfPod struct{ namespace, owner, image string }

// share has a pod use the memory of the one that came before it.
func (c *commons) share(pod *corev1.Pod) {
	kind := kindOfPod{namespace: pod.Namespace}
	if o := metav1.GetControllerOfNoCopy(pod); o != nil {
		kind.owner = string(o.UID)
	}
	if len(pod.Spec.Containers) > 0 {
		kind.image = pod.Spec.Containers[0].Image
	}
	// What DaemonSets' pods have of their own is the node, here and in their affinity.
	node, affinity := pod.Spec.NodeName, pod.Spec.Affinity
	pod.Spec.NodeName, pod.Spec.Affinity = "", nil
	c.mu.Lock()
	if before := c.specs[kind]; before != nil && apiequality.Semantic.DeepEqual(before, &pod.Spec) {
		pod.Spec = *before
	} else {
		if c.specs == nil || len(c.specs) >= commonsMost {
			c.specs = map[kindOfPod]*corev1.PodSpec{}
		}
		spec := pod.Spec
		c.specs[kind] = &spec
	}
	c.mu.Unlock()
	pod.Spec.NodeName, pod.Spec.Affinity = node, affinity
}
