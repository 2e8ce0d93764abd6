// Package timeoutmap keeps values for a time. In: values and how long they hold. Out: the values that still hold. An
// entry that is over isn't found, whether Sweep has run or not; Sweep only gives the memory back. The package starts no
// goroutine: whoever owns a map calls Sweep now and then.
package timeoutmap

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// TimeoutMap is a map whose entries end. Its methods may be called from any goroutine.
type TimeoutMap struct {
	clock   clock.PassiveClock
	mu      sync.Mutex
	entries map[string]entry
}

type entry struct {
	value any
	ends  time.Time
}

// New returns an empty map.
func New(c clock.PassiveClock) *TimeoutMap { return &TimeoutMap{clock: c, entries: map[string]entry{}} }

// Add sets a value for a time from now on.
func (m *TimeoutMap) Add(key string, value any, ttl time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[key] = entry{value, m.clock.Now().Add(ttl)}
}

// Get returns a value, and whether there is one that still holds.
func (m *TimeoutMap) Get(key string) (any, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.entries[key]
	if !ok || !m.clock.Now().Before(e.ends) {
		return nil, false
	}
	return e.value, true
}

// Sweep forgets the entries that are over, and returns how many are left.
func (m *TimeoutMap) Sweep() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.clock.Now()
	for key, e := range m.entries {
		if !now.Before(e.ends) {
			delete(m.entries, key)
		}
	}
	return len(m.entries)
}
