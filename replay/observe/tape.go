package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// Feed reads a tape to its end and hands on the entries of its feed, in their
// order. It ends with the first error: of the tape, or of emit.
func Feed(r *timeline.Reader, o Options, emit func(noderoll.Entry) error) error {
	f := New(r.Header(), o)
	if r.Events() == 0 {
		f.ReadPatches(r)
	}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		entries, err := f.Apply(ev)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := emit(e); err != nil {
				return err
			}
		}
	}
}

// Frame is a snapshot with its position on the tape.
type Frame struct {
	At       time.Duration
	Snapshot noderoll.Snapshot
}

// Frames reads a tape to its end and hands on one frame for every event that
// touches a node, the first one after the initial list of nodes: what a
// [noderoll.Tracker] must see to tell every transition. A frame shows what
// else has changed at the same moment, up to the next such event. Nothing
// inside of a block gives a frame. A last frame comes after the last event
// where that changed anything.
func Frames(r timeline.Stream, o Options, emit func(Frame) error) error {
	return New(r.Header(), o).frames(r, emit)
}

func (f *Follower) frames(r timeline.Stream, emit func(Frame) error) error {
	if reader, ok := r.(*timeline.Reader); ok && reader.Events() == 0 {
		f.ReadPatches(reader)
	}
	due, stale := false, false
	frame := func() error {
		due, stale = false, false
		s, err := f.Snapshot(context.Background()) // nothing here waits
		if err != nil {
			return err
		}
		return emit(Frame{At: f.At(), Snapshot: s.Clone()})
	}
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			if f.settle(nil); due || stale {
				return frame()
			}
			return nil
		}
		if err != nil {
			return err
		}
		if len(f.listing) > 0 && ev.At > f.At() {
			due = due || f.listsNodes()
			f.settle(nil)
		}
		observes := f.observes(&ev)
		if due && (observes || ev.At > f.At()) {
			if err := frame(); err != nil {
				return err
			}
		}
		if _, err := f.Apply(ev); err != nil {
			return err
		}
		due, stale = due || observes, true
	}
}

// Script returns an observer that plays a whole tape: the snapshots of its
// [Frames], of the nodes that the header's scope names. A scope that no node of
// the tape matches is an error.
func Script(src timeline.Source) (*noderoll.ScriptedObserver, error) {
	r, err := src.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	h := r.Header()
	o, err := OptionsFor(h, "", "", "")
	if err != nil {
		return nil, fmt.Errorf("tape %q: %w", h.Metadata.Name, err)
	}
	f := New(h, o)
	var snapshots []noderoll.Snapshot
	err = f.frames(r, func(frame Frame) error {
		snapshots = append(snapshots, frame.Snapshot)
		return nil
	})
	if err == nil {
		err = f.Unmatched()
	}
	if err != nil {
		return nil, fmt.Errorf("tape %q: %w", h.Metadata.Name, err)
	}
	return noderoll.NewScriptedObserver(snapshots), nil
}
