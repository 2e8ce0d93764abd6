package observe

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// machine hands a Machine of Cluster API to the feed.
func (f *Follower) machine(ev *timeline.Event) ([]noderoll.Entry, error) {
	return f.setMachine(ev, "Machine", "nodeRef", "name")
}

// nodeClaim hands a NodeClaim of Karpenter to the feed.
func (f *Follower) nodeClaim(ev *timeline.Event) ([]noderoll.Entry, error) {
	return f.setMachine(ev, "NodeClaim", "nodeName")
}

// setMachine reads a machine, whose status names its node at a path.
func (f *Follower) setMachine(ev *timeline.Event, kind string, node ...string) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		return f.feed.DeleteMachine(f.at, kind, ev.Namespace, ev.Name), nil
	}
	if ev.Object == nil {
		return nil, unreadable(ev, errNoObject)
	}
	status := rawjson.Get(ev.Object, "status")
	m := noderoll.Machine{Kind: kind, Namespace: ev.Namespace, Name: ev.Name, Node: rawjson.Text(status, node...)}
	// An object of v1beta1 has the conditions of v1beta2 beside its own, and the other way round.
	for _, conditions := range [][]byte{
		rawjson.Get(status, "conditions"), rawjson.Get(status, "v1beta2", "conditions"), rawjson.Get(status, "deprecated", "v1beta1", "conditions"),
	} {
		for c := range rawjson.Elements(conditions) {
			m.SetCondition(rawjson.Text(c, "type"), rawjson.Text(c, "status"), rawjson.Text(c, "reason"))
		}
	}
	return f.feed.SetMachine(f.at, m), nil
}
