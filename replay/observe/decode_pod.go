package observe

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// pod hands a Pod to the feed. Of those that a roll of pods is about it decodes the
// containers too.
func (f *Follower) pod(ev *timeline.Event) ([]noderoll.Entry, error) {
	id := objectName{ev.Namespace, ev.Name}
	if ev.Type == timeline.Deleted {
		delete(f.known, id)
		return f.feed.DeletePod(f.at, ev.Namespace, ev.Name, ev.UID), nil
	}
	p := f.known[id]
	raw, whole, err := f.text(ev, p != nil && (ev.Object == nil || !f.feed.Pods()))
	if err != nil {
		return nil, err
	}
	if !whole {
		decodePod(p, raw, whole, &f.decoders)
		return f.feed.SetPod(f.at, *p), nil
	}
	p = &noderoll.Pod{Namespace: ev.Namespace, Name: ev.Name, UID: ev.UID}
	decodePod(p, raw, whole, &f.decoders)
	if !f.feed.Follows(*p) {
		if f.trust {
			f.known[id] = p
		}
		return f.feed.SetPod(f.at, *p), nil
	}
	o := f.decoders.newPod()
	f.decoders.full.Pod(o, raw)
	i := noderoll.InstanceFrom(o)
	i.Pod = *p // as all pods are read
	f.pods = true
	return f.feed.SetInstance(f.at, i), nil
}

func (d *decoders) newPod() *corev1.Pod {
	s := &d.pod.Status
	d.pod = corev1.Pod{Status: corev1.PodStatus{
		Conditions: s.Conditions[:0], ContainerStatuses: s.ContainerStatuses[:0], InitContainerStatuses: s.InitContainerStatuses[:0],
	}}
	return &d.pod
}

// decodePod takes over what a whole object or a patch tells of a pod.
func decodePod(p *noderoll.Pod, raw []byte, whole bool, d *decoders) {
	o := d.newPod()
	told := d.brief.Pod(o, raw)
	if whole {
		told = everything
	}
	now := noderoll.PodFrom(o)
	if told.Has(kubejson.Labels) {
		if whole {
			p.Labels = d.brief.Set(d.brief.Labels)
		} else {
			p.Labels = d.brief.Merge(p.Labels, d.brief.Labels)
		}
	}
	if told.Has(kubejson.Annotations) {
		mirror := rawjson.Get(d.brief.Annotations, corev1.MirrorPodAnnotationKey)
		switch {
		case whole || !rawjson.IsObject(d.brief.Annotations):
			p.Mirror = mirror != nil
		case mirror != nil:
			p.Mirror = string(mirror) != "null"
		}
	}
	if told.Has(kubejson.Owners) {
		p.DaemonSet = now.DaemonSet
	}
	if told.Has(kubejson.Deleting) {
		p.Deleting = now.Deleting
	}
	if told.Has(kubejson.NodeName) {
		p.Node = now.Node
	}
	if told.Has(kubejson.Phase) {
		p.Phase = now.Phase
	}
	if told.Has(kubejson.Conditions) {
		p.Ready, p.Disruption = now.Ready, now.Disruption
	}
}
