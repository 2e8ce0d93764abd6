package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"time"
)

// Resume tells a recorder the end state of a tape that it appends to.
type Resume struct {
	// At is the time of the last event that was kept.
	At time.Duration
	// Dropped says what was cut off in a few words, or is "".
	Dropped string
	// RV is, for the key of each resource on the tape, the version to watch
	// on from: that of its last event or SYNC. It is missing where the tape
	// holds no whole list, or ends between a GAP and its SYNC: then only
	// listing again helps, after a GAP.
	RV map[string]string

	alive  *objects
	header *Header
}

// Objects ranges over the objects alive at the end, as ADDED events of their
// last state, in the order of resource, namespace and name.
func (r *Resume) Objects() iter.Seq[Event] {
	keys := slices.Sorted(maps.Keys(r.alive.m))
	events := make([]Event, 0, len(keys))
	for _, k := range keys {
		o := r.alive.m[k]
		res, _ := r.header.Lookup(o.resource)
		id := identity{namespace: o.namespace, name: o.name, uid: o.uid, types: o.types}
		body := r.alive.state(o)
		whole, _ := join(opening(res, id, body), body, o.rv)
		events = append(events, Event{
			At: r.At, Type: Added, Resource: o.resource, Namespace: o.namespace, Name: o.name,
			UID: o.uid, RV: o.rv, Object: whole,
		})
	}
	return slices.Values(events)
}

// Append opens a tape to continue with it. It reads the tape to the end and
// returns a Writer that is after the last whole event, with the tape's own
// header, and where it stands. What was torn, the END, and, of a tape that isn't
// compressed, GAPs with nothing after them are cut off with the first Write:
// closed before that, the tape is as it was. A tape with a bad line is refused with the *Error of the Reader, and not touched.
func Append(name string) (*Writer, *Resume, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("append to timeline: %w", err)
	}
	w, resume, err := appendTo(f, name)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("append to timeline: %w", err), f.Close())
	}
	return w, resume, nil
}

func appendTo(f *os.File, name string) (*Writer, *Resume, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, nil, err
	}
	c, err := codecIn(f)
	if err != nil {
		return nil, nil, err
	}
	if want := codecOf(name); want != c {
		return nil, nil, fmt.Errorf("%s: its content is %s, its name says %s: rename it", name, c.name(), want.name())
	}
	whole := size
	var last frame
	if c != plainText {
		if last, err = lastFrame(f, size, c); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		whole = last.end
	}
	p, err := readWhole(io.NewSectionReader(f, 0, whole), name, c == plainText)
	if err != nil {
		return nil, nil, err
	}
	cut, rest := p.end, []byte(nil)
	if c != plainText {
		if p.end < last.textStart { // what is cut off would begin in a frame before it
			return nil, nil, fmt.Errorf("%s: found END, or a torn line, before the last compressed frame: decompress the tape and compress it again", name)
		}
		cut, rest = last.cut(p.end)
		if whole < size {
			p.resume.Dropped = "a last frame without its end"
		}
	}
	out, err := sinkBehind(f, cut, c, rest)
	if err != nil {
		return nil, nil, err
	}
	w := newWriter(out, *p.header)
	w.alive, w.events, w.last, w.resumed = p.resume.alive, p.events, Event{At: p.resume.At}, true
	return w, p.resume, nil
}

// wholeTape holds what reading a tape to its end has shown.
type wholeTape struct {
	header *Header
	resume *Resume
	events int   // without END
	end    int64 // offset in the text after the last event that is kept
}

// readWhole reads a tape to its end; open leaves out the GAPs that nothing follows.
func readWhole(rd io.Reader, name string, open bool) (*wholeTape, error) {
	r, err := NewReader(rd, Name(name))
	if err != nil {
		return nil, err
	}
	p := &wholeTape{header: r.header, end: r.docs.end()}
	synced, listing := map[string]string{}, map[string]bool{}
	var gaps []string // resources of GAPs that nothing has followed so far
	var at time.Duration
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if ev.Type == End {
			continue // nothing may follow it but what is torn
		}
		if open && ev.Type == Gap {
			gaps = append(gaps, ev.Resource)
			continue
		}
		for _, resource := range gaps {
			listing[resource] = true
		}
		p.events += len(gaps) + 1
		p.end, at, gaps = r.docs.end(), ev.At, nil
		switch {
		case ev.Type == Sync:
			synced[ev.Resource], listing[ev.Resource] = ev.RV, false
		case ev.Type == Gap:
			listing[ev.Resource] = true
		case ev.Type.Object() && ev.RV != "" && synced[ev.Resource] != "":
			synced[ev.Resource] = ev.RV
		}
	}
	for key := range listing {
		if listing[key] {
			delete(synced, key)
		}
	}
	for _, o := range r.alive.m { // the Writer's way of keeping them
		body := o.appendBody(nil)
		kind, version := ownTypes(body)
		o.types = kind || version
		r.alive.keep(o, body)
		o.whole, o.opening = nil, nil
	}
	p.resume = &Resume{At: at, Dropped: r.docs.torn, RV: synced, alive: r.alive, header: r.header}
	return p, r.Close()
}

// codecIn tells by the first bytes how a file is compressed.
func codecIn(f *os.File) (codec, error) {
	var start [4]byte
	n, err := f.ReadAt(start[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return plainText, err
	}
	switch {
	case bytes.HasPrefix(start[:n], gzipMagic):
		return gzipped, nil
	case bytes.HasPrefix(start[:n], zstdMagic):
		return zstandard, nil
	}
	return plainText, nil
}
