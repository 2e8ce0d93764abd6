package observe

import (
	"encoding/json"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// pod hands a Pod to the feed. Those that a roll of pods is about are few, and
// their containers worth the real decoder.
func (f *Follower) pod(ev *timeline.Event) ([]noderoll.Entry, error) {
	id := objectName{ev.Namespace, ev.Name}
	if ev.Type == timeline.Deleted {
		delete(f.known, id)
		return f.feed.DeletePod(f.at, ev.Namespace, ev.Name, ev.UID), nil
	}
	if p := f.known[id]; ev.Object == nil || f.patched(ev) && p != nil && !f.feed.Pods() {
		if p == nil {
			return nil, unreadable(ev, errNoObject)
		}
		patchPod(p, ev.Patch, false, f.words)
		return f.feed.SetPod(f.at, *p), nil
	}
	p := podOf(ev, f.words)
	if !f.feed.Follows(p) {
		if f.trust {
			f.known[id] = &p
		}
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
	patchPod(&p, ev.Object, true, w)
	return p
}

// patchPod changes what is known of a pod as a patch says. A whole object says all
// of a pod of which nothing is known; null in its maps is a value, not a removal.
func patchPod(p *noderoll.Pod, patch []byte, whole bool, w words) {
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			return
		}
		switch string(name) {
		case "metadata":
			patchPodMetadata(p, value, whole, w)
		case "spec":
			patchPodSpec(p, value, w)
		case "status":
			patchPodStatus(p, value, w)
		}
	}
}

func patchPodMetadata(p *noderoll.Pod, patch []byte, whole bool, w words) {
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			return
		}
		switch string(name) {
		case "labels":
			if whole || !rawjson.IsObject(value) {
				p.Labels = w.texts(value)
				break
			}
			p.Labels = maps.Clone(p.Labels) // shared with its receivers
			if p.Labels == nil {
				p.Labels = map[string]string{}
			}
			for key, value := range rawjson.Members(value) {
				if string(value) == "null" {
					delete(p.Labels, w.word(key))
				} else {
					p.Labels[w.word(key)] = w.value(value)
				}
			}
		case "annotations":
			if !rawjson.IsObject(value) {
				p.Mirror = false
			} else if mirror := rawjson.Get(value, corev1.MirrorPodAnnotationKey); mirror != nil {
				p.Mirror = whole || string(mirror) != "null"
			}
		case "ownerReferences":
			p.DaemonSet = false
			for o := range rawjson.Elements(value) {
				p.DaemonSet = p.DaemonSet || string(rawjson.Get(o, "kind")) == `"DaemonSet"`
			}
		case "deletionTimestamp":
			p.Deleting = string(value) != "null"
		}
	}
}

func patchPodSpec(p *noderoll.Pod, patch []byte, w words) {
	if !rawjson.IsObject(patch) {
		p.Node = ""
	} else if node := rawjson.Get(patch, "nodeName"); node != nil {
		p.Node = w.value(node)
	}
}

func patchPodStatus(p *noderoll.Pod, patch []byte, w words) {
	if !rawjson.IsObject(patch) {
		p.Phase, p.Ready = "", false
		return
	}
	for o := rawjson.Object(patch); ; {
		name, value, ok := o.Next()
		if !ok {
			return
		}
		switch string(name) {
		case "phase":
			p.Phase = w.value(value)
		case "conditions":
			p.Ready, p.Disruption = false, ""
			for c := range rawjson.Elements(value) {
				switch string(rawjson.Get(c, "type")) {
				case `"Ready"`:
					p.Ready = string(rawjson.Get(c, "status")) == `"True"`
				case `"DisruptionTarget"`:
					if string(rawjson.Get(c, "status")) == `"True"` {
						p.Disruption = rawjson.Text(c, "reason")
					}
				}
			}
		}
	}
}
