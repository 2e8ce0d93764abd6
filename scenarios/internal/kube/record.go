package kube

import (
	"strconv"
	"time"
)

// A Source is the reporter of an event: a component, on a host where that is a kubelet.
type Source struct{ Component, Host string }

// Record reports an event through client-go's recorder of a component, with what
// its correlator makes of it. The events of a Node live in the namespace default.
//
// An event that came before counts up. Where the API server has it no longer,
// or never had it because it came too often, the recorder creates it, with
// its old name, first time and count (recordEvent of tools/record/event.go).
func (s *Store) Record(from Source, about Reference, kind, reason, message string) {
	if s.cfg.NoEvents {
		return
	}
	if r := s.outbound(); r != nil {
		r.Recorded(from, about, kind, reason, "", message)
		return
	}
	now := s.Now()
	e, combined, write := s.recollect(&about).of(from, &about).correlate(&about, kind, reason, message, now, s.nextName)
	if !write {
		return
	}
	ev := &s.scratch.event[0]
	*ev = Event{
		Involved: about, Type: kind, Reason: reason, Message: message,
		Component: from.Component, Host: from.Host, First: e.first, Last: now.Second(), Count: int(e.count),
		Controller: from.Component, Instance: from.Host,
	}
	if combined {
		// As EventAggregate of tools/record/events_cache.go leaves them out.
		ev.Controller, ev.Instance = "", ""
		ev.Message = combinedPrefix + message
	}
	ev.Namespace, ev.Name = namespaceOf(&about), nameOfEvent(about.Name, e.at)
	if e.created == 0 || s.forgotten(e.written, ev.Namespace, ev.Name) {
		e.version = 0
		if about.ResourceVersion != "" {
			e.version, _ = strconv.ParseUint(about.ResourceVersion, 10, 64)
		}
		e.field, e.writes = about.FieldPath, 0
		s.createEvent(ev, e.at)
		e.created = ev.Created
	} else {
		s.countUp(ev, e, combined)
	}
	e.written = now
	if combined {
		e.message = hash(message)
	}
}

// countUp writes an event again: a count, a time, and what a combined one says.
func (s *Store) countUp(ev *Event, e *remembered, combined bool) {
	// Its fields are of the object as it was then.
	ev.Involved.FieldPath = e.field
	ev.Involved.ResourceVersion = ""
	if e.version != 0 {
		ev.Involved.ResourceVersion = strconv.FormatUint(e.version, 10)
	}
	ev.UID, ev.Created = "known", e.created // the tape has it already
	old := &s.scratch.event[1]
	*old = *ev
	old.Last = e.written.Second()
	// Those between were dropped.
	old.Count = 0
	if combined && e.message != hash(ev.Message[len(combinedPrefix):]) {
		old.Message = ""
	}
	var patch []byte
	if !s.textless {
		patch = differ(s, (*writer).event, old, ev)
	}
	ev.rv, ev.writes = s.version(), int(e.writes)
	modify(s, &ofEvents, &ev.Meta, old, ev, patch)
	e.writes = int32(ev.writes)
	s.rewritten[ev.Name] = s.Now()
}

func namespaceOf(r *Reference) string {
	if r.Namespace == "" {
		return "default"
	}
	return r.Namespace
}

// nextName returns the time in the name of an event, which no other event has.
func (s *Store) nextName() Instant {
	s.lastEvent = max(s.Now(), s.lastEvent+1)
	return s.lastEvent
}

// createEvent stores a new event.
func (s *Store) createEvent(e *Event, at Instant) {
	e.Created = s.Now().Second()
	s.stamp(&e.Meta)
	id := [2]string{e.Namespace, e.Name}
	again := s.lost[id]
	delete(s.lost, id)
	add(s, &ofEvents, &e.Meta, e, nil)
	if again {
		s.rewritten[e.Name] = s.Now() // its end is awaited already
	} else {
		s.expiring(s.Now(), living{e.Namespace, e.Involved.Name, at})
	}
}

// nameOfEvent is the name that client-go gives an event.
func nameOfEvent(involved string, at Instant) string {
	var room [128]byte
	b := append(append(room[:0], involved...), '.')
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

// eventTTL is the time for which the API server keeps an event that isn't written again (--event-ttl of
// kube-apiserver).
const eventTTL = time.Hour
