package live

import (
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Bounds of how many specifications and words are held for others to share.
const (
	commonsMost = 1000
	wordsMost   = 20_000
)

// Commons have pods of one kind share their specification and labels, and all of
// them, and all nodes, the words that many have: ten thousand pods of a workload are
// told apart by little more than name and node, and a watch brings each of them
// whole, with every change. Nobody changes what a cache holds.
//
// It may be used from any goroutine. The zero commons are empty.
type commons struct {
	mu    sync.Mutex
	kinds map[kindOfPod]*common
	words map[string]string
}

// common is what the pods of a kind share.
type common struct {
	spec   corev1.PodSpec
	labels map[string]string
}

// kindOfPod is what pods are likely to share a specification with: those of the
// same owner, or, where they have none, of the same image.
type kindOfPod struct{ namespace, owner, image string }

// pod has a pod use the memory of the one that came before it.
func (c *commons) pod(pod *corev1.Pod) {
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
	defer c.mu.Unlock()
	if of := c.kinds[kind]; of != nil && apiequality.Semantic.DeepEqual(&of.spec, &pod.Spec) && maps.Equal(of.labels, pod.Labels) {
		pod.Spec, pod.Labels = of.spec, of.labels
	} else {
		if c.kinds == nil || len(c.kinds) >= commonsMost {
			c.kinds = map[kindOfPod]*common{}
		}
		c.kinds[kind] = &common{pod.Spec, pod.Labels}
	}
	pod.Spec.NodeName, pod.Spec.Affinity = c.word(node), affinity
	pod.Namespace, pod.GenerateName = c.word(pod.Namespace), c.word(pod.GenerateName)
	c.status(&pod.Status)
}

// status wants c.mu held.
func (c *commons) status(s *corev1.PodStatus) {
	s.HostIP = c.word(s.HostIP)
	for i := range s.HostIPs {
		s.HostIPs[i].IP = c.word(s.HostIPs[i].IP)
	}
	for i := range s.Conditions {
		is := &s.Conditions[i]
		is.Type, is.Status = corev1.PodConditionType(c.word(string(is.Type))), corev1.ConditionStatus(c.word(string(is.Status)))
		is.Reason = c.word(is.Reason)
	}
	for i := range s.ContainerStatuses {
		is := &s.ContainerStatuses[i]
		is.Name, is.Image, is.ImageID = c.word(is.Name), c.word(is.Image), c.word(is.ImageID)
	}
}

// node has a node use the words of those that came before it. It must be nobody
// else's yet.
func (c *commons) node(n *corev1.Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.Labels != nil {
		labels := make(map[string]string, len(n.Labels))
		for key, value := range n.Labels {
			labels[c.word(key)] = c.word(value)
		}
		n.Labels = labels
	}
	s := &n.Status
	for i := range s.Images {
		for k, name := range s.Images[i].Names {
			s.Images[i].Names[k] = c.word(name)
		}
	}
	for i := range s.Conditions {
		is := &s.Conditions[i]
		is.Type, is.Status = corev1.NodeConditionType(c.word(string(is.Type))), corev1.ConditionStatus(c.word(string(is.Status)))
		is.Reason, is.Message = c.word(is.Reason), c.word(is.Message)
	}
	for _, one := range [...]*string{
		&s.NodeInfo.KernelVersion, &s.NodeInfo.OSImage, &s.NodeInfo.ContainerRuntimeVersion, &s.NodeInfo.KubeletVersion,
		&s.NodeInfo.OperatingSystem, &s.NodeInfo.Architecture,
	} {
		*one = c.word(*one)
	}
}

// word returns the first of the texts that are like this one. It wants c.mu held.
func (c *commons) word(s string) string {
	if s == "" {
		return ""
	}
	if first, is := c.words[s]; is {
		return first
	}
	if c.words == nil || len(c.words) >= wordsMost {
		c.words = map[string]string{}
	}
	c.words[s] = s
	return s
}
