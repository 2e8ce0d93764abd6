package rolls

import (
	"bytes"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// node is a node in its last state, as far as a roll shows it: what a quiet
// event has changed is not in it.
type node struct {
	uid   string
	body  []byte
	ready []byte // status of the condition Ready, as it is in the body
	group *group

	patches int // since the last event with the whole object
}

// quiet reports whether an event changes nothing that a roll shows. Nearly all
// are: kubelets post the status of their nodes every few seconds, and what
// moves in it are the times of the last heartbeats.
func (n *node) quiet(ev *timeline.Event) bool {
	if ev.Type != timeline.Modified || ev.Patch == nil || n.group == nil {
		return false
	}
	for c := rawjson.Object(ev.Patch); ; {
		name, value, ok := c.Next()
		if !ok {
			return true
		}
		if string(name) != "status" {
			return false
		}
		for c := rawjson.Object(value); ; {
			name, value, ok := c.Next()
			if !ok {
				break
			}
			switch string(name) {
			case "nodeInfo", "volumesAttached": // the one tells old from new where no label does
				return false
			case "conditions":
				if !bytes.Equal(readyIn(value), n.ready) {
					return false
				}
			}
		}
	}
}

// readyIn returns the status of the first condition of type Ready.
func readyIn(conditions []byte) []byte {
	for c := range rawjson.Elements(conditions) {
		if string(rawjson.Get(c, "type")) == `"Ready"` {
			return rawjson.Get(c, "status")
		}
	}
	return nil
}

// put brings the node's state up to date. It reports whether that may have
// changed what group it is of.
func (n *node) put(ev *timeline.Event) (labelled bool, err error) {
	switch {
	case ev.Object != nil:
		n.body, labelled, n.patches = ev.Object, true, 0
		if ev.UID != "" {
			n.uid = ev.UID
		}
	case ev.Patch != nil:
		// New bytes each time: a Follower may keep the ones it was given.
		n.body = rawjson.Apply(make([]byte, 0, len(n.body)+len(ev.Patch)), n.body, ev.Patch)
		n.patches++
		err = timeline.CheckPatched(ev.Resource+" "+ev.Name, n.patches, len(n.body))
		meta := rawjson.Get(ev.Patch, "metadata")
		labelled = meta != nil && (!rawjson.IsObject(meta) || rawjson.Get(meta, "labels") != nil || rawjson.Get(meta, "annotations") != nil)
	}
	n.ready = readyIn(rawjson.Get(n.body, "status", "conditions"))
	return labelled || n.group == nil, err
}

// identify reads what a Provider looks at.
func identify(body []byte, words *rawjson.Words) *noderoll.Node {
	meta := rawjson.Get(body, "metadata")
	return &noderoll.Node{Labels: words.Texts(rawjson.Get(meta, "labels")), Annotations: words.Texts(rawjson.Get(meta, "annotations"))}
}
