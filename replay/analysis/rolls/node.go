package rolls

import (
	"bytes"
	"errors"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// node is a node in its last state, as far as a roll shows it: what a quiet
// event has changed is not in it.
type node struct {
	uid     string
	body    []byte
	ready   []byte // status of the condition Ready
	group   *group
	tainted bool // with a noderoll.ScaleDownTaint

	patches int      // since the last event with the whole object
	waiting [][]byte // of these, what isn't in the body yet: see whole
	grown   int      // its bytes
}

// whole brings the body up to date. Applying each patch as it comes would be the work
// of the whole node for a line that changes one member of it.
func (n *node) whole() []byte {
	// New bytes each time: a Follower may keep the ones it was given.
	if len(n.waiting) > 0 {
		n.body = rawjson.ApplyAll(make([]byte, 0, len(n.body)+n.grown), n.body, n.waiting...)
		n.waiting, n.grown = nil, 0
	}
	return n.body
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

// put takes over an event. It reports whether that may have changed what group
// the node is of. check, which may be nil, is asked about what patches make.
func (n *node) put(ev *timeline.Event, check patchCheck) (labelled bool, err error) {
	switch {
	case ev.Object != nil:
		n.body, labelled, n.patches = ev.Object, true, 0
		n.waiting, n.grown = nil, 0
		n.ready = readyIn(rawjson.Get(n.body, "status", "conditions"))
		n.tainted = tainted(rawjson.Get(n.body, "spec", "taints"))
		if ev.UID != "" {
			n.uid = ev.UID
		}
	case ev.Patch != nil:
		n.waiting = append(n.waiting, bytes.Clone(ev.Patch)) // the caller may use its bytes again
		n.grown += len(ev.Patch)
		n.patches++
		if n.grown > len(n.body) || check.refuses(ev, n.patches, len(n.body)+n.grown) != nil {
			err = check.refuses(ev, n.patches, len(n.whole()))
		}
		if status := rawjson.Get(ev.Patch, "status"); status != nil {
			if conditions := rawjson.Get(status, "conditions"); conditions != nil || !rawjson.IsObject(status) {
				n.ready = bytes.Clone(readyIn(conditions))
			}
		}
		if spec := rawjson.Get(ev.Patch, "spec"); spec != nil {
			if taints := rawjson.Get(spec, "taints"); taints != nil || !rawjson.IsObject(spec) {
				n.tainted = tainted(taints)
			}
		}
		meta := rawjson.Get(ev.Patch, "metadata")
		labelled = meta != nil && (!rawjson.IsObject(meta) || rawjson.Get(meta, "labels") != nil || rawjson.Get(meta, "annotations") != nil)
	}
	return labelled || n.group == nil, err
}

// A patchCheck keeps a tape that is read by lines to what a Reader keeps whole objects to. It returns the line that is read.
type patchCheck func() int

// refuses is the error of an object of so many bytes after so many patches.
func (c patchCheck) refuses(ev *timeline.Event, patches, bytes int) error {
	if c == nil || bytes <= timeline.MaxPatched {
		return nil
	}
	who := ev.Resource + " "
	if ev.Namespace != "" {
		who += ev.Namespace + "/"
	}
	err := timeline.CheckPatched(who+ev.Name, patches, bytes)
	if fail := (*timeline.Error)(nil); errors.As(err, &fail) {
		fail.Line = c()
	}
	return err
}

// identify reads what a Provider looks at.
func identify(body []byte, words *rawjson.Words) *noderoll.Node {
	meta := rawjson.Get(body, "metadata")
	return &noderoll.Node{Labels: words.Texts(rawjson.Get(meta, "labels")), Annotations: words.Texts(rawjson.Get(meta, "annotations"))}
}
