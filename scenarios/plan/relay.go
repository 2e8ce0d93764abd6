package plan

import (
	"slices"

	"github.com/nodesim/nodesim/timeline"
)

// relay hands events to a goroutine of its own, in their order, so that a run is read on one processor while it is simulated on another.
type relay struct {
	full, empty chan *batch
	filling     *batch
	done        chan struct{} // closed when all is read; err is set before
	err         error
}

// batch is some events with copies of their bytes, which a simulation writes over.
type batch struct {
	events []timeline.Event
	bytes  []byte
}

// batchBytes is the size of a batch: as much as a processor's nearer caches hold.
const batchBytes = 128 << 10

func newRelay(read func(timeline.Event) error) *relay {
	const batches = 4
	r := &relay{full: make(chan *batch, batches), empty: make(chan *batch, batches), filling: &batch{}, done: make(chan struct{})}
	for range batches - 1 {
		r.empty <- &batch{}
	}
	go func() {
		defer close(r.done)
		for b := range r.full {
			for i := range b.events {
				if r.err == nil {
					r.err = read(b.events[i])
				}
			}
			clear(b.events)
			b.events, b.bytes = b.events[:0], b.bytes[:0]
			r.empty <- b
		}
	}()
	return r
}

// add copies an event. What reading it fails with, close returns.
func (r *relay) add(ev timeline.Event) error {
	b := r.filling
	ev.Object, ev.Patch, ev.Extra = b.keep(ev.Object), b.keep(ev.Patch), slices.Clone(ev.Extra)
	for i := range ev.Extra {
		ev.Extra[i].Value = b.keep(ev.Extra[i].Value)
	}
	if b.events = append(b.events, ev); len(b.bytes) >= batchBytes {
		r.full <- b
		r.filling = <-r.empty
	}
	return nil
}

// keep copies bytes; those that were kept before stay where they are, when there is no room for more.
func (b *batch) keep(bytes []byte) []byte {
	if bytes == nil {
		return nil
	}
	from := len(b.bytes)
	b.bytes = append(b.bytes, bytes...)
	return b.bytes[from:len(b.bytes):len(b.bytes)]
}

// close waits until all events are read, and returns the first error. It may be called again.
func (r *relay) close() error {
	if r.filling != nil {
		r.full <- r.filling
		close(r.full)
		r.filling = nil
	}
	<-r.done
	return r.err
}
