// Package perform lets a scenario happen on a real API server while somebody looks
// at it: what nodesim simulate --live does.
//
// It joins [live.Performer], which makes the roll happen, with a recorder, which
// sees of it what any client of that API server would. What the recorder sees is
// shown, as a panel or as the feed, and may be kept as a tape: what is shown live
// is, line by line, what a replay of that tape shows.
//
// The recording begins before the scenario's 0s and ends before anything is
// removed. One that can't begin ends the performance; one that fails later doesn't.
package perform

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/capture"
	"github.com/nodesim/nodesim/internal/show"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/timeline"
)

// Options say what is performed, where, and who looks.
type Options struct {
	REST *rest.Config
	File *scenarios.File
	// Live are further options of the performance.
	Live []live.Option
	// Tape is a file that the performance is recorded in; "" for none.
	Tape string
	// Driver makes what shows a tape with this header.
	Driver func(*timeline.Header) (*show.Driver, error)
	// Terminal is where a panel is painted; nil hands everything to the Driver's Sink.
	Terminal *show.Terminal
	// Say is told how it goes, a line at a time, while no panel is painted; it may
	// be called from any goroutine.
	Say func(string)
	// Warn is told of what goes wrong and doesn't end the performance, from any
	// goroutine.
	Warn func(string)
}

// Run performs, and returns when the scenario has ended, the context has, or it
// can't go on, and everything was removed again.
func Run(ctx context.Context, o Options) (live.Report, error) {
	v := &viewer{o: o}
	opts := append([]live.Option{
		live.OnWarning(func(err error) { o.Warn(err.Error()) }),
		live.OnProgress(v.progress),
		live.OnMark(v.mark),
		live.BeforeBegin(v.open),
	}, o.Live...)
	p, err := live.New(o.REST, o.File, opts...)
	if err == nil && o.Tape != "" {
		err = capture.Creatable(o.Tape)
	}
	if err != nil {
		return live.Report{}, err
	}
	report, err := p.Run(ctx)
	return report, errors.Join(err, v.close())
}

// A viewer records and shows.
type viewer struct {
	o      Options
	rec    *recorder.Recorder
	eyes   *show.Live
	end    context.CancelFunc
	owned  sync.WaitGroup
	said   string
	saidAt time.Time
	mu     sync.Mutex
	failed error
}

// open begins to record and to show, and returns when everything that happens from
// then on is seen.
func (v *viewer) open(ctx context.Context) error {
	opened, failed := make(chan struct{}), make(chan error, 1)
	cfg := recorder.Config{
		REST: v.o.REST, Name: v.o.File.Metadata.Name, Warn: v.o.Warn,
		Open: func(h timeline.Header) (*timeline.Writer, error) {
			h.Scope = v.o.File.Header().Scope
			d, err := v.o.Driver(&h)
			if err != nil {
				return nil, err
			}
			tape, err := v.tape(h)
			if err != nil {
				return nil, err
			}
			v.eyes = show.NewLive(d)
			close(opened)
			return tape, nil
		},
		Stop: func(ev timeline.Event) bool { v.eyes.Event(ev); return false },
	}
	rec, err := recorder.New(cfg)
	if err != nil {
		return err
	}
	watching, end := context.WithCancel(context.WithoutCancel(ctx))
	v.end, v.rec = end, rec
	v.owned.Go(func() {
		_, err := rec.Run(watching)
		if err != nil {
			err = fmt.Errorf("record the performance: %w", err)
		}
		select {
		case <-opened:
			v.fail(err)
		default:
			failed <- err // nothing has happened yet: there is no performance without
		}
	})
	select {
	case <-opened:
	case err := <-failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	v.owned.Go(func() {
		if err := v.eyes.Play(watching, func() time.Duration { return rec.Stats().At }, v.o.Terminal); err != nil {
			v.fail(err)
		}
	})
	return nil
}

// tape is what the performance is recorded in.
func (v *viewer) tape(h timeline.Header) (*timeline.Writer, error) {
	if v.o.Tape != "" {
		return timeline.Create(v.o.Tape, h)
	}
	return timeline.NewBlankWriter(h)
}

func (v *viewer) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = errors.Join(v.failed, err)
}

// mark puts a named moment of the scenario on the tape.
func (v *viewer) mark(name, reason string) {
	if v.rec != nil {
		v.rec.Mark(name, reason)
	}
}

// progress says how far the performance is, and ends the recording before things
// are removed.
func (v *viewer) progress(p live.Progress) {
	if p.Phase == live.Leaving {
		v.rest()
	}
	line := lineOf(p)
	again := p.Phase == live.Settling && time.Since(v.saidAt) > 5*time.Second
	if line == "" || line == v.said || p.Phase == live.Settling && v.said != "" && !again && len(p.Waiting) > 0 {
		return
	}
	v.said, v.saidAt = line, time.Now()
	v.o.Say(line)
}

// lineOf is a progress in words.
func lineOf(p live.Progress) string {
	switch {
	case p.Phase == live.Preparing:
		return ""
	case p.Phase == live.Settling && len(p.Waiting) > 0:
		line := "waiting for 0s: " + p.Waiting[0]
		if n := len(p.Waiting) - 1; n > 0 {
			line += fmt.Sprintf(", and %d more", n)
		}
		return line
	case p.Phase == live.Settling && p.Adopted:
		return "found what an earlier performance has left: going on with it"
	case p.Phase == live.Leaving:
		return "removing what was made"
	}
	return ""
}

// rest ends the recording and the show.
func (v *viewer) rest() {
	if v.end != nil {
		v.end()
		v.owned.Wait()
		v.end = nil
	}
}

func (v *viewer) close() error {
	v.rest()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}
