package noderoll

import (
	"cmp"
	"slices"
	"time"
)

// warn emits a Warning if its node is in the group.
func (f *Feed) warn(r *warnRec) {
	node := f.state.warnedNode(r)
	if node == "" {
		return
	}
	r.shown = true
	f.emit(Entry{Kind: EvtWarning, Node: node, Object: r.path(), Reason: r.Reason, Message: r.Message})
}

// warnLateFor is the time a Warning waits for its node. A kubelet sends its
// first ones seconds before it creates the Node.
const warnLateFor = time.Minute

// warnLate emits the Warnings that came before their node.
func (f *Feed) warnLate(rec *nodeRec) {
	var late []*warnRec
	for r := range f.state.warns.byNode[rec.name] {
		if !r.shown && f.at-r.at <= warnLateFor {
			late = append(late, r)
		}
	}
	slices.SortFunc(late, func(a, b *warnRec) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, r := range late {
		f.warn(r)
	}
}
