package observe

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// nodeCache keeps what was decoded of a node, and the texts of its largest parts:
// heartbeats repeat them.
type nodeCache struct {
	uid                 string
	node                noderoll.Node
	labels, annotations []byte
}

// maxGroups bounds how many names of groups are remembered.
const maxGroups = 1000

// node hands a Node to the feed. Most events are heartbeats, which change nothing
// that a roll shows; of those the feed only learns the time.
func (f *Follower) node(ev *timeline.Event) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		delete(f.nodes, ev.Name)
		return f.feed.DeleteNode(f.at, ev.Name, ev.UID), nil
	}
	c := f.nodes[ev.Name]
	raw, whole, err := f.text(ev, c != nil)
	if err != nil {
		return nil, err
	}
	first := whole && (c == nil || c.uid != ev.UID)
	if first {
		c = &nodeCache{uid: ev.UID}
		c.node.Name, c.node.UID = ev.Name, ev.UID
		f.nodes[ev.Name] = c
	}
	changed := c.decode(raw, whole, &f.decoders)
	if first && len(f.groups) < maxGroups {
		f.groups[f.groupOf(&c.node)] = struct{}{}
	}
	if !changed && !first {
		return f.feed.Advance(f.at), nil
	}
	return f.feed.SetNode(f.at, c.node), nil
}

// decode takes over what a whole object or a patch tells of the node. It reports
// whether that differs from what was known.
func (c *nodeCache) decode(raw []byte, whole bool, d *decoders) (changed bool) {
	o := &d.node
	*o = corev1.Node{Spec: corev1.NodeSpec{Taints: o.Spec.Taints[:0]}, Status: corev1.NodeStatus{Conditions: o.Status.Conditions[:0]}}
	told := d.brief.Node(o, raw)
	if whole {
		told = everything
	}
	n, now := &c.node, noderoll.NodeFrom(o)
	if told.Has(kubejson.Labels) {
		changed = texts(&n.Labels, &c.labels, d.brief.Labels, whole, d)
	}
	if told.Has(kubejson.Annotations) {
		changed = texts(&n.Annotations, &c.annotations, d.brief.Annotations, whole, d) || changed
	}
	if told.Has(kubejson.Created) {
		changed = set(&n.Created, now.Created) || changed
	}
	if told.Has(kubejson.Deleting) {
		changed = set(&n.Deleting, now.Deleting) || changed
	}
	if told.Has(kubejson.Unschedulable) {
		changed = set(&n.Unschedulable, now.Unschedulable) || changed
	}
	if told.Has(kubejson.Taints) && !slices.Equal(n.TaintKeys, now.TaintKeys) {
		n.TaintKeys, changed = now.TaintKeys, true
	}
	if told.Has(kubejson.KubeletVersion) {
		changed = set(&n.KubeletVersion, now.KubeletVersion) || changed
	}
	if told.Has(kubejson.OSImage) {
		changed = set(&n.OSImage, now.OSImage) || changed
	}
	if told.Has(kubejson.Conditions) {
		changed = set(&n.Ready, now.Ready) || changed
		changed = set(&n.ReadyReason, now.ReadyReason) || changed
		changed = set(&n.ReadyMessage, now.ReadyMessage) || changed
		changed = set(&n.Pressure, now.Pressure) || changed
	}
	return changed
}

// set reports whether a value is another one than before.
func set[T comparable](to *T, v T) bool {
	if *to == v {
		return false
	}
	*to = v
	return true
}

// texts takes over labels or annotations. Of those that were told whole, the text is
// kept as well: decoding costs more than comparing.
func texts(to *map[string]string, kept *[]byte, raw []byte, whole bool, d *decoders) (changed bool) {
	if !whole {
		*to, *kept = d.brief.Merge(*to, raw), append((*kept)[:0], "patched"...) // the next whole text differs
		return true
	}
	if bytes.Equal(*kept, raw) {
		return false
	}
	*to, *kept = d.brief.Words.Texts(raw), append((*kept)[:0], raw...)
	return true
}
