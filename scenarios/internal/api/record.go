package api

import (
	"fmt"
	"strconv"
)

// A Source is who reports an event: a component, on a host where that is a
// kubelet.
type Source struct{ Component, Host string }

// Record reports an event through client-go's recorder of a component, with what
// its correlator makes of it. The events of a Node live in the namespace default.
func (s *Store) Record(from Source, about Reference, kind, reason, message string) {
	if s.cfg.NoEvents {
		return
	}
	now := s.Now()
	e := s.correlate(from, &about, kind, reason, message, now)
	switch {
	case e.dropped:
	case e.known != nil:
		old := Event{Meta: Meta{UID: "known"}, Count: e.known.count - 1, Last: e.known.was, Message: e.known.message, Type: kind, Reason: reason, First: e.known.first}
		is := old
		is.Count, is.Last, is.Message = e.known.count, now.Second(), e.message
		e.known.was, e.known.message = is.Last, is.Message
		m := Meta{Namespace: namespaceOf(&about), Name: e.known.name(&about), UID: "known", writes: e.known.writes}
		patch := differ(s, (*writer).event, &old, &is)
		m.rv = s.version()
		whole := func() []byte { return s.wholeEvent(from, about, kind, reason, e) }
		s.emit(Modified, "events", &m, patch, whole)
		e.known.writes = m.writes
		s.rewritten[m.Name] = now
	default:
		ev := Event{
			Involved: about, Type: kind, Reason: reason, Message: e.message,
			Component: from.Component, Host: from.Host, First: now.Second(), Last: now.Second(), Count: 1,
			Controller: from.Component, Instance: from.Host,
		}
		if e.combined {
			// As EventAggregate of tools/record/events_cache.go leaves them out.
			ev.Controller, ev.Instance = "", ""
		}
		at := s.createEvent(&ev)
		if e.fresh != nil {
			*e.fresh = remembered{key: e.fresh.key, first: ev.First, was: ev.Last, message: e.message, count: 1, at: at, created: ev.Created}
		}
	}
}

// wholeEvent writes an event anew that only its counts are known of.
func (s *Store) wholeEvent(from Source, about Reference, kind, reason string, c correlation) []byte {
	ev := Event{
		Involved: about, Type: kind, Reason: reason, Message: c.message,
		Component: from.Component, Host: from.Host, First: c.known.first, Last: s.Now().Second(), Count: c.known.count,
		Controller: from.Component, Instance: from.Host,
	}
	ev.Created = c.known.created
	if c.combined {
		ev.Controller, ev.Instance = "", ""
	}
	return whole(s, (*writer).event, &ev)()
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

func namespaceOf(r *Reference) string {
	if r.Namespace == "" {
		return "default"
	}
	return r.Namespace
}

// createEvent stores a new event, and returns the time in its name.
func (s *Store) createEvent(e *Event) Instant {
	at := max(s.Now(), s.lastEvent+1) // names are unique
	s.lastEvent = at
	e.Namespace = namespaceOf(&e.Involved)
	e.Name = nameOfEvent(e.Involved.Name, at)
	s.stamp(&e.Meta)
	s.emit(Added, "events", &e.Meta, nil, whole(s, (*writer).event, e))
	s.expiring(e)
	return at
}

// nameOfEvent is the name that client-go gives an event.
func nameOfEvent(involved string, at Instant) string {
	b := make([]byte, 0, len(involved)+17)
	b = append(append(b, involved...), '.')
	return string(strconv.AppendInt(b, int64(at), 16))
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
