package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/timeline"
)

// ours begins the names of MARKs that are for the history alone.
const ours = "nodesim.dev/"

// markTaped says that a roll has its tape; the reason is a [tapedRoll].
const markTaped = ours + "taped"

// Daemon records until its context ends. Its methods may be called from several goroutines, but Run from one alone.
type Daemon struct {
	o Options

	// Of Run's goroutine.
	all      []piece        // of the epoch, in their order; the last one is being written
	queue    []trigger.Roll // ended, without a tape yet
	known    map[string]bool
	recorded bool // since Run was called
	rotateAt time.Time
	tapeAt   time.Time // when tapes that couldn't be made are tried again
	// tapeFailures is how often they couldn't be, one time after the other.
	tapeFailures int
	tried        map[string]time.Time // since when the tapes of rolls can't be made, by ID

	able    atomic.Bool
	partial atomic.Bool  // a roll that is on may have begun before the recording
	alive   atomic.Int64 // Unix nanoseconds of when Run's goroutine last looked at the time

	mu      sync.Mutex // held for each line
	decider *trigger.Decider
	cluster string
	last    time.Time // of what the decider was told
	taped   []tapedRoll
	stats   Stats
}

// New checks the options.
func New(o Options) (*Daemon, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	d := &Daemon{o: o, known: map[string]bool{}, tried: map[string]time.Time{}}
	d.o.Record.Waiting = func(found string) {
		d.o.Log(Info, "waiting for the first node", "found", found)
		d.set(func(s *Stats) { s.Waiting = true })
	}
	d.stats.Tapes, d.stats.Errors = map[trigger.Outcome]int{}, map[string]int{}
	return d, nil
}

// The failures are tried again after pauses of this length.
var pauses = retry.Doubling{First: time.Second, Most: 30 * time.Second}

// Run records until ctx ends, which is no error. It goes on after what may be over soon: an API server that is away, a full disk.
// It ends with an error where what is wrong was so from the beginning: a right that lacks, a folder that can't be
// written, the history of another cluster.
func (d *Daemon) Run(ctx context.Context) error {
	if err := d.prepare(); err != nil {
		return err
	}
	defer func() { d.set((*Stats).pause) }()
	for failures := 1; ; failures++ {
		err := d.record(ctx)
		if ctx.Err() != nil {
			return d.stop()
		}
		began := d.Stats().Recording
		d.set((*Stats).pause)
		if began {
			failures = 1
		}
		if d.hopeless(err) {
			return err
		}
		d.failed("record", "the recording ended", err)
		d.prune(d.reached(), noRoom(err))
		if retry.Pause(ctx, d.o.Clock, pauses.After(failures)) != nil {
			return d.stop()
		}
	}
}

// hopeless reports whether an error will be the same again.
func (d *Daemon) hopeless(err error) bool {
	var other *recorder.OtherClusterError
	var path *os.PathError
	switch {
	case err == nil:
		return false
	case errors.As(err, &other):
		return true
	case errors.As(err, &path):
		return false // the folder could be written
	}
	return !d.recorded && !recorder.Temporary(err)
}

func (d *Daemon) path(elements ...string) string {
	return filepath.Join(append([]string{d.o.Dir}, elements...)...)
}

// prepare makes the folders and closes former epochs.
func (d *Daemon) prepare() error {
	for _, dir := range []string{historyDir, tapesDir} {
		if err := os.MkdirAll(d.path(dir), 0o755); err != nil {
			return fmt.Errorf("recorder: folder: %w: want one that can be written", err)
		}
	}
	torn, err := filepath.Glob(d.path(tapesDir, "*.part"+ending))
	if err != nil {
		return err
	}
	halves, err := filepath.Glob(d.path(tapesDir, atomicfile.Unfinished))
	if err != nil {
		return err
	}
	for _, name := range append(torn, halves...) {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("recorder: a torn tape: %w", err)
		}
	}
	return nil
}

// record makes one recording, which continues the last one where it can. It returns why it ended.
func (d *Daemon) record(ctx context.Context) error {
	err := d.attempt(ctx)
	var other *recorder.OtherResourcesError
	if !errors.As(err, &other) {
		return err
	}
	d.o.Log(Warning, "a new history begins", "reason", err.Error())
	if err := d.abandon(d.all); err != nil {
		return err
	}
	return d.attempt(ctx)
}

// attempt makes one recording. An OtherResourcesError is about the history, before anything was recorded.
func (d *Daemon) attempt(ctx context.Context) error {
	cfg := d.o.Record
	cfg.Line = d.line
	opened, err := d.resume(&cfg)
	if err != nil {
		return err
	}
	rec, err := recorder.New(cfg)
	if err != nil {
		if cfg.Out == nil {
			return err
		}
		// What is asked for now is something else than what was recorded.
		d.o.Log(Warning, "the recording can't go on with the history", "reason", err.Error())
		if err := cfg.Out.Close(); err != nil {
			return err
		}
		if err := d.abandon(d.all); err != nil {
			return err
		}
		cfg.Out, cfg.Resume, cfg.Resources, cfg.Same = nil, nil, d.o.Record.Resources, false
		opened = d.open(&cfg)
		if rec, err = recorder.New(cfg); err != nil {
			return err
		}
	}
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	var owned sync.WaitGroup
	defer owned.Wait()
	owned.Go(func() {
		_, err := rec.Run(run)
		ended <- err
	})
	tick := d.o.Clock.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case p := <-opened:
			d.all = []piece{p}
		case <-tick.C():
			if is := rec.Stats(); is.Events > 0 && len(d.all) > 0 {
				d.recorded = true
				watches := map[string]bool{}
				for _, r := range is.Resources {
					watches[r.Resource] = r.Connected
				}
				d.set(func(s *Stats) { s.Recording, s.Waiting, s.Watches = true, false, watches })
				d.tick(rec, is.At)
				d.alive.Store(d.o.Clock.Now().UnixNano())
			}
		}
	}
}

// open begins an epoch. The channel tells of its first piece.
func (d *Daemon) open(cfg *recorder.Config) <-chan piece {
	opened := make(chan piece, 1)
	p := piece{epoch: 1, seq: 1}
	if all, err := pieces(d.path(historyDir)); err == nil && len(all) > 0 {
		p.epoch = all[len(all)-1].epoch + 1
	}
	d.all = nil
	p.path = d.path(historyDir, pieceName(p.epoch, p.seq))
	cfg.Open = func(h timeline.Header) (*timeline.Writer, error) {
		text := func(value string) yaml.Node { return yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value} }
		h.Metadata.Extra = map[string]yaml.Node{asked: text(d.asks()), recording: text(rand.Text())}
		w, err := timeline.Create(p.path, h)
		if err != nil {
			return nil, err
		}
		p.start = h.Metadata.Start.Time
		d.begin(&h, true)
		opened <- p
		return w, nil
	}
	return opened
}

// asked is the key of a history's header that has what was asked for when it began.
const asked = "asked"

// recording is the key of a history's header that tells its recording from all others, also from those of the same cluster by other recorders.
const recording = "recording"

// asks says what is to be recorded, and how: a history of something else doesn't go on.
func (d *Daemon) asks() string {
	c := &d.o.Record
	return fmt.Sprintf("resources %q, nodegroup %q, selector %q, pods %q of %q, full %t",
		c.Resources, c.Scope.Nodegroup, c.Scope.Selector, c.Scope.Pods, c.Scope.Namespace, c.Full)
}

// begin makes the decider of an epoch. whole says that it is told of the epoch's first piece too, and not just of those that are left.
func (d *Daemon) begin(h *timeline.Header, whole bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.o.trigger()
	o.Begins = whole
	d.decider = trigger.New(h, o)
	d.cluster, d.last, d.taped = h.Source.Cluster, time.Time{}, nil
}

// reached is the time up to which the history goes.
func (d *Daemon) reached() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}

// line takes what was written. The recorder holds its lock.
func (d *Daemon) line(start time.Time, ev timeline.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ev.Type != timeline.Mark { // those are the daemon's own
		d.stats.Events++
	}
	if ev.Type == timeline.Gap {
		d.stats.Gaps++
		d.stats.LastGap = start.Add(ev.At)
	}
	d.apply(start.Add(ev.At), ev)
	d.stats.Last = d.last
}

// apply tells the decider. The caller holds mu.
func (d *Daemon) apply(when time.Time, ev timeline.Event) {
	if when.After(d.last) {
		d.last = when
	}
	if ev.Type == timeline.Mark && ev.Name == markTaped {
		d.taped = append(d.taped, parseTaped(ev.Reason, when))
	}
	d.decider.Apply(d.last, ev)
}

// replay tells the decider of an epoch what its pieces hold.
func (d *Daemon) replay(all []piece) error {
	r, err := timeline.Open(all[0].path)
	if err != nil {
		return err
	}
	d.begin(r.Header(), all[0].seq == 1)
	if err := r.Close(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return join(all, func(when time.Time, ev timeline.Event) error {
		d.apply(when, ev)
		return nil
	})
}

// resume finds where the history ends and has the recording go on there, or begin an epoch.
func (d *Daemon) resume(cfg *recorder.Config) (<-chan piece, error) {
	all, err := pieces(d.path(historyDir))
	if err != nil {
		return nil, err
	}
	d.queue = nil
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].epoch == all[0].epoch {
			n++
		}
		epoch := all[:n:n]
		if all = all[n:]; len(all) > 0 {
			if err := d.abandon(epoch); err != nil {
				return nil, err
			}
			continue
		}
		// A piece without its beginning holds nothing that the server can't tell again, from the end of the piece before it.
		last, torn := epoch[n-1], false
		if n > 1 {
			goesOn, err := continued(epoch[n-2].path)
			if unreachable(err) {
				return nil, err
			}
			torn = err == nil && !goesOn || !began(last.path) // damage in the piece before is no reason to drop this one
		}
		if torn || last.start.IsZero() && empty(last.path) {
			if err := os.Remove(last.path); err != nil {
				return nil, err
			}
			if epoch = epoch[:n-1]; len(epoch) == 0 {
				continue
			}
		}
		if ok, err := d.goOn(cfg, epoch); ok || err != nil {
			return nil, err
		}
		if err := d.abandon(epoch); err != nil {
			return nil, err
		}
	}
	return d.open(cfg), nil
}

// goOn opens the last piece to append to it.
func (d *Daemon) goOn(cfg *recorder.Config, epoch []piece) (bool, error) {
	if err := d.replay(epoch); unreachable(err) {
		return false, err
	} else if err != nil {
		d.failed("history", "the history can't be read", err)
		return false, nil
	}
	w, resume, err := timeline.Append(epoch[len(epoch)-1].path)
	if unreachable(err) {
		return false, err
	} else if err != nil {
		d.failed("history", "the history can't go on", err)
		return false, nil
	}
	if was := w.Header().Metadata.Extra[asked].Value; was != d.asks() {
		d.failed("history", "a new history begins", fmt.Errorf("found one of %s: want %s", was, d.asks()))
		return false, w.Close()
	}
	cfg.Same = len(cfg.Resources) == 0 // by default, what can be recorded may change
	cfg.Resources = nil                // those of the history, which the same words asked for
	cfg.Out, cfg.Resume, d.all = w, resume, epoch
	d.collect(nil)
	return true, nil
}

// unreachable reports whether a file is there and can't be read at the moment: what is in it may be sound.
func unreachable(err error) bool {
	var path *os.PathError
	return errors.As(err, &path) && !errors.Is(err, os.ErrNotExist)
}

// noRoom reports whether a disk was full.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// abandon ends the rolls of an epoch that nothing continues, makes their tapes, and removes its pieces. Those that can't be read
// are put aside.
func (d *Daemon) abandon(epoch []piece) error {
	d.queue = nil // of this epoch, if any: it is decided anew
	if err := d.replay(epoch); unreachable(err) {
		return err
	} else if err != nil {
		return d.putAside(epoch, err)
	}
	d.mu.Lock()
	d.decider.Interrupt(d.last)
	d.mu.Unlock()
	d.collect(nil)
	for len(d.queue) > 0 {
		if err := d.tapeOf(epoch, d.queue[0]); unreachable(err) || noRoom(err) {
			return err // it may be possible later
		} else if err != nil {
			return d.putAside(epoch, err)
		}
		d.queue = d.queue[1:]
	}
	for _, p := range epoch {
		if err := p.remove(); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a piece. One that is gone already is no error: what was asked for is so.
func (p *piece) remove() error {
	if err := os.Remove(p.path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// putAside keeps what can't be read, for people.
func (d *Daemon) putAside(epoch []piece, why error) error {
	d.queue = nil                                                      // what is in the pieces is no longer at hand
	aside := d.path("damaged", d.o.Clock.Now().UTC().Format(nameTime)) // names of pieces come again
	if err := os.MkdirAll(aside, 0o755); err != nil {
		return err
	}
	for _, p := range epoch {
		if err := os.Rename(p.path, filepath.Join(aside, filepath.Base(p.path))); err != nil {
			return err
		}
	}
	d.failed("history", "the history was put aside in "+aside, why)
	return nil
}

// stop makes the tapes of what is on, where that is wanted. One that stands by makes them too: another one may have led, and ended, a moment
// ago, and the next one may have begun to record after that.
func (d *Daemon) stop() error {
	if !d.o.FinishOnStop || len(d.all) == 0 {
		return nil
	}
	if !d.o.Leads() && d.o.Covered() {
		// Rolls that are over, whose tapes are another one's; but for those that only this one may have.
		d.queue = slices.DeleteFunc(d.queue, func(r trigger.Roll) bool { return d.tried[r.ID(d.cluster)].IsZero() })
	}
	d.mu.Lock()
	now := d.last
	d.decider.Interrupt(now)
	d.mu.Unlock()
	d.collect(nil)
	var failed error
	for _, r := range d.queue {
		failed = errors.Join(failed, d.tapeOf(d.all, r))
	}
	return failed
}

// failed counts and tells of an error that doesn't end the daemon.
func (d *Daemon) failed(kind, message string, err error) {
	d.set(func(s *Stats) { s.Errors[kind]++ })
	text := "no error"
	if err != nil {
		text = err.Error()
	}
	d.o.Log(Error, message, "error", text)
}
