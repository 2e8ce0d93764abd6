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

// A reporter of an Event is one of the actors, or a client.
type reporter bool

const (
	actor  reporter = false
	client reporter = true
)

// Reported reports whether there is an Event of the name that an actor has created, and goes on to write: also one that a client
// has created again.
func (s *Objects) Reported(namespace, called string) bool {
	by, there := s.events[namespace][called]
	return there && by == actor
}

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
		in = map[string]reporter{}
		s.events[ev.Namespace] = in
	}
	if _, there := in[ev.Name]; !there {
		in[ev.Name] = actor
	}
}

// ExpireEvent has an Event that a client has just written forgotten in its time, which begins again with each write. Those that
// actors report the Store forgets.
func (s *Objects) ExpireEvent(ev *timeline.Event) {
	namespace, called := ev.Namespace, ev.Name
	if ev.Type == timeline.Added && !s.Env.API.FindEvent(namespace, called) {
		s.events[namespace][called] = client
	}
	if s.Reported(namespace, called) {
		s.Env.API.RenewEvent(namespace, called)
		return
	}
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
	if s.Reported(namespace, called) {
		s.Env.API.LoseEvent(namespace, called)
	}
	s.Env.API.DropDocument(&kube.Document{Meta: kube.Meta{Namespace: namespace, Name: called}, Resource: "events"})
	delete(s.expires, [2]string{namespace, called})
}
