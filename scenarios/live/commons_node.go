package live

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// nodeLists hold the lists that all nodes of one machine type share. There are few kinds: of each the last one seen
// is held.
type nodeLists struct {
	images []corev1.ContainerImage
	sizes  map[string]corev1.ResourceList // by the type of the machine and what is listed
}

// node has a node use the words of those that came before it. No other goroutine may hold it yet.
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
	if l.sizes == nil || len(l.sizes) >= commonsMost {
		l.sizes = map[string]corev1.ResourceList{}
	}
	l.sizes[kind] = list
	return list
}
