package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nodesim/nodesim/internal/app/inspect"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios/calibrate"
	"github.com/nodesim/nodesim/timeline"
)

// reader reads a whole tape. prepare comes before and isn't counted.
type reader struct {
	name    string
	prepare func(tape []byte) ([]byte, error)
	read    func(tape []byte) error
	whole   bool // each line with the whole object
}

var readers = []reader{
	{name: "objects", whole: true, read: func(tape []byte) error { return each(tape, func(timeline.Event) error { return nil }) }},
	{name: "lines", read: func(tape []byte) error {
		return each(tape, func(timeline.Event) error { return nil }, timeline.Lines())
	}},
	{name: "format", whole: true, read: func(tape []byte) error {
		_, err := timeline.Format(io.Discard, bytes.NewReader(tape), timeline.StyleLines)
		return err
	}},
	{name: "player", whole: true, read: play},
	{name: "feed", read: follow},
	{name: "panel", whole: true, read: show},
	{name: "inspect", read: func(tape []byte) error {
		r, err := timeline.NewReader(bytes.NewReader(tape), timeline.Lines())
		if err == nil {
			_, err = inspect.Tape(r)
		}
		return err
	}},
	{name: "check", whole: true, read: func(tape []byte) error {
		r, err := timeline.NewReader(bytes.NewReader(tape))
		if err == nil {
			_, err = inspect.Check(r, inspect.CheckOptions(r.Header()))
		}
		return err
	}},
	{name: "analysis", read: func(tape []byte) error {
		r, err := timeline.NewReader(bytes.NewReader(tape))
		if err != nil {
			return err
		}
		_, err = analysis.Tape(r, analysis.Options{Series: true})
		if unmatched := (*analysis.UnmatchedError)(nil); errors.As(err, &unmatched) {
			return nil // a tape without nodes
		}
		return err
	}},
	{name: "calibrate", whole: true, read: func(tape []byte) error {
		r, err := timeline.NewReader(bytes.NewReader(tape))
		if err != nil {
			return err
		}
		var c calibrate.Calibration
		if err := c.Read("hostile", r); err != nil {
			return err
		}
		return c.Result().Text(io.Discard)
	}},
	{name: "import", prepare: dump, whole: true, read: func(tape []byte) error {
		_, err := recorder.Import(context.Background(), bytes.NewReader(tape), recorder.ImportOptions{
			Open: func(h timeline.Header) (*timeline.Writer, error) { return timeline.NewWriter(io.Discard, h) },
		})
		return err
	}},
}

// each hands every event of a tape to do.
func each(tape []byte, do func(timeline.Event) error, opts ...timeline.ReadOption) error {
	r, err := timeline.NewReader(bytes.NewReader(tape), opts...)
	if err != nil {
		return err
	}
	return drain(r, do)
}

func drain(r *timeline.Reader, do func(timeline.Event) error) error {
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(ev)
		}
		if err != nil {
			return err
		}
	}
}

// source is a tape in memory that is read again each time.
type source []byte

func (s source) Open() (timeline.Stream, error) { return timeline.NewReader(bytes.NewReader(s)) }

// play goes to the end of a tape, back to its beginning and to its end again.
func play(tape []byte) error {
	p, err := replay.NewPlayer(source(tape))
	if err != nil {
		return err
	}
	for _, at := range []time.Duration{replay.End, 0, replay.End} {
		err = errors.Join(err, p.Seek(context.Background(), at))
	}
	return errors.Join(err, p.Close())
}

// follow does what replay and test do: a feed over patches.
func follow(tape []byte) error {
	r, err := timeline.NewReader(bytes.NewReader(tape))
	if err != nil {
		return err
	}
	f := observe.New(r.Header(), observe.Options{})
	f.ReadPatches(r)
	return drain(r, func(ev timeline.Event) error {
		_, err := f.Apply(ev)
		return err
	})
}

// show is what a panel's View follows between its frames.
func show(tape []byte) error {
	r, err := timeline.NewReader(bytes.NewReader(tape))
	if err != nil {
		return err
	}
	v := ui.NewView(r.Header(), observe.Options{})
	err = drain(r, func(ev timeline.Event) error {
		_, err := v.Apply(ev)
		return err
	})
	_ = v.Frame()
	return err
}

// dump writes the objects of a tape as the raw watch events of each resource.
func dump(tape []byte) ([]byte, error) {
	var b bytes.Buffer
	r, err := timeline.NewReader(bytes.NewReader(tape))
	if err != nil {
		return nil, err
	}
	err = drain(r, func(ev timeline.Event) error {
		if !ev.Type.Object() {
			return nil
		}
		known, _ := r.Header().Lookup(ev.Resource)
		var o map[string]any
		if err := json.Unmarshal(ev.Object, &o); err != nil {
			return err
		}
		o["kind"], o["apiVersion"] = known.Kind, known.APIVersion()
		meta, _ := o["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			o["metadata"] = meta
		}
		meta["name"], meta["uid"], meta["resourceVersion"] = ev.Name, "uid-"+ev.Name, ev.RV
		meta["creationTimestamp"] = "2026-11-20T22:21:09Z"
		if ev.Namespace != "" {
			meta["namespace"] = ev.Namespace
		}
		at := r.Header().Metadata.Start.Add(ev.At).Format("2006-01-02T15:04:05Z")
		return json.NewEncoder(&b).Encode(map[string]any{"t": at, "resource": known.Resource, "event": map[string]any{"type": ev.Type, "object": o}})
	})
	if err != nil {
		return nil, fmt.Errorf("dump: %w", err)
	}
	return b.Bytes(), nil
}
