package trigger

import (
	"encoding/json"
	"time"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

type machineKey struct{ resource, namespace, name string }

// machine is what is kept of a living NodeClaim or Machine.
type machine struct {
	uid, group string
	deleting   bool
	since      time.Time
	listed     bool // it is as it was when the recording began
}

func (d *Decider) nodeClaim(at time.Time, ev *timeline.Event) {
	d.claim(at, ev, "NodeClaim", "nodeName")
}

func (d *Decider) machine(at time.Time, ev *timeline.Event) {
	d.claim(at, ev, "Machine", "nodeRef", "name")
}

// claim takes an event of what a node is made for, whose status names the node at a path.
func (d *Decider) claim(at time.Time, ev *timeline.Event, kind string, path ...string) {
	key := machineKey{ev.Resource, ev.Namespace, ev.Name}
	was := d.machines[key]
	if was != nil && (ev.Type == timeline.Deleted || ev.UID != "" && ev.UID != was.uid) {
		delete(d.machines, key)
		d.happened(at, was.group)
		was = nil
	}
	if ev.Type == timeline.Deleted {
		return
	}
	is := &machine{uid: ev.UID, since: at}
	is.group = d.machineGroup(ev.Object, path)
	deleted := rawjson.Text(ev.Object, "metadata", "deletionTimestamp")
	is.deleting = deleted != ""
	d.machines[key] = is
	switch {
	case was == nil && !d.synced[ev.Resource]: // what there is at the beginning
		if is.listed = d.options.Begins; is.deleting {
			d.find(at, is.group, ev, kind+" "+ev.Name+" was being deleted")
		}
	case is.deleting && (was == nil || !was.deleting):
		when, _ := time.Parse(time.RFC3339, deleted) // zero where it isn't one
		d.begin(at, is.group, false, trigger(ev, Deletion, when, kind+" "+ev.Name+" is being deleted"))
	case was == nil:
		d.happened(at, is.group)
	default:
		is.since, is.listed = was.since, was.listed
	}
}

// machineGroup is the group of a machine's node, or the one that it will be of.
func (d *Decider) machineGroup(object []byte, path []string) string {
	if n := d.nodes[rawjson.Text(rawjson.Get(object, "status"), path...)]; n != nil {
		return n.group
	}
	var m noderoll.Machine
	if json.Unmarshal(rawjson.Get(object, "metadata", "labels"), &m.Labels) != nil {
		m.Labels = nil // there are none
	}
	owner := kubejson.Controller(object)
	m.OwnerKind, m.OwnerName = rawjson.Text(owner, "kind"), rawjson.Text(owner, "name")
	return d.group(m.Pool(noderoll.Provider{}))
}
