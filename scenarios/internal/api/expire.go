package api

import (
	"strconv"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// eventTTL is how long the API server keeps an event that isn't written again
// (--event-ttl of kube-apiserver).
const eventTTL = time.Hour

// living is an event that the API server will forget.
type living struct {
	namespace, name string
	written         Instant
}

// expiring notes an event for [Store.ExpireEvents].
func (s *Store) expiring(e *Event) {
	s.living = append(s.living, living{e.Namespace, e.Name, s.Now()})
}

// ExpireEvents removes the events that were written an hour ago, as etcd does
// with their leases. Call it every some seconds of the tape.
func (s *Store) ExpireEvents() {
	now := s.Now()
	n := 0
	for ; n < len(s.living) && now.Sub(s.living[n].written) >= eventTTL; n++ {
		l := &s.living[n]
		if at := s.rewritten[l.name]; at > l.written {
			delete(s.rewritten, l.name)
			l.written = at
			s.living = append(s.living, *l)
			continue
		}
		s.ev = timeline.Event{
			At: s.cfg.Now(), Type: timeline.Deleted, Resource: "events", Namespace: l.namespace, Name: l.name,
			RV: strconv.FormatUint(s.version(), 10),
		}
		if err := s.cfg.Sink(s.ev); err != nil {
			s.cfg.Fail(err)
		}
	}
	s.living = s.living[n:]
}
