//go:build controlplane

package scheduler_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// shrink takes away from a world in which one pod waits what the difference doesn't need: pods, nodes, and what they say.
// A world that test/scheduler can't judge doesn't show it.
func shrink(t *testing.T, j *judge, w *world, kind string) *world {
	t.Helper()
	fails := func(w *world) bool {
		verdicts, err := j.of(w)
		if err != nil {
			return false
		}
		s := simulate(t, w)
		is, _ := s.compare(s.pod(&w.Waiting[0]), &verdicts[0])
		return is == kind
	}
	if !fails(w) {
		return w
	}
	for again := true; again; {
		again = false
		for _, less := range w.less() {
			if fails(less) {
				w, again = less, true
				break
			}
		}
	}
	return w
}

// less are worlds with one thing less.
func (w *world) less() (all []*world) {
	for i := range w.Placed {
		next := *w
		next.Placed = slices.Delete(slices.Clone(w.Placed), i, i+1)
		all = append(all, &next)
	}
	for i := range w.Nodes {
		if len(w.Nodes) == 1 {
			break
		}
		next, name := *w, w.Nodes[i].Name
		next.Nodes = slices.Delete(slices.Clone(w.Nodes), i, i+1)
		next.Placed = slices.DeleteFunc(slices.Clone(w.Placed), func(p corev1.Pod) bool { return p.Spec.NodeName == name })
		all = append(all, &next)
	}
	for i := range w.Budgets {
		next := *w
		next.Budgets = slices.Delete(slices.Clone(w.Budgets), i, i+1)
		all = append(all, &next)
	}
	for i := range w.CSINodes {
		next := *w
		next.CSINodes = slices.Delete(slices.Clone(w.CSINodes), i, i+1)
		all = append(all, &next)
	}
	for i := range w.ReplicaSets {
		next := *w
		next.ReplicaSets = slices.Delete(slices.Clone(w.ReplicaSets), i, i+1)
		if !w.owns(w.ReplicaSets[i].UID) {
			all = append(all, &next)
		}
	}
	for i := range w.Claims {
		next := *w
		next.Claims = slices.Delete(slices.Clone(w.Claims), i, i+1)
		all = append(all, &next)
	}
	for i := range w.Nodes {
		for _, drop := range dropsOfNodes {
			next := *w
			next.Nodes = slices.Clone(w.Nodes)
			next.Nodes[i] = *w.Nodes[i].DeepCopy()
			if drop(&next.Nodes[i]) {
				all = append(all, &next)
			}
		}
	}
	for i := range len(w.Placed) + 1 {
		for _, drop := range dropsOfPods {
			next := *w
			var p *corev1.Pod
			if i == len(w.Placed) {
				next.Waiting = slices.Clone(w.Waiting)
				p = &next.Waiting[0]
			} else {
				next.Placed = slices.Clone(w.Placed)
				p = &next.Placed[i]
			}
			*p = *p.DeepCopy()
			if drop(p) {
				all = append(all, &next)
			}
		}
	}
	return all
}

// owns reports whether some pod has the owner.
func (w *world) owns(uid types.UID) bool {
	owned := func(p corev1.Pod) bool { return len(p.OwnerReferences) > 0 && p.OwnerReferences[0].UID == uid }
	return slices.ContainsFunc(w.Placed, owned) || slices.ContainsFunc(w.Waiting, owned)
}

// cut empties a field, and reports whether there was anything in it.
func cut[T any](field *[]T) bool {
	had := len(*field) > 0
	*field = nil
	return had
}

var dropsOfNodes = []func(*corev1.Node) bool{
	func(n *corev1.Node) bool { return cut(&n.Status.Images) },
	func(n *corev1.Node) bool { return cut(&n.Spec.Taints) },
	func(n *corev1.Node) bool { was := n.Spec.Unschedulable; n.Spec.Unschedulable = false; return was },
	func(n *corev1.Node) bool { _, had := n.Labels["disk"]; delete(n.Labels, "disk"); return had },
	func(n *corev1.Node) bool { _, had := n.Labels["size"]; delete(n.Labels, "size"); return had },
	func(n *corev1.Node) bool { _, had := n.Labels[zoneKey]; delete(n.Labels, zoneKey); return had },
}

var dropsOfPods = []func(*corev1.Pod) bool{
	func(p *corev1.Pod) bool { had := p.Spec.Affinity != nil; p.Spec.Affinity = nil; return had },
	func(p *corev1.Pod) bool {
		return affinityLess(p, func(a *corev1.Affinity) bool { had := a.NodeAffinity != nil; a.NodeAffinity = nil; return had })
	},
	func(p *corev1.Pod) bool {
		return affinityLess(p, func(a *corev1.Affinity) bool { had := a.PodAffinity != nil; a.PodAffinity = nil; return had })
	},
	func(p *corev1.Pod) bool {
		return affinityLess(p, func(a *corev1.Affinity) bool { had := a.PodAntiAffinity != nil; a.PodAntiAffinity = nil; return had })
	},
	func(p *corev1.Pod) bool { return cut(&p.Spec.TopologySpreadConstraints) },
	func(p *corev1.Pod) bool {
		more := len(p.Spec.TopologySpreadConstraints) > 1
		if more {
			p.Spec.TopologySpreadConstraints = p.Spec.TopologySpreadConstraints[1:]
		}
		return more
	},
	func(p *corev1.Pod) bool { return cut(&p.Spec.Tolerations) },
	func(p *corev1.Pod) bool { return cut(&p.Spec.InitContainers) },
	func(p *corev1.Pod) bool { return cut(&p.Spec.Volumes) },
	func(p *corev1.Pod) bool { return cut(&p.OwnerReferences) },
	func(p *corev1.Pod) bool { return cut(&p.Spec.Containers[0].Ports) },
	func(p *corev1.Pod) bool {
		more := len(p.Spec.Containers) > 1
		p.Spec.Containers = p.Spec.Containers[:1]
		return more
	},
	func(p *corev1.Pod) bool { had := p.Spec.Overhead != nil; p.Spec.Overhead = nil; return had },
	func(p *corev1.Pod) bool { had := p.Spec.Resources != nil; p.Spec.Resources = nil; return had },
	func(p *corev1.Pod) bool { had := p.Spec.NodeSelector != nil; p.Spec.NodeSelector = nil; return had },
	func(p *corev1.Pod) bool { had := p.DeletionTimestamp != nil; p.DeletionTimestamp = nil; return had },
	func(p *corev1.Pod) bool { had := p.Spec.Priority != nil; p.Spec.Priority = nil; return had },
	func(p *corev1.Pod) bool {
		had := len(p.Spec.Containers[0].Resources.Requests) > 0
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
		return had
	},
}

func affinityLess(p *corev1.Pod, drop func(*corev1.Affinity) bool) bool {
	return p.Spec.Affinity != nil && drop(p.Spec.Affinity)
}
