package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// Options say what to record, and where to.
type Options struct {
	// Config is complete but for Open, Out, Resume, Stop and Warn.
	Config recorder.Config
	// File is the tape. It must not exist, unless Append is set; then it may.
	File   string
	Append bool
	// Named says that Config.Name was asked for: a tape of another name isn't continued.
	Named bool
	// UntilComplete ends the recording when the roll is over.
	UntilComplete bool
	// Status receives the progress; nil for none.
	Status *Status
}

// Run records until the recorder ends. Where the error is not nil, the Summary
// says how far it came; a zero Summary means that nothing was recorded.
func Run(ctx context.Context, o Options) (recorder.Summary, error) {
	cfg := o.Config
	cfg.GapAtEnd = true
	cfg.Warn, cfg.Waiting = o.Status.Warn, o.Status.Wait
	until := &completion{on: o.UntilComplete, warn: cfg.Warn}
	if until.on {
		cfg.Stop = until.over
	}
	info, err := os.Stat(o.File)
	if appending := o.Append && err == nil; appending {
		if !info.Mode().IsRegular() {
			return recorder.Summary{}, fmt.Errorf("append to timeline %s: found a %s, want a regular file", o.File, kindOf(info.Mode()))
		}
		return o.resume(ctx, cfg, until)
	}
	if err := creatable(o.File, err); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w, or --append to continue it", err)
		}
		return recorder.Summary{}, err
	}
	release := func() error { return nil }
	defer func() { _ = release() }() // it was opened for its lock alone
	cfg.Open = func(h timeline.Header) (*timeline.Writer, error) {
		if err := until.start(&h); err != nil {
			return nil, err
		}
		h.Source.Program = version.Program()
		w, err := timeline.Create(o.File, h)
		if err != nil {
			return nil, err
		}
		if release, err = Lock(o.File); err != nil {
			release = func() error { return nil }
			return nil, errors.Join(fmt.Errorf("create timeline: %w", err), w.Close())
		}
		return w, nil
	}
	r, err := recorder.New(cfg)
	if err != nil {
		return recorder.Summary{}, err
	}
	return o.run(ctx, r)
}

// kindOf names what is no regular file.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeDevice != 0:
		return "device"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	}
	return "special file"
}

// Creatable finds out whether a tape of that name can be made: it must not exist,
// and its folder has to.
func Creatable(name string) error {
	_, err := os.Stat(name)
	return creatable(name, err)
}

// creatable finds out, before a cluster is asked anything, whether the tape can
// be made; stat is the error of os.Stat.
func creatable(name string, stat error) error {
	switch {
	case stat == nil:
		return fmt.Errorf("create timeline %s: %w: want another name", name, fs.ErrExist)
	case !errors.Is(stat, fs.ErrNotExist):
		return fmt.Errorf("create timeline: %w", stat)
	}
	if err := atomicfile.Folder(name); err != nil {
		return fmt.Errorf("create timeline %w", err)
	}
	return nil
}

// run records, and shows how it goes.
func (o Options) run(ctx context.Context, r *recorder.Recorder) (recorder.Summary, error) {
	showing, cancel := context.WithCancel(ctx)
	var status sync.WaitGroup
	status.Go(func() { o.Status.follow(showing, r.Stats) })
	defer status.Wait()
	defer cancel()
	return r.Run(ctx)
}
