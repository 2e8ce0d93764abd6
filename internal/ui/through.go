package ui

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/nodesim/nodesim/timeline"
)

// Through reads a tape to its end, or after d.To, as fast as it can: while
// what was read is looked at, more is read. The error is the tape's, the Sink's
// or the context's; what comes before it was shown. Through owns r until it
// returns, and may leave it anywhere after d.To.
func Through(ctx context.Context, r *timeline.Reader, d *Driver) error {
	if r.Events() == 0 {
		d.View.follower.ReadPatches(r)
	}
	reading, cancel := context.WithCancel(ctx)
	batches := make(chan batch, 2) // see read
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(batches)
		read(reading, r, batches)
	})
	defer reader.Wait()
	defer cancel()
	for b := range batches {
		for i := range b.events {
			if done, err := one(d, b.events[i]); done || err != nil {
				return err
			}
		}
		if b.err != nil {
			return errors.Join(b.err, d.End())
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return d.End()
}

// Follow is Through for a tape that grows while it is read: everything is shown
// as soon as it comes. Reading can't be interrupted; between two events the
// context is obeyed.
func Follow(ctx context.Context, r *timeline.Reader, d *Driver) error {
	for ctx.Err() == nil {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return d.End()
		}
		if err != nil {
			return errors.Join(err, d.End())
		}
		if done, err := one(d, ev); done || err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// one shows one event; done says that it lies after what is to be shown.
func one(d *Driver, ev timeline.Event) (done bool, err error) {
	if ev.At > d.To {
		return true, d.cut()
	}
	return false, d.Event(ev)
}

// batch holds what was read at once. err comes after the events.
type batch struct {
	events []timeline.Event
	err    error
}

const batchSize = 128

// read reads a tape until it ends or proves bad, or the context ends. Room for four
// batches is used in turn: when one is shown, two wait and the next one is filled. A
// short tape needs less.
func read(ctx context.Context, r *timeline.Reader, to chan<- batch) {
	var room [4][]timeline.Event
	for turn := 0; ; turn = (turn + 1) % len(room) {
		if room[turn] == nil {
			room[turn] = make([]timeline.Event, 0, batchSize)
		}
		b := batch{events: room[turn]}
		for len(b.events) < batchSize && b.err == nil {
			var ev timeline.Event
			if ev, b.err = r.Next(); b.err == nil {
				b.events = append(b.events, ev)
			}
		}
		end := b.err != nil
		if errors.Is(b.err, io.EOF) {
			b.err = nil
		}
		select {
		case to <- b:
		case <-ctx.Done():
			return
		}
		if end {
			return
		}
	}
}
