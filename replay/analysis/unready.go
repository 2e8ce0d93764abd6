package analysis

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Unready is a pod that the tape's end leaves without a node, whose containers couldn't start, or whose node isn't heard of any more.
type Unready struct {
	Namespace, Name string
	Workload        string // Kind/namespace/name
	Node            string // "" where it has none
	// Reason and Message are the cluster's words: those of the condition PodScheduled, of a container that waits for its image, of the
	// Event about its volume, or of its node's condition Ready.
	Reason, Message string
	// Since is when it was created, or when its volume or image was first waited for; zero where that was before the tape, and of one whose
	// node isn't heard of.
	Since Moment
	// Before says that it was so when the tape began.
	Before bool
}

// Unready lists the pods that weren't running at the tape's end, of those for which the cluster said why, by namespace and name. It
// is called after Finish.
func (f *Fold) Unready() (all []Unready) {
	for _, p := range f.s.allPods {
		if p.gone || p.ended || p.ready || p.mirror || p.deleting && !p.unheard() {
			continue
		}
		u := Unready{Namespace: p.namespace, Name: p.name, Workload: p.workload.path(), Before: p.initial && !p.wasReady}
		switch {
		case p.place == nil:
			u.Reason, u.Message, u.Since = p.pendingReason, p.whyPending, p.created
		case p.volumeFrom.is() && !p.volumeTo.is():
			u.Node, u.Reason, u.Message, u.Since = p.place.name, p.volumeReason, p.volumeMessage, p.volumeFrom
		case p.pullFrom.is() && !p.pullTo.is():
			u.Node, u.Reason, u.Message, u.Since = p.place.name, p.pullReason, p.pullMessage, p.pullFrom
		case p.unheard():
			u.Node, u.Reason, u.Message = p.place.name, p.place.node.is.ReadyReason, p.place.node.is.ReadyMessage
		}
		if u.Reason != "" {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b Unready) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return all
}

// unheard reports whether the Ready condition of a pod's node is Unknown, and the pod waits for that node. A DaemonSet's pod is for the node
// alone. Of pods that are being deleted only a StatefulSet's wait: others have been replaced, or without a controller never are. A StatefulSet
// has one pod of a name, and the kubelet of such a node never says that its end has come.
func (p *pod) unheard() bool {
	return p.place != nil && p.place.node != nil && p.place.node.is.Ready == string(corev1.ConditionUnknown) &&
		!p.daemon && (!p.deleting || p.workload.Kind == "StatefulSet")
}
