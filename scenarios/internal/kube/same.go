package kube

import "slices"

// What follows asks of two states whether anything is to be written: whether the patch between them is empty. It is for
// who makes no patch, and has to agree with writer to the last field.

func sameMeta(old, m *Meta) bool {
	return old.Generation == m.Generation && old.Created.Second() == m.Created.Second() && old.Deleting.Second() == m.Deleting.Second() &&
		(old.Deleting != 0) == (m.Deleting != 0) && old.Grace == m.Grace && old.Owner == m.Owner &&
		alike(old.Labels, m.Labels) && alike(old.Annotations, m.Annotations) && alike(old.Finalizers, m.Finalizers)
}

func samePod(old, p *Pod) bool {
	return sameMeta(&old.Meta, &p.Meta) && sameTemplate(old.Template, p.Template) &&
		old.NodeName == p.NodeName && old.ObservedGeneration == p.ObservedGeneration && old.Phase == p.Phase &&
		old.Message == p.Message && old.Reason == p.Reason && old.Nominated == p.Nominated &&
		old.HostIP == p.HostIP && old.PodIP == p.PodIP && old.Started.Second() == p.Started.Second() &&
		alike(old.Conditions, p.Conditions) && alike(old.Init, p.Init) && alike(old.Containers, p.Containers)
}

func sameTemplate(old, t *Template) bool {
	return old == t || old.GenerateName == t.GenerateName && slices.Equal(old.Containers, t.Containers)
}

func sameNode(old, n *Node) bool {
	return sameMeta(&old.Meta, &n.Meta) && old.PodCIDR == n.PodCIDR && old.ProviderID == n.ProviderID &&
		old.Unschedulable == n.Unschedulable && old.Phase == n.Phase && old.KubeletPort == n.KubeletPort && old.Info == n.Info &&
		alike(old.Taints, n.Taints) && alike(old.Conditions, n.Conditions) && alike(old.Addresses, n.Addresses) &&
		alike(old.Capacity, n.Capacity) && alike(old.Allocatable, n.Allocatable) &&
		sameImages(old.Images, n.Images) && alike(old.Handlers, n.Handlers) && alike(old.InUse, n.InUse) && alike(old.Attached, n.Attached)
}

func sameImages(old, now []Image) bool {
	return Identical(old, now) || slices.EqualFunc(old, now, func(a, b Image) bool { return a.Bytes == b.Bytes && alike(a.Names, b.Names) })
}

func sameBudget(old, b *Budget) bool {
	return sameMeta(&old.Meta, &b.Meta) && b.sameSpec(old) && old.ObservedGeneration == b.ObservedGeneration &&
		old.DisruptionsAllowed == b.DisruptionsAllowed && old.CurrentHealthy == b.CurrentHealthy &&
		old.DesiredHealthy == b.DesiredHealthy && old.ExpectedPods == b.ExpectedPods &&
		alike(old.DisruptedPods, b.DisruptedPods) && alike(old.Conditions, b.Conditions)
}

// sameCustom is of a provider's object: a member of its status that is gone isn't written.
func sameCustom(old, c *Custom) bool {
	if !sameMeta(&old.Meta, &c.Meta) || old.Spec != c.Spec || !alike(old.Conditions, c.Conditions) {
		return false
	}
	for _, f := range c.Status {
		if !slices.Contains(old.Status, f) {
			return false
		}
	}
	return true
}

// sameEvent is of an event that counts up: what it is about stays.
func sameEvent(old, e *Event) bool {
	return sameMeta(&old.Meta, &e.Meta) && old.Reason == e.Reason && old.Message == e.Message && old.First == e.First &&
		old.Last == e.Last && old.Count == e.Count && old.Type == e.Type && old.SeriesCount == e.SeriesCount && old.Action == e.Action
}
