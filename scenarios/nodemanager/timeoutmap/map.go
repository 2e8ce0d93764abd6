// Package timeoutmap keeps values for a time. In: values and how long they hold. Out: the values that still hold. An
// entry that is over isn't found, whether Sweep has run or not; Sweep only gives the memory back. The package starts no
// goroutine: the owner of a map calls Sweep now and then.
//
// Its API may still change (docs/stability.md).
package timeoutmap

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// TimeoutMap is a map whose entries end. Its methods may be called from any goroutine. The zero value is empty and has no
// clock of its own: its time is that of UseClock, else the computer's.
type TimeoutMap struct {
	mu      sync.Mutex
	clock   clock.PassiveClock
	entries map[string]entry
}

type entry struct {
	value any
	ends  time.Time
}

// New returns an empty map.
func New(c clock.PassiveClock) *TimeoutMap { return &TimeoutMap{clock: c, entries: map[string]entry{}} }

// UseClock gives a clock to a map that has none; any other keeps its own.
func (m *TimeoutMap) UseClock(c clock.PassiveClock) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clock == nil {
		m.clock = c
	}
}

// now is the present time; the caller holds the lock.
func (m *TimeoutMap) now() time.Time {
	if m.clock == nil {
		m.clock = clock.RealClock{}
	}
	return m.clock.Now()
}

// Add sets a value for a time from now on.
func (m *TimeoutMap) Add(key string, value any, ttl time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = map[string]entry{}
	}
	m.entries[key] = entry{value, m.now().Add(ttl)}
}

// Get returns a value, and whether there is one that still holds.
func (m *TimeoutMap) Get(key string) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	if !ok || !m.now().Before(e.ends) {
		return nil, false
	}
	return e.value, true
}

// Sweep forgets the entries that are over, and returns how many are left.
func (m *TimeoutMap) Sweep() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	for key, e := range m.entries {
		if !now.Before(e.ends) {
			delete(m.entries, key)
		}
	}
	return len(m.entries)
}
