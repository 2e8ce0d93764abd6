package objects

import (
	"maps"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// eventTTL is the time for which the API server keeps an Event that isn't written again (--event-ttl of kube-apiserver).
const eventTTL = time.Hour

// sawEvent takes a write of an Event. Nothing owns Events or is owned by them: what counts is their end.
func (s *Objects) sawEvent(ev *timeline.Event) {
	in := s.events[ev.Namespace]
	if ev.Type == timeline.Deleted {
		if delete(in, ev.Name); len(in) == 0 {
			delete(s.events, ev.Namespace)
		}
		return
	}
	if in == nil {
		in = map[string]struct{}{}
		s.events[ev.Namespace] = in
	}
	in[ev.Name] = struct{}{}
}

// ExpireEvent has an Event that a client has written forgotten in its time, which begins again with each write.
func (s *Objects) ExpireEvent(namespace, called string) {
	id, due := [2]string{namespace, called}, s.Env.Now()+eventTTL
	_, waits := s.expires[id]
	if s.expires[id] = due; waits {
		return
	}
	var look func()
	look = func() {
		due, waits := s.expires[id]
		_, there := s.events[namespace][called]
		switch {
		case waits && due > s.Env.Now():
			s.Env.At(due, look)
		case waits && there:
			s.forgetEvent(namespace, called)
		default:
			delete(s.expires, id)
		}
	}
	s.Env.At(due, look)
}

// forgetEvents deletes the Events of a namespace.
func (s *Objects) forgetEvents(namespace string) {
	for _, called := range slices.Sorted(maps.Keys(s.events[namespace])) {
		s.forgetEvent(namespace, called)
	}
}

func (s *Objects) forgetEvent(namespace, called string) {
	s.Env.API.DropDocument(&kube.Document{Meta: kube.Meta{Namespace: namespace, Name: called}, Resource: "events"})
	id := [2]string{namespace, called}
	if _, clients := s.expires[id]; clients {
		delete(s.expires, id)
	} else {
		s.Forgotten(namespace, called)
	}
}
