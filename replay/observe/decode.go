package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"

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
	n := &c.node
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
		n.Unschedulable = string(rawjson.Get(spec, "unschedulable")) == "true"
		n.TaintKeys = nil
		for t := range rawjson.Elements(rawjson.Get(spec, "taints")) {
			n.TaintKeys = append(n.TaintKeys, rawjson.Text(t, "key"))
		}
	}
	n.Ready, n.Pressure = "", 0
	var info []byte
	ready := false
	for o := rawjson.Object(status); ; {
		name, value, ok := o.Next()
		if !ok {
			break
		}
		switch string(name) {
		case "conditions":
			for cond := range rawjson.Elements(value) {
				ready = c.condition(cond) || ready
			}
		case "nodeInfo":
			info = value
		}
	}
	if !ready {
		c.reason, c.message, n.ReadyReason, n.ReadyMessage = nil, nil, "", ""
	}
	if changed(&c.info, info) {
		n.KubeletVersion, n.OSImage = rawjson.Text(info, "kubeletVersion"), rawjson.Text(info, "osImage")
	}
}

func (c *nodeCache) metadata(meta []byte, w words) {
	n := &c.node
	n.Deleting = false
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
			n.Deleting = string(value) != "null"
		}
	}
	if changed(&c.labels, labels) {
		n.Labels = w.texts(labels)
	}
	if changed(&c.annotations, annotations) {
		n.Annotations = w.texts(annotations)
	}
	if changed(&c.created, created) {
		n.Created = when(created)
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

func when(raw []byte) time.Time {
	s, _ := rawjson.Unquote(raw)
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}

// pod hands a Pod to the feed. Those that a roll of pods is about are few, and
// their containers worth the real decoder.
func (f *Follower) pod(ev *timeline.Event) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		return f.feed.DeletePod(f.at, ev.Namespace, ev.Name, ev.UID), nil
	}
	p := podOf(ev, f.words)
	if !f.feed.Follows(p) {
		return f.feed.SetPod(f.at, p), nil
	}
	var o corev1.Pod
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		return nil, unreadable(ev, err)
	}
	i := noderoll.InstanceFrom(&o)
	i.Pod = p // as all pods are read
	f.pods = true
	return f.feed.SetInstance(f.at, i), nil
}

// podOf is noderoll.PodFrom, from JSON.
func podOf(ev *timeline.Event, w words) noderoll.Pod {
	p := noderoll.Pod{Namespace: ev.Namespace, Name: ev.Name, UID: ev.UID}
	meta, status := rawjson.Get(ev.Object, "metadata"), rawjson.Get(ev.Object, "status")
	for name, value := range rawjson.Members(meta) {
		switch string(name) {
		case "labels":
			p.Labels = w.texts(value)
		case "annotations":
			p.Mirror = rawjson.Get(value, corev1.MirrorPodAnnotationKey) != nil
		case "ownerReferences":
			for o := range rawjson.Elements(value) {
				p.DaemonSet = p.DaemonSet || rawjson.Text(o, "kind") == "DaemonSet"
			}
		case "deletionTimestamp":
			p.Deleting = string(value) != "null"
		}
	}
	p.Node = rawjson.Text(ev.Object, "spec", "nodeName")
	p.Phase = rawjson.Text(status, "phase")
	for c := range rawjson.Elements(rawjson.Get(status, "conditions")) {
		if string(rawjson.Get(c, "type")) == `"Ready"` {
			p.Ready = string(rawjson.Get(c, "status")) == `"True"`
		}
	}
	return p
}

// budget hands a PodDisruptionBudget to the feed. There are few of them, and
// their selector is worth the real decoder.
func (f *Follower) budget(ev *timeline.Event) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		return f.feed.DeleteBudget(f.at, ev.Namespace, ev.Name), nil
	}
	var o policyv1.PodDisruptionBudget
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		return nil, unreadable(ev, err)
	}
	return f.feed.SetBudget(f.at, noderoll.BudgetFrom(&o)), nil
}

// event hands an Event to the feed, of either of its two APIs.
func (f *Follower) event(ev *timeline.Event) ([]noderoll.Entry, error) {
	if ev.Type == timeline.Deleted {
		return f.feed.DeleteEvent(f.at, ev.Namespace, ev.Name), nil
	}
	var o corev1.Event
	if rawjson.Text(ev.Object, "apiVersion") == eventsv1.SchemeGroupVersion.String() {
		var e eventsv1.Event
		if err := json.Unmarshal(ev.Object, &e); err != nil {
			return nil, unreadable(ev, err)
		}
		o = coreEvent(&e)
	} else if err := json.Unmarshal(ev.Object, &o); err != nil {
		return nil, unreadable(ev, err)
	}
	return f.feed.SetEvent(f.at, noderoll.EventRecordFrom(&o)), nil
}

// coreEvent is what the API server makes of a v1 Event where it is asked for a
// core one (pkg/apis/events/v1/conversion.go of Kubernetes), as far as a roll
// looks at it.
func coreEvent(e *eventsv1.Event) corev1.Event {
	o := corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Type: e.Type,
		EventTime: e.EventTime, Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp,
		LastTimestamp: e.DeprecatedLastTimestamp, Count: e.DeprecatedCount, Action: e.Action,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
	}
	if e.Series != nil {
		o.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	return o
}

func unreadable(ev *timeline.Event, err error) error {
	return fmt.Errorf("%s %s %s/%s at %s: %w", ev.Type, ev.Resource, ev.Namespace, ev.Name, timeline.FormatAt(ev.At), err)
}
