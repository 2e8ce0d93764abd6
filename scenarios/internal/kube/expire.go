package kube

import (
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// expiryStep is the granularity of expiry: events of one step of time go together.
const expiryStep = 10 * time.Second

// living is an event that the API server will forget; its name is that of whom
// it is about and a time.
type living struct {
	namespace, involved string
	at                  Instant
}

// generation is the events that were last written in one step of time.
type generation struct {
	step   int64
	events []living
}

// expiring notes when an event was written, for [Store.ExpireEvents].
func (s *Store) expiring(written Instant, l living) {
	step := stepOf(written)
	i := len(s.generations) - 1
	if i < 0 || s.generations[i].step != step {
		var found bool
		i, found = slices.BinarySearchFunc(s.generations, step, func(g generation, step int64) int { return int(g.step - step) })
		if !found {
			s.generations = slices.Insert(s.generations, i, generation{step: step})
		}
	}
	s.generations[i].events = append(s.generations[i].events, l)
}

func stepOf(written Instant) int64 { return int64(written) / int64(expiryStep) }

// expired reports whether the API server has forgotten what was last written at
// a time.
func (s *Store) expired(written Instant) bool { return stepOf(written) < s.swept }

// forgotten reports whether the API server doesn't have an event that its reporter last wrote at a time.
func (s *Store) forgotten(written Instant, namespace, name string) bool {
	id := [2]string{namespace, name}
	return s.lost[id] || s.expired(written) && s.expired(s.renewedEvents[id])
}

// LoseEvent says that an event isn't there any more, or was never taken, though it isn't old: its reporter creates it
// again when it comes again.
func (s *Store) LoseEvent(namespace, name string) {
	if s.lost == nil {
		s.lost = map[[2]string]bool{}
	}
	id := [2]string{namespace, name}
	s.lost[id] = true
	delete(s.renewedEvents, id)
}

// FindEvent says that a client has created an event, and reports whether it is one that was lost: its reporter goes on to
// write it.
func (s *Store) FindEvent(namespace, name string) bool {
	id := [2]string{namespace, name}
	was := s.lost[id]
	delete(s.lost, id)
	return was
}

// RenewEvent says that a client has written an event of a reporter's: its hour begins again.
func (s *Store) RenewEvent(namespace, name string) {
	if s.renewedEvents == nil {
		s.renewedEvents = map[[2]string]Instant{}
	}
	s.renewedEvents[[2]string{namespace, name}], s.rewritten[name] = s.Now(), s.Now()
}

// ExpireEvents removes the events that were last written an hour ago, as etcd
// does with their leases. Call it every ten seconds of the tape.
func (s *Store) ExpireEvents() {
	s.swept = max(s.swept, stepOf(s.Now().Add(-eventTTL)))
	for len(s.generations) > 0 && s.generations[0].step < s.swept {
		g := s.generations[0]
		s.generations[0] = generation{}
		s.generations = s.generations[1:]
		for _, l := range g.events {
			name := nameOfEvent(l.involved, l.at)
			if at, ok := s.rewritten[name]; ok {
				delete(s.rewritten, name)
				if !s.expired(at) {
					s.expiring(at, l)
					continue
				}
			}
			id := [2]string{l.namespace, name}
			delete(s.renewedEvents, id)
			if s.lost[id] {
				delete(s.lost, id)
				continue
			}
			s.write = Write{Change: Deleted}
			s.ev = timeline.Event{
				At: s.cfg.Now(), Type: timeline.Deleted, Resource: "events", Namespace: l.namespace, Name: name,
				RV: strconv.FormatUint(s.version(), 10),
			}
			if err := s.send(&s.write); err != nil {
				s.cfg.Fail(err)
			}
		}
	}
}
