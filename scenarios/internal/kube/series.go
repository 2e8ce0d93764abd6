package kube

import "time"

// What the recorder of events.k8s.io does with an event that comes again
// (client-go/tools/events/event_broadcaster.go): the second one makes a series of two, those after it are counted in
// memory alone, every half hour the count is written, and six minutes without another one end the series, with its
// last count.
const (
	seriesEnds    = 6 * time.Minute
	seriesRefresh = 30 * time.Minute
)

// series is an event that may come again.
type series struct {
	key     uint64 // of isomorphic
	event   Event
	at      Instant // of its name
	count   int
	last    Instant
	written Instant
}

// isomorphic tells events apart that are more than repetitions (getKey). What an event says is no part of it; the version
// of the object that it is about is. It is a hash, as in [memory]: the words take half a kilobyte.
func isomorphic(controller, instance string, about *Reference, kind, reason, action string) uint64 {
	return hash(controller, instance, kind, reason, action,
		about.APIVersion, about.Kind, about.Namespace, about.Name, about.UID, about.ResourceVersion, about.FieldPath)
}

// RecordNew reports an event through events.k8s.io, as the scheduler and
// kube-proxy do: with microseconds, an action, and without a source.
func (s *Store) RecordNew(controller, instance string, about Reference, kind, reason, action, message string) {
	if s.cfg.NoEvents {
		return
	}
	if r := s.outbound(); r != nil {
		r.Recorded(Source{Component: controller, Host: instance}, about, kind, reason, action, message)
		return
	}
	now := s.Now()
	k := isomorphic(controller, instance, &about, kind, reason, action)
	if old := s.isomorphic[k]; old != nil {
		old.count++
		old.last = now
		if old.count == 2 {
			s.writeSeries(old)
		}
		return
	}
	one := &series{key: k, count: 1, last: now, written: now, at: s.nextName()}
	one.event = Event{
		Involved: about, Type: kind, Reason: reason, Message: message,
		EventTime: now, Action: action, Controller: controller, Instance: instance,
	}
	one.event.Namespace, one.event.Name = namespaceOf(&about), nameOfEvent(about.Name, one.at)
	s.createEvent(&one.event, one.at)
	s.isomorphic[k] = one
	s.series = append(s.series, one)
}

// SweepSeries ends the series of which nothing was heard for six minutes, and
// forgets single events as old. Call it every six minutes of the tape; every
// fifth call writes the counts of those that go on.
func (s *Store) SweepSeries() {
	now := s.Now()
	s.sweeps++
	refresh := s.sweeps%int(seriesRefresh/seriesEnds) == 0
	kept := s.series[:0]
	for _, one := range s.series {
		if one.last.Add(seriesEnds) < now {
			if one.count > 1 {
				s.writeSeries(one)
			}
			delete(s.isomorphic, one.key)
			continue
		}
		if refresh && one.count > 1 {
			s.writeSeries(one)
		}
		kept = append(kept, one)
	}
	clear(s.series[len(kept):])
	s.series = kept
}

// SeriesPeriod is the interval at which SweepSeries is to be called.
const SeriesPeriod = seriesEnds

// writeSeries puts the count where the API server has the event; one that it has
// no longer is created again.
func (s *Store) writeSeries(one *series) {
	now := s.Now()
	e := &one.event
	if s.forgotten(one.written, e.Namespace, e.Name) {
		e.SeriesCount, e.SeriesLast = one.count, one.last
		e.writes = 0
		s.createEvent(e, one.at)
		one.written = now
		return
	}
	old := *e
	e.SeriesCount, e.SeriesLast = one.count, one.last
	patch, is := changed(s, &ofEvents, &old, e)
	if !is {
		return
	}
	e.rv = s.version()
	modify(s, &ofEvents, &e.Meta, &old, e, patch)
	s.rewritten[e.Name] = now
	one.written = now
}
