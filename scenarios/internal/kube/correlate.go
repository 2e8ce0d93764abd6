package kube

import (
	"math/bits"
	"slices"
	"time"
)

// What client-go's correlator does to the events of one source about one object
// (tools/record/events_cache.go).
const (
	// The tenth message of one reason within ten minutes of the last is combined with those after it.
	aggregateAt       = 10
	aggregateInterval = 10 * time.Minute
	// 25 events at once, and one more every five minutes.
	spamBurst  = 25
	spamRefill = 5 * time.Minute
	// Of one object so many events are remembered. A recorder of client-go
	// remembers 4096 of all objects together.
	rememberAtMost = 64
)

const combinedPrefix = "(combined from similar events): "

// recollection holds the memory of all sources about an object.
type recollection struct{ sources []memory }

// memory is a source's memory about an object. What it compares are hashes of 64 bits: half a million pods with six
// events each are to fit.
type memory struct {
	source  Source
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

// similar counts the messages of a reason. Nearly all have one.
type similar struct {
	key   uint64 // type and reason
	last  Instant
	first uint64
	more  []uint64
}

// remembered is an event that counts up when it comes again.
type remembered struct {
	key     uint64
	at      Instant // of its name
	first   Instant // firstTimestamp
	created Instant // when it was last created; 0 where it never was
	written Instant // when it was last written
	message uint64  // of a combined one, which changes
	field   string  // of a combined one: the fieldPath of the first
	version uint64  // of the object that it is about, when it was created
	count   int32
	writes  int32
}

// of returns what a source remembers of an object.
func (r *recollection) of(from Source, about *Reference) *memory {
	for i := range r.sources {
		if r.sources[i].source == from {
			return &r.sources[i]
		}
	}
	m := memory{source: from}
	if from.Host != "" && about.Kind == "Pod" {
		// A kubelet has this to tell of a pod: Pulling, Pulled, Created, Started and Killing.
		m.reasons, m.events = make([]similar, 0, 5), make([]remembered, 0, 5)
	}
	r.sources = append(r.sources, m)
	return &r.sources[len(r.sources)-1]
}

// correlate takes the steps of EventCorrelator.EventCorrelate: events that
// differ by their message alone are combined, those that came before count up,
// and what comes too often is dropped, but counted. It returns the event as it
// is remembered, and whether it is a combined one and to be written.
func (m *memory) correlate(about *Reference, kind, reason, message string, now Instant, name func() Instant) (e *remembered, combined, write bool) {
	group := hash(kind, reason)
	key := hash(kind, reason, message, about.FieldPath)
	if combined = m.combine(group, hash(message), now); combined {
		key = ^group
	}
	i := slices.IndexFunc(m.events, func(r remembered) bool { return r.key == key })
	if i < 0 {
		if len(m.events) >= rememberAtMost {
			m.events = slices.Delete(m.events, m.oldest(), m.oldest()+1)
		}
		next := remembered{key: key, at: name(), first: now.Second()}
		if combined {
			next.field = about.FieldPath
		}
		m.events = append(m.events, next)
		i = len(m.events) - 1
	}
	e = &m.events[i]
	e.count++
	return e, combined, m.accept(kind, now)
}

// oldest is the event that was written least recently.
func (m *memory) oldest() (at int) {
	for i := range m.events {
		if m.events[i].written < m.events[at].written {
			at = i
		}
	}
	return at
}

// combine notes a message, and reports whether there have been too many.
func (m *memory) combine(group, message uint64, now Instant) bool {
	i := slices.IndexFunc(m.reasons, func(s similar) bool { return s.key == group })
	if i < 0 {
		m.reasons = append(m.reasons, similar{key: group, last: now, first: message})
		return false
	}
	r := &m.reasons[i]
	if now.Sub(r.last) > aggregateInterval {
		r.first, r.more = message, nil
	}
	r.last = now
	if r.first == message || slices.Contains(r.more, message) {
		return false
	}
	if len(r.more) < aggregateAt-2 {
		r.more = append(r.more, message)
		return false
	}
	// client-go forgets one of the ten at random; this forgets the newest.
	return true
}

// accept takes a token.
func (m *memory) accept(kind string, now Instant) bool {
	i := slices.IndexFunc(m.spam, func(b bucket) bool { return b.kind == kind })
	if i < 0 {
		m.spam = append(m.spam, bucket{kind: kind, tokens: spamBurst})
		i = len(m.spam) - 1
	}
	b := &m.spam[i]
	if refill := int(now.Sub(b.at) / spamRefill); refill > 0 {
		b.tokens = min(spamBurst, b.tokens+refill)
		b.at = b.at.Add(time.Duration(refill) * spamRefill)
	}
	if b.tokens == spamBurst {
		b.at = now // a full bucket gathers nothing
	}
	if b.tokens == 0 {
		return false
	}
	b.tokens--
	return true
}

// recollect returns what is remembered of an object. Of a pod that is gone
// nothing is remembered any more, so that memory stays bounded by what lives.
func (s *Store) recollect(about *Reference) *recollection {
	k := hash(about.Kind, about.Namespace, about.Name, about.UID)
	r := s.recollections[k]
	if r != nil {
		return r
	}
	r = &recollection{}
	if about.Kind == "Pod" {
		p := s.Pod(about.Namespace, about.Name)
		if p == nil || about.UID != "" && about.UID != p.UID {
			return r
		}
	}
	s.recollections[k] = r
	return r
}

// forget drops what sources remember of an object that is gone, under its UID
// and under the names that some report it by: without one, and nodes by their
// name as kubelets do.
func (s *Store) forget(kind string, m *Meta) {
	for _, uid := range [...]string{m.UID, "", m.Name} {
		delete(s.recollections, hash(kind, m.Namespace, m.Name, uid))
	}
}

// hash is one of 64 bits over words, eight bytes at a time, each word with its length.
func hash(words ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, word := range words {
		h = scramble(h, uint64(len(word)))
		for ; len(word) >= 8; word = word[8:] {
			h = scramble(h, uint64(word[0])|uint64(word[1])<<8|uint64(word[2])<<16|uint64(word[3])<<24|
				uint64(word[4])<<32|uint64(word[5])<<40|uint64(word[6])<<48|uint64(word[7])<<56)
		}
		if len(word) > 0 {
			last := uint64(0)
			for i := range len(word) {
				last |= uint64(word[i]) << (8 * i)
			}
			h = scramble(h, last)
		}
	}
	return h
}

// scramble adds eight bytes to a hash, both halves of the product of two odd numbers with them.
func scramble(h, word uint64) uint64 {
	hi, lo := bits.Mul64(h^word^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
	return hi ^ lo + h<<1
}
