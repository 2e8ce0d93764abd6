package noderoll

import corev1 "k8s.io/api/core/v1"

// Pod holds what a roll needs to know of a Pod object. Labels may be shared with
// the object it was made from; nothing here writes to them, and State keeps one
// map for all pods of a namespace with the same labels.
type Pod struct {
	Namespace string
	Name      string
	UID       string
	Labels    map[string]string
	Node      string // spec.nodeName; empty while pending
	DaemonSet bool   // any owner reference of kind DaemonSet
	Mirror    bool   // a static pod, by annotation kubernetes.io/config.mirror
	Phase     string // status.phase
	Ready     bool   // condition Ready is True
	Deleting  bool   // metadata.deletionTimestamp is set
	// Disruption is the reason of condition DisruptionTarget where that is True.
	Disruption string
}

// Evictable reports whether a drain has to move the pod: it hasn't ended, and
// is neither a static pod nor one of a DaemonSet.
func (p *Pod) Evictable() bool {
	return !p.ended() && !p.Mirror && !p.DaemonSet
}

func (p *Pod) ended() bool {
	return p.Phase == string(corev1.PodSucceeded) || p.Phase == string(corev1.PodFailed)
}

// PodFrom extracts what a roll needs from a Pod object. It shares the object's
// label map.
func PodFrom(o *corev1.Pod) Pod {
	p := Pod{
		Namespace: o.Namespace,
		Name:      o.Name,
		UID:       string(o.UID),
		Labels:    o.Labels,
		Node:      o.Spec.NodeName,
		Phase:     string(o.Status.Phase),
		Deleting:  o.DeletionTimestamp != nil,
	}
	_, p.Mirror = o.Annotations[corev1.MirrorPodAnnotationKey]
	for i := range o.OwnerReferences {
		p.DaemonSet = p.DaemonSet || o.OwnerReferences[i].Kind == "DaemonSet"
	}
	for i := range o.Status.Conditions {
		switch c := &o.Status.Conditions[i]; {
		case c.Type == corev1.PodReady:
			p.Ready = c.Status == corev1.ConditionTrue
		case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue:
			p.Disruption = c.Reason
		}
	}
	return p
}
