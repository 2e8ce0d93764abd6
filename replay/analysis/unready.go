package analysis

import (
	"cmp"
	"slices"
	"strings"
)

// Unready is a pod that the tape's end leaves without a node, or whose containers couldn't start.
type Unready struct {
	Namespace, Name string
	Workload        string // Kind/namespace/name
	Node            string // "" where it has none
	// Reason and Message are the cluster's words: those of the condition PodScheduled, of a container that waits for its image, or of
	// the Event about its volume.
	Reason, Message string
	// Since is when it was created, or when its volume or image was first waited for; zero where that was before the tape.
	Since Moment
	// Before says that it was so when the tape began.
	Before bool
}

// Unready lists the pods that weren't running at the tape's end, of those for which the cluster said why, by namespace and name. It
// is called after Finish.
func (f *Fold) Unready() (all []Unready) {
	for _, p := range f.s.allPods {
		if p.gone || p.ended || p.deleting || p.ready || p.mirror {
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
