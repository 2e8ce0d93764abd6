package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/utils/clock"
)

var (
	errDuration = errors.New("the duration is over")
	errComplete = errors.New("complete")
	errEnded    = errors.New("the recording has ended")
)

// Recorder makes one recording; see the package comment. Its methods may be
// called from several goroutines.
type Recorder struct {
	machines bool // MachineResources are taken along
	cfg      Config
	clock    clock.WithTicker

	mu        sync.Mutex // held while an arrival goes on the tape
	sequencer *sequencer
	out       *timeline.Writer
	start     time.Time
	last      time.Duration
	unsynced  bool
	listing   bool // the initial lists are being written
	stopped   bool // Stop has said so
	ended     bool
	fatal     error
	cancel    context.CancelCauseFunc
}

// Run records until ctx ends, the duration is over, Stop says so, or the tape
// can't be written. The first three are no errors. Whatever happens, what
// is on the tape stays readable, and no goroutine is left.
func (r *Recorder) Run(ctx context.Context) (Summary, error) {
	c, err := newClient(r.cfg.REST)
	if err != nil {
		return Summary{}, err
	}
	defer c.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.cancel = cancel

	p, err := r.prepare(ctx, c)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("interrupted before the recording began: %w", context.Cause(ctx))
		}
		if r.cfg.Out != nil {
			_ = r.cfg.Out.Close() // nothing was written
		}
		return Summary{}, err
	}
	defer p.close()
	if err := r.open(p); err != nil {
		return Summary{}, err
	}

	if err := r.readLong(ctx, p.watches); err != nil {
		return r.abandon(ctx, err)
	}
	var owned sync.WaitGroup
	for _, w := range p.watches {
		owned.Go(func() { w.run(ctx) })
	}
	owned.Go(func() { r.keepTime(ctx) })
	if r.cfg.Duration > 0 {
		owned.Go(func() { r.limit(ctx, cancel) })
	}
	owned.Wait()
	return r.finish(context.Cause(ctx))
}

// open makes the tape and writes what every tape begins with.
func (r *Recorder) open(p *prepared) error {
	out, err := r.cfg.Out, error(nil)
	if out == nil {
		if out, err = r.cfg.Open(p.header); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out, r.sequencer = out, p.sequencer
	r.start = p.header.Metadata.Start.Time
	if r.cfg.Resume == nil {
		r.start = p.start // with the monotonic clock
	} else {
		r.last = r.cfg.Resume.At
	}
	r.sequencer.tape, r.sequencer.gapAtEnd = out, r.cfg.GapAtEnd
	r.sequencer.wrote = r.wrote
	r.listing = true
	if r.cfg.Resume == nil {
		err = r.sequencer.begin(p.lists, p.versions)
	}
	if err == nil {
		err = out.Sync()
	}
	if err != nil {
		_ = out.Close() // the first error is the one to tell
	}
	return err
}

// abandon ends a recording within its initial lists: the tape has no END.
func (r *Recorder) abandon(ctx context.Context, err error) (Summary, error) {
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted while the lists were read: %w", context.Cause(ctx))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.fatal != nil {
		err = r.fatal
	}
	_ = r.out.Close() // the first error is the one to tell
	return r.summary(EndFailed), err
}

// now is the position on the tape. The caller holds mu, so positions are in
// the order of the lines.
// Kubernetes' own MicroTime has microseconds.
// The initial lists are at 0s, however long it takes to read them.
func (r *Recorder) now() time.Duration {
	if r.listing {
		return r.last
	}
	r.last = max(r.last, r.clock.Since(r.start).Truncate(time.Microsecond))
	return r.last
}

// deliver lets f put something on the tape at the present moment.
func (r *Recorder) deliver(f func(at time.Duration) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return errEnded
	}
	if r.sequencer == nil {
		return errEnded // not open yet
	}
	before := r.sequencer.lines
	err := f(r.now())
	r.unsynced = r.unsynced || r.sequencer.lines != before
	var broken *tapeError
	if errors.As(err, &broken) {
		r.fail(err)
	}
	return err
}

// Mark writes a named moment to the tape, which no object of the cluster shows. It
// does nothing before the tape is open and after its end.
func (r *Recorder) Mark(name, reason string) {
	_ = r.deliver(func(at time.Duration) error { // deliver keeps the error
		return r.sequencer.write(timeline.Event{At: at, Type: timeline.Mark, Name: name, Reason: reason})
	})
}

// Sync returns once all lines so far are on the disk; by itself the recorder sees to that within a second. It returns an error before the
// tape is open, after its end, and where the tape can't be written, which ends the recording.
func (r *Recorder) Sync() error {
	return r.deliver(func(time.Duration) error { return r.sync() })
}

// sync is Sync. The caller holds mu.
func (r *Recorder) sync() error {
	r.unsynced = false
	if err := r.out.Sync(); err != nil {
		return &tapeError{err}
	}
	return nil
}

// fail ends the recording because of the tape. The caller holds mu.
func (r *Recorder) fail(err error) {
	if r.fatal == nil {
		r.fatal = err
	}
	r.ended = true
	r.cancel(err)
}

// wrote is called for every line, with mu held.
func (r *Recorder) wrote(ev timeline.Event) {
	if r.cfg.Line != nil {
		r.cfg.Line(r.out.Header().Metadata.Start.Time, ev)
	}
	if r.cfg.Stop == nil || r.ended || r.stopped || !r.cfg.Stop(ev) {
		return
	}
	r.stopped = true
	if !r.listing { // the lists are written whole in any case
		r.ended = true
		r.cancel(errComplete)
	}
}

// readLong writes the initial lists that are too long for memory.
func (r *Recorder) readLong(ctx context.Context, watches []*watch) error {
	for _, w := range watches {
		if !w.long {
			continue
		}
		if err := w.stream(ctx); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listing = false
	if r.stopped {
		r.ended = true
		r.cancel(errComplete)
	}
	return nil
}

// keepTime brings lines to the disk and gives up on what waits for too long.
func (r *Recorder) keepTime(ctx context.Context) {
	ticker := r.clock.NewTicker(syncTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		_ = r.deliver(func(at time.Duration) error { // deliver keeps the error
			if err := r.sequencer.tick(at); err != nil {
				return err
			}
			if !r.unsynced {
				return nil
			}
			return r.sync()
		})
	}
}

func (r *Recorder) limit(ctx context.Context, cancel context.CancelCauseFunc) {
	timer := r.clock.NewTimer(r.cfg.Duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C():
		cancel(errDuration)
	}
}

// finish writes END and closes the tape. Every goroutine has ended.
func (r *Recorder) finish(cause error) (Summary, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	end := EndInterrupted
	switch {
	case r.fatal != nil:
		end = EndFailed
	case errors.Is(cause, errDuration):
		end = EndDuration
	case errors.Is(cause, errComplete):
		end = EndComplete
	}
	if r.fatal == nil {
		err := r.sequencer.end(r.now(), end)
		if err == nil {
			err = r.out.Sync()
		}
		if err != nil {
			r.fatal, end = err, EndFailed
		}
	}
	if err := r.out.Close(); err != nil && r.fatal == nil {
		r.fatal, end = err, EndFailed
	}
	return r.summary(end), r.fatal
}
