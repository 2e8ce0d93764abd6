package daemon

import (
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
	"k8s.io/utils/clock"
)

// The defaults of Options.
const (
	DefaultBefore  = 10 * time.Minute
	DefaultQuiet   = 5 * time.Minute
	DefaultMaxAge  = 6 * time.Hour
	DefaultMaxSize = 512 << 20
)

// Options say what to record and what is long. A zero value is the default.
type Options struct {
	// Record is complete but for Open, Out, Resume, Stop, Line, Duration, Identified, Warn, Waiting, Clock and Jitter. With a scope it
	// waits for the first node.
	Record recorder.Config
	// Dir is the folder; it must exist, and be of this daemon alone.
	Dir string
	// Cluster is what people call the cluster; the tapes say it.
	Cluster string
	// Before is how much of what was before a roll is on its tape, at least, where the recording goes back so far.
	Before time.Duration
	// Quiet is how long nothing of a roll has to happen until it is over.
	Quiet time.Duration
	// Evictions within a minute, of pods of one group, begin a roll.
	Evictions int
	// MaxSize (bytes) and MaxAge of a tape: then it ends as unfinished, and the next one goes on.
	MaxSize int64
	MaxAge  time.Duration
	// FinishOnStop makes the tapes of the rolls that are on when the context ends, as interrupted. A daemon that continues in the
	// same folder makes them again, whole and under other names.
	FinishOnStop bool

	// Leads reports whether this daemon makes the tapes. One that doesn't stands by: it records and decides the same, so that it has all
	// of a roll when it leads, and makes a tape only where FinishOnStop asks for it. Nil: always.
	Leads func() bool
	// Covered reports whether another daemon makes tapes now. A daemon that doesn't lead forgets a roll once it ended Before ago, unless
	// nobody makes its tape. Nil: another one does whenever this one doesn't lead.
	Covered func() bool
	// Log is told of each thing that happens, as one line: a message, then keys and values, as log/slog has it.
	Log func(level Level, message string, args ...any)
	// Finished, where set, is told of each tape that is final, with its file; from one goroutine, which waits.
	Finished func(t store.Tape, file string)
	Clock    clock.WithTicker
}

// Level is how serious a line of the log is.
type Level int

// The levels.
const (
	Info Level = iota
	Warning
	Error
)

func (o *Options) complete() error {
	switch {
	case o.Dir == "":
		return errors.New("recorder: found no folder, want one to keep the recording in")
	case o.Before < 0 || o.Quiet < 0 || o.MaxAge < 0 || o.MaxSize < 0 || o.Evictions < 0:
		return fmt.Errorf("recorder: found a time, size or count below 0 (%s, %s, %s, %d, %d), want more, or 0 for the default", o.Before, o.Quiet, o.MaxAge, o.MaxSize, o.Evictions)
	}
	if o.Before == 0 {
		o.Before = DefaultBefore
	}
	if o.Quiet == 0 {
		o.Quiet = DefaultQuiet
	}
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.MaxSize == 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.Covered == nil {
		o.Covered = func() bool { return true }
	}
	if o.Leads == nil {
		o.Leads = func() bool { return true }
	}
	if o.Log == nil {
		o.Log = func(Level, string, ...any) {}
	}
	if o.Finished == nil {
		o.Finished = func(store.Tape, string) {}
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Record.Clock, o.Record.Identified = o.Clock, true
	o.Record.Wait = o.Record.Scope.Nodegroup != "" || o.Record.Scope.Selector != ""
	o.Record.Warn = func(text string) { o.Log(Warning, text) }
	return nil
}

// trigger are the options of the decider.
func (o *Options) trigger() trigger.Options {
	return trigger.Options{Quiet: o.Quiet, Evictions: o.Evictions, Group: o.Record.Scope.Nodegroup}
}
