package observe

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// nodeCache keeps what was decoded of a node, beside the text that it was
// decoded from: heartbeats repeat nearly all of it.
type nodeCache struct {
	uid  string
	node noderoll.Node

	labels, annotations, created, spec, info, reason, message []byte
}

// maxGroups bounds how many names of groups are remembered.
const maxGroups = 1000

// node hands a Node to the feed.
func (f *Follower) node(ev *timeline.Event) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		delete(f.nodes, ev.Name)
		return f.feed.DeleteNode(f.at, ev.Name, ev.UID), nil
	}
	c := f.nodes[ev.Name]
	if ev.Object == nil || f.patched(ev) && c != nil {
		if c == nil {
			return nil, unreadable(ev, errNoObject)
		}
		c.patch(ev.Patch, f.words)
		return f.feed.SetNode(f.at, c.node), nil
	}
	if c == nil || c.uid != ev.UID {
		c = &nodeCache{uid: ev.UID}
		c.node.Name, c.node.UID = ev.Name, ev.UID
		f.nodes[ev.Name] = c
		c.decode(ev.Object, f.words)
		if len(f.groups) < maxGroups {
			f.groups[f.groupOf(&c.node)] = struct{}{}
		}
	} else {
		c.decode(ev.Object, f.words)
	}
	return f.feed.SetNode(f.at, c.node), nil
}

// changed reports whether raw differs from what was kept, and keeps a copy, so
// that old states of the object aren't held in memory.
func changed(kept *[]byte, raw []byte) bool {
	if bytes.Equal(*kept, raw) {
		return false
	}
	*kept = append((*kept)[:0], raw...)
	return true
}

// decode makes of the node what noderoll.NodeFrom would.
func (c *nodeCache) decode(object []byte, w words) {
	var meta, spec, status []byte
	for o := rawjson.Object(object); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		switch string(name) {
		case "metadata":
			meta = value
		case "spec":
			spec = value
		case "status":
			status = value
		}
	}
	c.metadata(meta, w)
	if changed(&c.spec, spec) {
		c.setUnschedulable(rawjson.Get(spec, "unschedulable"))
		c.setTaints(rawjson.Get(spec, "taints"))
	}
	var info, conditions []byte
	for o := rawjson.Object(status); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		switch string(name) {
		case "conditions":
			conditions = value
		case "nodeInfo":
			info = value
		}
	}
	c.setConditions(conditions)
	c.setInfo(info)
}

func (c *nodeCache) metadata(meta []byte, w words) {
	c.node.Deleting = false
	var labels, annotations, created []byte
	for o := rawjson.Object(meta); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		switch string(name) {
		case "labels":
			labels = value
		case "annotations":
			annotations = value
		case "creationTimestamp":
			created = value
		case "deletionTimestamp":
			c.node.Deleting = string(value) != "null"
		}
	}
	c.setLabels(labels, w)
	c.setAnnotations(annotations, w)
	c.setCreated(created)
}

// patch is decode of an object of which a patch alone is known.
func (c *nodeCache) patch(patch []byte, w words) {
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			return
		}
		switch string(name) {
		case "metadata":
			c.patchMetadata(value, w)
		case "spec":
			c.patchSpec(value)
		case "status":
			c.patchStatus(value)
		}
	}
}

func (c *nodeCache) patchMetadata(patch []byte, w words) {
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			return
		}
		switch string(name) {
		case "labels":
			c.setLabels(merged(c.labels, value), w)
		case "annotations":
			c.setAnnotations(merged(c.annotations, value), w)
		case "creationTimestamp":
			c.setCreated(merged(nil, value))
		case "deletionTimestamp":
			c.node.Deleting = string(value) != "null"
		}
	}
}

func (c *nodeCache) patchSpec(patch []byte) {
	c.spec = append(c.spec[:0], "patched"...) // the next whole one differs
	if !rawjson.IsObject(patch) {
		c.setUnschedulable(nil)
		c.setTaints(nil)
		return
	}
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			return
		}
		switch string(name) {
		case "unschedulable":
			c.setUnschedulable(value)
		case "taints":
			c.setTaints(value)
		}
	}
}

func (c *nodeCache) patchStatus(patch []byte) {
	if !rawjson.IsObject(patch) {
		c.setConditions(nil)
		c.setInfo(nil)
		return
	}
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			return
		}
		switch string(name) {
		case "conditions":
			c.setConditions(value)
		case "nodeInfo":
			c.setInfo(merged(c.info, value))
		}
	}
}

// merged returns what a patch makes of a value; nil means none.
func merged(old, patch []byte) []byte {
	switch {
	case rawjson.IsObject(patch):
		return rawjson.Apply(nil, old, patch)
	case string(patch) == "null":
		return nil
	}
	return patch
}

func (c *nodeCache) setLabels(raw []byte, w words) {
	if changed(&c.labels, raw) {
		c.node.Labels = w.texts(raw)
	}
}

func (c *nodeCache) setAnnotations(raw []byte, w words) {
	if changed(&c.annotations, raw) {
		c.node.Annotations = w.texts(raw)
	}
}

func (c *nodeCache) setCreated(raw []byte) {
	if changed(&c.created, raw) {
		c.node.Created = when(raw)
	}
}

func (c *nodeCache) setUnschedulable(raw []byte) { c.node.Unschedulable = string(raw) == "true" }

func (c *nodeCache) setTaints(raw []byte) {
	c.node.TaintKeys = nil
	for t := range rawjson.Elements(raw) {
		c.node.TaintKeys = append(c.node.TaintKeys, rawjson.Text(t, "key"))
	}
}

func (c *nodeCache) setConditions(raw []byte) {
	n := &c.node
	n.Ready, n.Pressure = "", 0
	ready := false
	for cond := range rawjson.Elements(raw) {
		ready = c.condition(cond) || ready
	}
	if !ready {
		c.reason, c.message, n.ReadyReason, n.ReadyMessage = nil, nil, "", ""
	}
}

func (c *nodeCache) setInfo(raw []byte) {
	if changed(&c.info, raw) {
		c.node.KubeletVersion, c.node.OSImage = rawjson.Text(raw, "kubeletVersion"), rawjson.Text(raw, "osImage")
	}
}

// condition notes one condition without allocating what hasn't changed. It
// reports whether that is of type Ready.
func (c *nodeCache) condition(cond []byte) (ready bool) {
	var typ, status, reason, message []byte
	for o := rawjson.Object(cond); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		switch string(name) {
		case "type":
			typ = value
		case "status":
			status = value
		case "reason":
			reason = value
		case "message":
			message = value
		}
	}
	n := &c.node
	if string(typ) != `"Ready"` {
		if string(status) == `"True"` {
			name, _ := rawjson.Unquote(typ)
			n.Pressure |= noderoll.PressureOf(name)
		}
		return false
	}
	if n.Ready != "" {
		return true // the first one counts
	}
	switch string(status) {
	case `"True"`:
		n.Ready = "True"
	case `"False"`:
		n.Ready = "False"
	default:
		n.Ready, _ = rawjson.Unquote(status)
	}
	if changed(&c.reason, reason) {
		n.ReadyReason, _ = rawjson.Unquote(reason)
	}
	if changed(&c.message, message) {
		n.ReadyMessage, _ = rawjson.Unquote(message)
	}
	return true
}
