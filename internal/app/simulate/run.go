package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// tapeStep bounds how far a simulation goes before the context is looked at.
const tapeStep = time.Second

// ErrInterrupted is wrapped by Run's error when its context has ended.
var ErrInterrupted = errors.New("interrupted")

// A Moment is a MARK of a tape: how a roll failed, that the time limit came, or
// what the scenario itself calls a moment.
type Moment struct {
	At           time.Duration
	Name, Reason string
}

// Summary is the result of a simulation.
type Summary struct {
	Events int           // lines after the header, END's included
	At     time.Duration // of the last one
	Bytes  int64         // of the file
	// Rolls says how each roll ended that has: empty for one that was completed,
	// else its error.
	Rolls []string
	// Marks are the tape's, in its order; at most maxMarks.
	Marks []Moment
	// Planned is whether the scenario has a roll at all.
	Planned bool
}

// maxMarks bounds what a Summary keeps.
const maxMarks = 20

// Run simulates a scenario into a file that must not exist, compressed where its
// name ends in .gz or .zst. Where the context ends, the tape stays as far as it
// has come, readable and without END, and the error wraps ErrInterrupted. After
// any other error the file is taken away again: nothing in it can't be made once
// more, and the next try wants the name.
func Run(ctx context.Context, src Source, file string, status *Status) (Summary, error) {
	f, err := create(file)
	if err != nil {
		return Summary{}, err
	}
	out, err := newChunks(f, file)
	if err != nil {
		return Summary{}, errors.Join(fmt.Errorf("create timeline %s: %w", file, err), f.Close(), os.Remove(file))
	}
	sum, err := into(ctx, src, out, status)
	switch {
	case errors.Is(err, ErrInterrupted):
		return sum, fmt.Errorf("%w at %s: %s is readable up to there and has no END", ErrInterrupted, position(sum.At), file)
	case err != nil:
		return sum, errors.Join(err, os.Remove(file))
	}
	return sum, nil
}

// Write is Run into a writer, as plain text. What was written stays, whatever the
// error.
func Write(ctx context.Context, src Source, w io.Writer, status *Status) (Summary, error) {
	out, err := newChunks(open{w}, "")
	if err != nil {
		return Summary{}, err
	}
	sum, err := into(ctx, src, out, status)
	if errors.Is(err, ErrInterrupted) {
		err = fmt.Errorf("%w at %s: the tape is readable up to there and has no END", ErrInterrupted, position(sum.At))
	}
	return sum, err
}

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// into simulates into chunks, which it closes.
func into(ctx context.Context, src Source, out *chunks, status *Status) (Summary, error) {
	r := &run{ctx: ctx, out: out}
	r.sum.Planned = src.File != nil && src.File.Roll != nil

	showing, cancel := context.WithCancel(ctx)
	var shown sync.WaitGroup
	shown.Go(func() { status.follow(showing, r.standing) })
	err := r.write(src)
	if last := out.close(); last != nil && (err == nil || errors.Is(err, ErrInterrupted)) {
		err = last
	}
	cancel()
	shown.Wait()

	r.sum.Bytes = out.size()
	return r.sum, err
}

// create makes the file.
func create(name string) (*os.File, error) {
	if err := atomicfile.Folder(name); err != nil {
		return nil, fmt.Errorf("create timeline %w", err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create timeline %s: %w: want another name", name, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("create timeline: %w", err)
	}
	return f, nil
}

// run is one simulation that is written.
type run struct {
	ctx context.Context
	out *chunks
	w   *timeline.Writer
	sum Summary
	// stopped says that the context has ended in the middle of a step.
	stopped bool

	at, events atomic.Int64 // for the progress line, every so often
	taken      int64
}

// write simulates up to END.
func (r *run) write(src Source) (err error) {
	header, err := headerOf(src)
	if err != nil {
		return err
	}
	header.Source.Program = version.Program()
	if r.w, err = timeline.NewWriter(r.out, header); err != nil {
		return err
	}
	if src.File == nil {
		err = src.Scenario.Write(r.w)
		r.sum.Events, r.sum.At = r.w.Events(), demoLength()
		return errors.Join(err, r.w.Close())
	}
	sim, err := src.File.Simulate(r.take)
	if err == nil {
		defer sim.Close()
	}
	for ended := false; err == nil && !ended; {
		if r.ctx.Err() != nil {
			err = ErrInterrupted
			break
		}
		ended, err = sim.Step(tapeStep)
	}
	r.sum.Events = r.w.Events()
	if sim != nil {
		r.sum.Rolls = sim.Outcomes()
	}
	return errors.Join(err, r.w.Close())
}

func headerOf(src Source) (timeline.Header, error) {
	if src.File == nil {
		return src.Scenario.Header()
	}
	return src.File.Header(), nil
}

func demoLength() time.Duration {
	_, events := scenarios.Demo()
	return events[len(events)-1].At
}

// take is the simulation's sink.
func (r *run) take(ev timeline.Event) error {
	if r.stopped {
		return ErrInterrupted
	}
	switch ev.Type {
	case timeline.Mark:
		if len(r.sum.Marks) < maxMarks {
			r.sum.Marks = append(r.sum.Marks, Moment{ev.At, ev.Name, ev.Reason})
		}
	case timeline.End:
		// END is in a frame of its own, where appending cuts it off.
		if err := r.out.flush(); err != nil {
			return err
		}
	}
	if err := r.w.WriteLine(ev); err != nil {
		return err
	}
	r.sum.At = ev.At
	if r.taken++; r.taken%64 != 0 && ev.Type != timeline.End {
		return nil
	}
	r.at.Store(int64(ev.At))
	r.events.Store(r.taken)
	// A large cluster writes a million lines at 0s.
	if r.taken%4096 == 0 && r.ctx.Err() != nil {
		r.stopped = true
		return ErrInterrupted
	}
	return nil
}

// standing says how far it is.
func (r *run) standing() (at time.Duration, events int64, bytes int64) {
	return time.Duration(r.at.Load()), r.events.Load(), r.out.size()
}
