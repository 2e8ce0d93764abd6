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
	Recording bool // lines can be written; a watch that breaks is opened again
	Waiting   bool // for the first node of the scope: until then nothing is recorded
	// Watches are the resources that are recorded, and whether the watch of each is open: what happens while it isn't comes when it is open
	// again, or is a GAP. Nil while nothing is recorded.
	Watches   map[string]bool
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

// pause says that nothing is recorded.
func (s *Stats) pause() { s.Recording, s.Waiting, s.Watches = false, false, nil }

// Stats returns the counts.
func (d *Daemon) Stats() Stats {
	d.mu.Lock()
	s := d.stats
	s.Watches, s.Tapes, s.Errors, s.Open = maps.Clone(s.Watches), maps.Clone(s.Tapes), maps.Clone(s.Errors), slices.Clone(s.Open)
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

// stalled is how long a disk may take for what the daemon does each second.
const stalled = 30 * time.Second

// Able reports whether a tape could be made now: lines are recorded, none of the tapes that are due waits for a disk with room, and the
// disk answers. It doesn't wait for what the daemon does.
func (d *Daemon) Able() bool {
	return d.able.Load() && d.o.Clock.Now().UnixNano()-d.alive.Load() < int64(stalled)
}

// Whole reports whether the recording has the beginning of each roll that is on, as far as it can be seen. One that began in the middle of a
// roll hasn't, and another daemon may have. It doesn't wait for what the daemon does.
func (d *Daemon) Whole() bool { return !d.partial.Load() }

func (d *Daemon) set(change func(*Stats)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.stats)
	d.able.Store(d.stats.Recording && !d.stats.TapesFail)
}
