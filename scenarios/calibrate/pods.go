package calibrate

import (
	"bytes"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

// A pod is a Pod, as far as samples need it.
type pod struct {
	uid, node string
	fresh     bool // it was created while the tape ran
	bound     mark // to its node
	seen      mark // the kubelet's first status
	begun     bool // its first container has been
	hindered  bool // something else than its sandbox held it up: a volume, the node's network
	deleted   mark
	deleting  bool
	held      bool // it has finalizers
	grace     time.Duration
	graceful  bool // it was deleted with a grace
	stopping  bool // the kubelet has begun to stop its containers
	ended     mark // its status says that all of them have

	containers []*container
}

func (r *reading) pod(ev *timeline.Event, live bool) {
	key := objectName{ev.Namespace, ev.Name}
	p := r.pods[key]
	if p != nil && (ev.Type == timeline.Deleted || p.uid != ev.UID) {
		p.gone(r, live)
		delete(r.pods, key)
		delete(r.refusals, key)
		p = nil
	}
	if ev.Type == timeline.Deleted {
		return
	}
	o := r.decodePod(ev.Object)
	first := p == nil
	if first {
		p = &pod{uid: ev.UID, fresh: live && ev.Type == timeline.Added && o.Status.StartTime == nil}
		p.hindered = bytes.Contains(rawjson.Get(ev.Object, "spec", "volumes"), []byte(`"persistentVolumeClaim"`))
		r.pods[key] = p
		if o := r.owner(ev.Object); o != nil && p.fresh {
			o.creates(r)
		}
	}
	p.binds(r, o.Spec.NodeName)
	p.node = o.Spec.NodeName
	if p.fresh && !p.seen.is && o.Status.StartTime != nil {
		p.staged(r, &o.Status)
		p.seen = r.here()
		p.hindered = p.hindered || !r.serves(p.node)
	}
	p.held = len(o.Finalizers) > 0
	if o.DeletionTimestamp != nil && !p.deleting {
		p.deleting = true
		if !first {
			p.deleted = r.here()
			p.graceful = o.DeletionGracePeriodSeconds != nil && *o.DeletionGracePeriodSeconds > 0
			if o := r.owner(ev.Object); o != nil {
				o.loses(r.here())
			}
		}
	}
	if g := o.DeletionGracePeriodSeconds; g != nil {
		p.grace = time.Duration(min(max(*g, 0), longestGrace)) * time.Second
	}
	for i := range o.Status.ContainerStatuses {
		s := &o.Status.ContainerStatuses[i]
		p.container(s.Name).is(r, p, s)
	}
	if over := o.Status.Phase == corev1.PodSucceeded || o.Status.Phase == corev1.PodFailed; over && !p.ended.is {
		if !first {
			p.ended = r.here()
		}
		if m := r.named[p.node]; m != nil {
			m.podEnds(r.here())
		}
	}
}

// longestGrace keeps a grace period, in seconds, from exceeding a duration: ten years.
const longestGrace = 10 * 365 * 24 * 60 * 60

// begins is the first that the kubelet reports of a container: the pod's sandbox stands.
func (p *pod) begins(r *reading, when mark) {
	if p.seen.is && !p.begun && !p.hindered && r.serves(p.node) {
		r.add("sandbox", p.seen, when)
	}
	p.begun = true
}

// gone is the end of the object.
func (p *pod) gone(r *reading, live bool) {
	for _, c := range p.containers {
		c.pullEnds(r)
	}
	if live {
		p.removed(r)
	}
	if live && p.awaitsDelete(r) {
		r.add("finalDelete", p.ended, r.here())
	}
}

// awaitsDelete reports whether nothing of a deleted pod is left but its object, which the kubelet of its node deletes.
func (p *pod) awaitsDelete(r *reading) bool {
	return p.stopping && p.ended.is && !p.held && r.serves(p.node)
}

// close takes what had not ended when the tape did.
func (p *pod) close(r *reading) {
	for _, c := range p.containers {
		c.close(r, p)
	}
	if p.awaitsDelete(r) {
		r.leave("finalDelete", p.ended, r.here())
	}
}

// most is how many containers of a pod are followed; the API server's own limit is its size.
const most = 64

// container finds a container of the pod.
func (p *pod) container(name string) *container {
	for _, c := range p.containers {
		if c.name == name {
			return c
		}
	}
	c := &container{name: name}
	if len(p.containers) < most {
		p.containers = append(p.containers, c)
	}
	return c
}

func (r *reading) decodePod(object []byte) *corev1.Pod {
	p := &r.aPod
	*p = corev1.Pod{Status: corev1.PodStatus{
		Conditions: p.Status.Conditions[:0], ContainerStatuses: p.Status.ContainerStatuses[:0], InitContainerStatuses: p.Status.InitContainerStatuses[:0],
	}}
	r.decoder.Pod(p, object)
	return p
}
