package api

import (
	"fmt"
	"strconv"
)

// A Source is who reports an event: a component, on a host where that is a
// kubelet.
type Source struct{ Component, Host string }

// correlator is what a component remembers of the events that it has reported.
type correlator struct{ seen map[eventKey]*Event }

type eventKey struct {
	involved              Reference
	kind, reason, message string
}

// Record reports an event through client-go's recorder: one that was reported
// before counts up (tools/record/events_cache.go). A Node's events live in the
// namespace default.
func (s *Store) Record(from Source, about Reference, kind, reason, message string) {
	if s.cfg.NoEvents {
		return
	}
	now := s.Now()
	c := s.recorders[[2]string{from.Component, from.Host}]
	if c == nil {
		c = &correlator{map[eventKey]*Event{}}
		s.recorders[[2]string{from.Component, from.Host}] = c
	}
	k := eventKey{about, kind, reason, message}
	if old := c.seen[k]; old != nil {
		s.updateEvent(old, func(e *Event) { e.Count++; e.Last = now.Second() })
		return
	}
	e := &Event{
		Involved: about, Type: kind, Reason: reason, Message: message,
		Component: from.Component, Host: from.Host, First: now.Second(), Last: now.Second(), Count: 1,
		Controller: from.Component, Instance: from.Host,
	}
	s.createEvent(e)
	c.seen[k] = e
}

// RecordNew reports an event through events.k8s.io, as the scheduler and
// kube-proxy do: with microseconds, an action, and without a source.
func (s *Store) RecordNew(controller, instance string, about Reference, kind, reason, action, message string) {
	if s.cfg.NoEvents {
		return
	}
	s.createEvent(&Event{
		Involved: about, Type: kind, Reason: reason, Message: message,
		EventTime: s.Now(), Action: action, Controller: controller, Instance: instance,
	})
}

func (s *Store) createEvent(e *Event) {
	at := max(s.Now(), s.lastEvent+1) // names are unique
	s.lastEvent = at
	e.Namespace = e.Involved.Namespace
	if e.Namespace == "" {
		e.Namespace = "default"
	}
	e.Name = e.Involved.Name + "." + strconv.FormatInt(int64(at), 16)
	s.stamp(&e.Meta)
	s.emit(Added, "events", &e.Meta, nil, whole(s, (*writer).event, e))
}

func (s *Store) updateEvent(e *Event, change func(*Event)) {
	old := *e
	change(e)
	patch := differ(s, (*writer).event, &old, e)
	if patch == nil {
		return
	}
	e.rv = s.version()
	s.emit(Modified, "events", &e.Meta, patch, whole(s, (*writer).event, e))
}

// AboutNode is the reference of a node with its real UID, as the controllers of
// kube-controller-manager fill it in.
func AboutNode(n *Node) Reference {
	return Reference{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}
}

// AboutPod is the reference of a pod.
func AboutPod(p *Pod) Reference {
	return Reference{
		APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID,
		ResourceVersion: strconv.FormatUint(p.rv, 10),
	}
}

// AboutContainer is the reference of a pod's container.
func AboutContainer(p *Pod, container string) Reference {
	r := AboutPod(p)
	r.FieldPath = fmt.Sprintf("spec.containers{%s}", container)
	return r
}
