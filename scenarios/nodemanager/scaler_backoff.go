package nodemanager

import (
	"sync"
	"time"
)

// DefaultBackoff lets a pool try again after half a minute, and at least every fifteen.
func DefaultBackoff() Backoff { return Backoff{First: 30 * time.Second, Max: 15 * time.Minute} }

// A BootObserver is told how boots ended, and may plan by it. What it is told for one moment comes in any order.
type BootObserver interface {
	// BootFailed says that a node of a type on a market didn't become available, whatever the reason.
	BootFailed(instanceType string, spot bool, now time.Time)
	// BootSucceeded says that one did.
	BootSucceeded(instanceType string, spot bool, now time.Time)
}

// bootHistory counts the failures in a row of each type and market. Only standby pools wait for it: a pod that needs a
// node is held back by nothing but the cloud's own word.
type bootHistory struct {
	backoff Backoff
	mu      sync.Mutex
	entries map[bootKind]bootFailures
}

type bootKind struct {
	instanceType string
	spot         bool
}

type bootFailures struct {
	inRow     int
	last      time.Time
	succeeded time.Time // the last time
}

func newBootHistory(b Backoff) *bootHistory {
	return &bootHistory{backoff: b, entries: map[bootKind]bootFailures{}}
}

// pausing says whether a kind of node failed too recently to be tried again.
func (l *bootHistory) pausing(k bootKind, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok := l.entries[k]
	return ok && now.Sub(f.last) < l.backoff.After(f.inRow)
}

// BootFailed makes standby pools of that kind pause.
func (s *BindingNodeScaler) BootFailed(instanceType string, spot bool, now time.Time) {
	s.boots.mu.Lock()
	defer s.boots.mu.Unlock()
	k := bootKind{instanceType, spot}
	f := s.boots.entries[k]
	if !f.succeeded.IsZero() && !now.After(f.succeeded) {
		return
	}
	s.boots.entries[k] = bootFailures{inRow: f.inRow + 1, last: now, succeeded: f.succeeded}
}

// BootSucceeded ends the pause of that kind. Of a failure and a success at one moment, the success counts.
func (s *BindingNodeScaler) BootSucceeded(instanceType string, spot bool, now time.Time) {
	s.boots.mu.Lock()
	defer s.boots.mu.Unlock()
	s.boots.entries[bootKind{instanceType, spot}] = bootFailures{succeeded: now}
}
