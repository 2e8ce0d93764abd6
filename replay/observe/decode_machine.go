package observe

import (
	"encoding/json"

	"github.com/nodesim/nodesim/internal/kubejson"
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
	m := noderoll.Machine{
		Kind: kind, Namespace: ev.Namespace, Name: ev.Name, Node: rawjson.Text(status, node...), Phase: rawjson.Text(status, "phase"),
		Deleting: rawjson.Text(ev.Object, "metadata", "deletionTimestamp") != "",
	}
	MachineOrigin(&m, ev.Object)
	// An object of v1beta1 has the conditions of v1beta2 beside its own, and the other way round: all of them are evidence of
	// a drain, and those of v1beta2, where there are any, say how far it is.
	newer := rawjson.Get(status, "v1beta2", "conditions")
	for i, conditions := range [][]byte{newer, rawjson.Get(status, "conditions"), rawjson.Get(status, "deprecated", "v1beta1", "conditions")} {
		for raw := range rawjson.Elements(conditions) {
			c := noderoll.MachineCondition{Type: rawjson.Text(raw, "type"), Status: rawjson.Text(raw, "status"), Reason: rawjson.Text(raw, "reason")}
			m.SetCondition(c.Type, c.Status, c.Reason)
			if i == 0 || i == 1 && len(newer) == 0 {
				c.Message = rawjson.Text(raw, "message")
				m.Conditions = append(m.Conditions, c)
			}
		}
	}
	return f.feed.SetMachine(f.at, m), nil
}

// MachineOrigin reads from the text of a NodeClaim or a Machine what says of which pool its node will be.
func MachineOrigin(m *noderoll.Machine, object []byte) {
	if err := json.Unmarshal(rawjson.Get(object, "metadata", "labels"), &m.Labels); err != nil {
		m.Labels = nil // there are none
	}
	owner := kubejson.Controller(object)
	m.OwnerKind, m.OwnerName = rawjson.Text(owner, "kind"), rawjson.Text(owner, "name")
}
