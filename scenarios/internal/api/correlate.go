package api

import (
	"slices"
	"time"
)

// What client-go's correlator does to the events of one source about one object
// (tools/record/events_cache.go).
const (
	// The tenth message of one reason within ten minutes of the last is combined
	// with those behind it.
	aggregateAt       = 10
	aggregateInterval = 10 * time.Minute
	// 25 events at once, and one more every five minutes.
	spamBurst  = 25
	spamRefill = 5 * time.Minute
	// Of one object so many events are remembered; client-go remembers 4096 of
	// all objects together.
	rememberAtMost = 64
)

const combinedPrefix = "(combined from similar events): "

// aboutOf names a source and an object.
type aboutOf struct {
	source                     Source
	kind, namespace, name, uid string
}

// memory is what a source remembers of an object.
type memory struct {
	spam    []bucket
	reasons []similar
	events  []remembered
}

// bucket is the token bucket of one type of event.
type bucket struct {
	kind   string
	tokens int
	at     Instant // when the last token was refilled
}

// similar counts the messages of a reason.
type similar struct {
	kind, reason string
	messages     []string
	last         Instant
}

// remembered is an event that counts up when it comes again.
type remembered struct {
	key           rememberedKey
	at, created   Instant // of its name, and of its creation
	first, was    Instant
	message       string
	count, writes int
}

type rememberedKey struct {
	kind, reason, message, field string
	combined                     bool
}

func (r *remembered) name(about *Reference) string { return nameOfEvent(about.Name, r.at) }

// correlation is what becomes of an event.
type correlation struct {
	message  string
	dropped  bool
	combined bool
	known    *remembered // it counts up
	fresh    *remembered // it is new, and to be remembered here
}

// correlate takes the steps of EventCorrelator.EventCorrelate: events that
// differ by their message alone are combined, those that came before count up,
// and what comes too often is dropped.
func (s *Store) correlate(from Source, about *Reference, kind, reason, message string, now Instant) correlation {
	k := aboutOf{from, about.Kind, about.Namespace, about.Name, about.UID}
	m := s.memories[k]
	if m == nil {
		m = &memory{}
		s.memories[k] = m
		if about.Kind == "Pod" {
			if s.memoriesOf == nil {
				s.memoriesOf = map[string][]aboutOf{}
			}
			s.memoriesOf[about.UID] = append(s.memoriesOf[about.UID], k)
		}
	}
	c := correlation{message: message}
	key := rememberedKey{kind: kind, reason: reason, message: message, field: about.FieldPath}
	if m.combine(kind, reason, message, now) {
		c.combined = true
		c.message = combinedPrefix + message
		key = rememberedKey{kind: kind, reason: reason, combined: true}
	}
	i := slices.IndexFunc(m.events, func(r remembered) bool { return r.key == key })
	if i >= 0 && now.Sub(m.events[i].was) > eventTTL {
		// The API server has forgotten it: the patch finds nothing, and the
		// event is created anew.
		m.events = slices.Delete(m.events, i, i+1)
		i = -1
	}
	if !m.accept(kind, now) {
		c.dropped = true
		if i >= 0 {
			m.events[i].count++
		}
		return c
	}
	if i >= 0 {
		m.events[i].count++
		c.known = &m.events[i]
		return c
	}
	if len(m.events) >= rememberAtMost {
		m.events = slices.Delete(m.events, 0, 1)
	}
	m.events = append(m.events, remembered{key: key})
	c.fresh = &m.events[len(m.events)-1]
	return c
}

// combine notes a message, and reports whether there have been too many.
func (m *memory) combine(kind, reason, message string, now Instant) bool {
	i := slices.IndexFunc(m.reasons, func(s similar) bool { return s.kind == kind && s.reason == reason })
	if i < 0 {
		m.reasons = append(m.reasons, similar{kind: kind, reason: reason})
		i = len(m.reasons) - 1
	}
	r := &m.reasons[i]
	if now.Sub(r.last) > aggregateInterval {
		r.messages = r.messages[:0]
	}
	r.last = now
	if !slices.Contains(r.messages, message) {
		r.messages = append(r.messages, message)
	}
	if len(r.messages) < aggregateAt {
		return false
	}
	r.messages = r.messages[:aggregateAt-1] // which one goes is chance in client-go
	return true
}

// accept takes a token.
func (m *memory) accept(kind string, now Instant) bool {
	i := slices.IndexFunc(m.spam, func(b bucket) bool { return b.kind == kind })
	if i < 0 {
		m.spam = append(m.spam, bucket{kind: kind, tokens: spamBurst, at: now})
		i = len(m.spam) - 1
	}
	b := &m.spam[i]
	if refill := int(now.Sub(b.at) / spamRefill); refill > 0 {
		b.tokens = min(spamBurst, b.tokens+refill)
		b.at = b.at.Add(time.Duration(refill) * spamRefill)
	}
	if b.tokens == 0 {
		return false
	}
	b.tokens--
	return true
}

// forget drops what sources remember of a pod that is gone: nothing will be
// reported of it again.
func (s *Store) forget(uid string) {
	for _, k := range s.memoriesOf[uid] {
		delete(s.memories, k)
	}
	delete(s.memoriesOf, uid)
}
