package live

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// Bounds of how many specifications, sets of labels and words are held for others to
// share.
const (
	maxInterned = 1000
	wordsMost   = 20_000
)

// An interner lets equal pods share their specification, pods with the same labels share these, and all pods and nodes
// share common strings: ten thousand pods of a workload are told apart by little more than name and node, and a watch
// brings each of them whole, with every change. Cached objects are never changed.
//
// It may be used from any goroutine. The zero interner is empty.
type interner struct {
	mu     sync.Mutex
	specs  map[string]corev1.PodSpec    // by their protobuf form, whose maps are sorted
	labels map[string]map[string]string // by their text
	words  map[string]string
	lists  nodeLists

	scratch []byte
	keys    []string
}

// pod has a pod use the memory of those that came before it. No other goroutine may hold it yet.
func (c *interner) pod(pod *corev1.Pod) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spec(&pod.Spec)
	pod.Labels = c.set(pod.Labels)
	pod.Namespace, pod.GenerateName = c.word(pod.Namespace), c.word(pod.GenerateName)
	for i := range pod.OwnerReferences {
		o := &pod.OwnerReferences[i]
		o.APIVersion, o.Kind, o.Name, o.UID = c.word(o.APIVersion), c.word(o.Kind), c.word(o.Name), types.UID(c.word(string(o.UID)))
	}
	c.status(&pod.Status)
}

// spec wants c.mu held. What alike pods have of their own is the node, here and in the
// affinity of a DaemonSet's, and the host name of a StatefulSet's.
func (c *interner) spec(s *corev1.PodSpec) {
	node, host, affinity := s.NodeName, s.Hostname, s.Affinity
	s.NodeName, s.Hostname, s.Affinity = "", "", nil
	size := s.Size()
	c.scratch = slices.Grow(c.scratch[:0], size)[:size]
	if n, err := s.MarshalToSizedBuffer(c.scratch); err == nil {
		form := c.scratch[size-n:]
		if first, is := c.specs[string(form)]; is {
			*s = first
		} else {
			if c.specs == nil || len(c.specs) >= maxInterned {
				c.specs = map[string]corev1.PodSpec{}
			}
			c.specs[string(form)] = *s
		}
	}
	s.NodeName, s.Hostname, s.Affinity = c.word(node), host, affinity
}

// set returns the first of the maps that are like this one. It wants c.mu held.
func (c *interner) set(m map[string]string) map[string]string {
	if m == nil {
		return nil
	}
	c.keys = c.keys[:0]
	for key := range m {
		c.keys = append(c.keys, key)
	}
	slices.Sort(c.keys)
	c.scratch = c.scratch[:0]
	for _, key := range c.keys {
		c.scratch = append(append(append(append(c.scratch, key...), 0), m[key]...), 0) // neither has a NUL
	}
	if first, is := c.labels[string(c.scratch)]; is {
		return first
	}
	if c.labels == nil || len(c.labels) >= maxInterned {
		c.labels = map[string]map[string]string{}
	}
	c.labels[string(c.scratch)] = m
	return m
}

// status wants c.mu held.
func (c *interner) status(s *corev1.PodStatus) {
	s.HostIP = c.word(s.HostIP)
	for i := range s.HostIPs {
		s.HostIPs[i].IP = c.word(s.HostIPs[i].IP)
	}
	s.Conditions = exact(s.Conditions)
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

// word returns the first of the texts that are like this one. It wants c.mu held.
func (c *interner) word(s string) string {
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

// exact is a slice without room for more: what a decoder has grown has up to twice as
// much as it needs.
func exact[T any](s []T) []T {
	if len(s) == cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)), s...)
}

// nodeLists hold the lists that all nodes of one machine type share. There are few kinds: of each the last one seen
// is held.
type nodeLists struct {
	images []corev1.ContainerImage
	sizes  map[string]corev1.ResourceList // by the type of the machine and what is listed
}

// node has a node use the words of those that came before it. No other goroutine may hold it yet.
func (c *interner) node(n *corev1.Node) {
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
	s.Images = c.lists.share(s.Images)
	kind := n.Labels[corev1.LabelInstanceTypeStable]
	s.Capacity, s.Allocatable = c.lists.size("capacity/"+kind, s.Capacity), c.lists.size("allocatable/"+kind, s.Allocatable)
	s.Conditions = exact(s.Conditions)
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

// share returns the list of images that was seen last, if it is like this one.
func (l *nodeLists) share(images []corev1.ContainerImage) []corev1.ContainerImage {
	if slices.EqualFunc(l.images, images, func(a, b corev1.ContainerImage) bool {
		return a.SizeBytes == b.SizeBytes && slices.Equal(a.Names, b.Names)
	}) {
		return l.images
	}
	l.images = exact(images)
	return l.images
}

// size returns the list that was seen last of a kind, if it is like this one.
func (l *nodeLists) size(kind string, list corev1.ResourceList) corev1.ResourceList {
	if last, is := l.sizes[kind]; is && len(list) > 0 && apiequality.Semantic.DeepEqual(last, list) {
		return last
	}
	if l.sizes == nil || len(l.sizes) >= maxInterned {
		l.sizes = map[string]corev1.ResourceList{}
	}
	l.sizes[kind] = list
	return list
}
