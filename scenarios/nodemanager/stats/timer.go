// Package stats measures loops. In: the beginnings and ends of turns. Out: when the last turn was, how long it took and
// how long turns take on average, also as JSON. Time comes from a clock that the caller gives; without one it is the
// computer's.
//
// Its API may still change (docs/stability.md).
package stats

import (
	"encoding/json"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// LoopTimer measures the turns of one loop. Its methods may be called from any goroutine. The zero value has measured
// nothing and has no clock of its own: it measures by that of UseClock, else by the computer's.
type LoopTimer struct {
	mu    sync.Mutex
	clock clock.PassiveClock
	times LoopTimes
	total time.Duration
}

// LoopTimes is what a LoopTimer knows. In JSON durations are nanoseconds.
type LoopTimes struct {
	Start    time.Time     // of the last turn
	End      time.Time     // of the last turn that is over
	LastLoop time.Duration // how long that one took
	Average  time.Duration // of all that are over
	Count    int           // of all that are over
}

// NewLoopTimer returns a timer that has measured nothing.
func NewLoopTimer(c clock.PassiveClock) *LoopTimer { return &LoopTimer{clock: c} }

// UseClock gives a clock to a timer that has none; any other keeps its own.
func (t *LoopTimer) UseClock(c clock.PassiveClock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clock == nil {
		t.clock = c
	}
}

// now is the present time; the caller holds the lock.
func (t *LoopTimer) now() time.Time {
	if t.clock == nil {
		t.clock = clock.RealClock{}
	}
	return t.clock.Now()
}

// StartLoop begins a turn.
func (t *LoopTimer) StartLoop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.times.Start = t.now()
}

// EndLoop ends the turn that began last.
func (t *LoopTimer) EndLoop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.times.End = t.now()
	t.times.LastLoop = t.times.End.Sub(t.times.Start)
	t.times.Count++
	t.total += t.times.LastLoop
	t.times.Average = t.total / time.Duration(t.times.Count)
}

// Times returns what was measured so far.
func (t *LoopTimer) Times() LoopTimes {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.times
}

// MarshalJSON writes Times.
func (t *LoopTimer) MarshalJSON() ([]byte, error) { return json.Marshal(t.Times()) }
