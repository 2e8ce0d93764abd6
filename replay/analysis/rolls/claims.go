package rolls

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// claims are the NodeClaims of a tape, as far as they say that their nodes are taken because they aren't needed.
type claims struct {
	nodes   map[string]string // by the NodeClaim's name
	surplus map[string]bool   // by the node's name, until it is gone
}

// claim takes an event of a NodeClaim, with the whole object or a patch, which holds all conditions or none.
func (r *Finder) claim(ev *timeline.Event) {
	raw := ev.Object
	if raw == nil {
		raw = ev.Patch
	}
	status := rawjson.Get(raw, "status")
	if name := rawjson.Text(status, "nodeName"); name != "" {
		r.claims.nodes[ev.Name] = name
	}
	node := r.claims.nodes[ev.Name]
	if conditions := rawjson.Get(status, "conditions"); conditions != nil && node != "" {
		if surplus(conditions) {
			r.claims.surplus[node] = true
		} else {
			delete(r.claims.surplus, node)
		}
		if n := r.nodes[node]; n != nil && n.group != nil {
			n.group.scaleDown(node, n.tainted, r.claims.surplus[node])
		}
	}
	if ev.Type == timeline.Deleted {
		delete(r.claims.nodes, ev.Name)
	}
}

// surplus reports whether the conditions of a NodeClaim say that its node isn't needed.
func surplus(conditions []byte) bool {
	m := noderoll.Machine{Kind: "NodeClaim"}
	for c := range rawjson.Elements(conditions) {
		m.Conditions = append(m.Conditions, noderoll.MachineCondition{
			Type: rawjson.Text(c, "type"), Status: rawjson.Text(c, "status"), Reason: rawjson.Text(c, "reason"),
		})
	}
	return m.ScalesDown()
}

// tainted reports whether a taint says that the node isn't needed.
func tainted(taints []byte) bool {
	for t := range rawjson.Elements(taints) {
		if noderoll.ScaleDownTaint(rawjson.Text(t, "key")) {
			return true
		}
	}
	return false
}
