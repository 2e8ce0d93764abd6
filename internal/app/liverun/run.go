// Package liverun runs a scenario on a real API server and shows it: what nodesim
// simulate --live does.
//
// It joins a [live.Runner], which makes the roll happen, with a recorder, which
// sees of it what any client of that API server would. What the recorder sees is
// shown, as a panel or as the feed, and may be kept as a tape: what is shown live
// is, line by line, what a replay of that tape shows.
//
// The recording begins before the scenario's 0s and ends before anything is
// removed. One that can't begin ends the live run; one that fails later doesn't.
package liverun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/timeline"
)

// Options say what is run, where, and what shows it.
type Options struct {
	REST *rest.Config
	File *scenarios.File
	// Live are further options of the live run.
	Live []live.Option
	// Tape is a file that the live run is recorded in; "" for none.
	Tape string
	// Driver makes what shows a tape with this header. Where it is nil and there is no Tape, nothing is watched but what
	// the live run itself needs.
	Driver func(*timeline.Header) (*ui.Driver, error)
	// Terminal is where a panel is painted; nil hands everything to the Driver's Sink.
	Terminal *ui.Terminal
	// Say is told how it goes, a line at a time; it may be called from any goroutine.
	Say func(string)
	// Warn is told of what goes wrong and doesn't end the live run, from any
	// goroutine. A panel shows the last of it and how much there was: what Say and
	// Warn write themselves has to wait until the panel is gone ([ui.Terminal].Hold).
	Warn func(string)
}

// A Report sums up a live run and its recording.
type Report struct {
	live.Report
	// Shown is the position at which the recording ended, by the clock of what was shown and of the tape. At a speed of
	// 20x the scenario's own clock, that of Position, goes 20 times as fast. Without a recording it is Position.
	Shown time.Duration
	// Gaps are those of the tape: events that may be missing.
	Gaps int
}

// Run runs the scenario live, and returns when the scenario has ended, the context has, or it
// can't continue, and everything was removed again.
func Run(ctx context.Context, o Options) (Report, error) {
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	v := &viewer{o: o, quit: quit}
	opts := append([]live.Option{
		live.OnWarning(func(err error) { v.warn(err.Error()) }),
		live.OnProgress(v.progress),
		live.OnMark(v.mark),
		live.BeforeBegin(v.open),
	}, o.Live...)
	p, err := live.New(o.REST, o.File, opts...)
	if err == nil && o.Tape != "" {
		err = record.Creatable(o.Tape)
	}
	if err != nil {
		return Report{}, err
	}
	v.customs = p.CustomKinds
	report, err := p.Run(ctx)
	err = errors.Join(err, v.close())
	if v.rec == nil {
		v.shown = report.Position
	}
	return Report{Report: report, Shown: v.shown, Gaps: v.gaps}, err
}

// A viewer records and shows.
type viewer struct {
	o           Options
	quit        context.CancelFunc                   // ends the live run
	customs     func() []schema.GroupVersionResource // the provider's own kinds that the live run makes; nil is none
	rec         *recorder.Recorder
	live        *ui.Live
	end         context.CancelFunc // ends the recording and the show
	owned       sync.WaitGroup
	shown       time.Duration // where the recording ended
	gaps        int           // of the tape
	progressLog progressLog
	warnings    warnings
	mu          sync.Mutex
	failed      error
}

// open begins to record and to show, and returns when everything that happens from
// then on is seen.
func (v *viewer) open(ctx context.Context) error {
	if v.o.Driver == nil && v.o.Tape == "" {
		return nil
	}
	opened, failed := make(chan struct{}), make(chan error, 1)
	var first sync.Once
	cfg := recorder.Config{
		REST: v.o.REST, Name: v.o.File.Metadata.Name, Warn: v.warn, Resources: v.resources(),
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
			v.live = ui.NewLive(d)
			return tape, nil
		},
		Line: func(time.Time, timeline.Event) { first.Do(func() { close(opened) }) }, // from then on it takes marks
		Stop: func(ev timeline.Event) bool { v.live.Event(ev); return false },
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
			err = fmt.Errorf("record the live run: %w", err)
		}
		select {
		case <-opened:
			if err != nil { // which is told at the end again: until then nothing more is shown
				v.warn(err.Error())
			}
			v.fail(err)
		default:
			failed <- err // nothing has happened yet: there is no live run without
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
		err := v.live.Play(watching, func() time.Duration { return rec.Stats().At }, v.terminal())
		switch {
		case errors.Is(err, ui.ErrQuit):
			v.quit()
		case err != nil:
			v.fail(err)
		}
	})
	return nil
}

// resources returns what is recorded: what every recorder records, and of the provider's
// own kinds those that the live run makes and that a tape of the simulation holds.
func (v *viewer) resources() []string {
	names := recorder.DefaultResources()
	if v.customs == nil {
		return names
	}
	written := v.customs()
	for _, r := range v.o.File.Header().Resources {
		if slices.Contains(written, schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}) {
			names = append(names, r.String())
		}
	}
	return names
}

// terminal is that of the options, whose panel tells of warnings too.
func (v *viewer) terminal() *ui.Terminal {
	if v.o.Terminal == nil {
		return nil
	}
	t := *v.o.Terminal
	below := t.Below
	t.Below = func() []string {
		lines := v.warnings.lines(time.Now())
		if below != nil {
			lines = append(lines, below()...)
		}
		return lines
	}
	return &t
}

func (v *viewer) warn(text string) {
	v.warnings.add(text, time.Now())
	v.o.Warn(text)
}

// tape returns the Writer of the tape that records the live run.
func (v *viewer) tape(h timeline.Header) (*timeline.Writer, error) {
	h.Source.Program = version.Program()
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

// progress says how far the live run is, and ends the recording before things
// are removed.
func (v *viewer) progress(p live.Progress) {
	if p.Phase == live.Leaving {
		v.rest()
	}
	if line := v.progressLog.line(p, time.Now()); line != "" {
		v.o.Say(line)
	}
}

// rest ends the recording and the show.
func (v *viewer) rest() {
	if v.end != nil {
		v.end()
		v.owned.Wait()
		stats := v.rec.Stats()
		v.end, v.shown, v.gaps = nil, stats.At, stats.Gaps
	}
}

func (v *viewer) close() error {
	v.rest()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failed
}
