package daemon

import (
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
)

// Stats count what a Daemon did since it was made.
type Stats struct {
	Recording bool // the watches are open, and lines can be written
	TapesFail bool // a tape that was due couldn't be made, and is tried again
	Events    int  // lines of the history, but for the daemon's own MARKs
	Gaps      int  // of them GAPs
	LastGap   time.Time
	Last      time.Time
	Open      []trigger.Roll
	// Drains is how long the longest drain that is under way takes already, by group.
	Drains map[string]time.Duration
	// Tapes that are finished, by outcome.
	Tapes map[trigger.Outcome]int
	// Errors that didn't end the daemon, by kind: record, history, tape.
	Errors map[string]int
	// HistoryBytes and TapesBytes are the sizes of the two folders.
	HistoryBytes, TapesBytes int64
}

// Stats returns the counts.
func (d *Daemon) Stats() Stats {
	d.mu.Lock()
	s := d.stats
	s.Tapes, s.Errors, s.Open = maps.Clone(s.Tapes), maps.Clone(s.Errors), slices.Clone(s.Open)
	if d.decider != nil {
		s.Drains = d.decider.Drains(d.o.Clock.Now())
	}
	d.mu.Unlock()
	for dir, n := range map[string]*int64{historyDir: &s.HistoryBytes, tapesDir: &s.TapesBytes} {
		if files, err := filepath.Glob(d.path(dir, "*")); err == nil {
			*n = sizeOf(files...)
		}
	}
	return s
}

// Able reports whether a tape could be made now: lines are recorded, and none of the tapes that are due waits for a disk with room. It
// doesn't wait for what the daemon does.
func (d *Daemon) Able() bool { return d.able.Load() }

func (d *Daemon) set(change func(*Stats)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.stats)
	d.able.Store(d.stats.Recording && !d.stats.TapesFail)
}
