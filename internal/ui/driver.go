package ui

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// A Sink takes what a tape shows, in its order.
type Sink interface {
	// Entries takes entries of the verbose feed. The slice is good until it
	// returns.
	Entries([]noderoll.Entry) error
	// Moment is called when a position of the tape is over at which the feed had
	// something to say. It may look at the View.
	Moment(*View) error
}

// Driver hands the events of a tape to a View, and what comes of it to a Sink.
// It is for one goroutine.
type Driver struct {
	// From and To bound what the Sink gets to see; the View sees everything.
	From, To time.Duration
	View     *View
	Sink     Sink
	shown    bool // the present moment has shown something
	any      bool // a moment has come
	mute     bool // what comes was shown before: the tape went back

	landmarks    atomic.Int64
	telling      sync.Mutex       // of lastLandmark, which is read from other goroutines
	lastLandmark []noderoll.Entry // the last entries that landmarks counts, fewer than twice keptLandmarks
}

// Landmarks counts the entries that the feed has shown to which a step leads (see
// [Landmark]), again what it showed again after the tape went back. It may be called
// from any goroutine.
func (d *Driver) Landmarks() int { return int(d.landmarks.Load()) }

// keptLandmarks is how many lines LandmarksSince can return.
const keptLandmarks = 100

// LandmarksSince returns the entries since Landmarks was n; of more than a hundred
// the last ones. It may be called from any goroutine.
func (d *Driver) LandmarksSince(n int) []noderoll.Entry {
	d.telling.Lock()
	defer d.telling.Unlock()
	n = min(max(d.Landmarks()-n, 0), len(d.lastLandmark), keptLandmarks)
	return slices.Clone(d.lastLandmark[len(d.lastLandmark)-n:])
}

// landmark counts an entry and keeps it.
func (d *Driver) landmark(e noderoll.Entry) {
	d.telling.Lock()
	defer d.telling.Unlock()
	d.landmarks.Add(1)
	if len(d.lastLandmark) == 2*keptLandmarks {
		d.lastLandmark = slices.Delete(d.lastLandmark, 0, keptLandmarks)
	}
	d.lastLandmark = append(d.lastLandmark, e)
}

// Rewind goes back to where the first n events of a tape have been applied, and
// keeps silent until Arrived: what was shown once on the way isn't shown again.
func (d *Driver) Rewind(src timeline.Source, n int) error {
	d.View.reset()
	d.shown, d.mute = false, true
	return replay.Prefix(src, n, d.Event)
}

// Arrived ends the silence of Rewind.
func (d *Driver) Arrived() {
	if d.mute { // else what was shown on the way is meant
		d.shown = false
	}
	d.mute = false
}

// NewDriver returns a Driver that shows all of a tape.
func NewDriver(v *View, s Sink) *Driver { return &Driver{View: v, Sink: s, To: replay.End} }

// Event takes the tape's next event.
func (d *Driver) Event(ev timeline.Event) error {
	if ev.At > d.View.At() {
		if err := d.due(ev.At - 1); err != nil {
			return err
		}
		if err := d.over(); err != nil {
			return err
		}
	}
	entries, err := d.View.Apply(ev)
	if err := d.show(entries); err != nil {
		return err
	}
	return err
}

// Advance lets the tape's time pass.
func (d *Driver) Advance(at time.Duration) error {
	if at <= d.View.At() {
		return nil
	}
	if err := d.due(at); err != nil {
		return err
	}
	return d.pass(at)
}

// due shows, each at a moment of its own, what shows up to a position although
// no event comes. However often a caller looks, it is the same.
func (d *Driver) due(to time.Duration) error {
	for {
		at, ok := d.View.NextDeadline()
		if !ok || at > to {
			return nil
		}
		if err := d.pass(at); err != nil {
			return err
		}
	}
}

// pass moves on to a position.
func (d *Driver) pass(at time.Duration) error {
	if at > d.View.At() {
		if err := d.over(); err != nil {
			return err
		}
	}
	return d.show(d.View.Advance(at))
}

// End is called after the last event. Where nodes rest and nothing has
// happened, the end is a moment: how they are is something to show.
func (d *Driver) End() error {
	if err := d.over(); err != nil || d.any || d.Sink == nil {
		return err
	}
	if s := d.View.Frame().Snapshot; s.Total+len(s.Pods) == 0 {
		return nil
	}
	d.any = true
	return d.Sink.Moment(d.View)
}

// cut is End where the tape continues after To: what falls due between the last
// event and To belongs to the part.
func (d *Driver) cut() error {
	if err := d.Advance(d.To); err != nil {
		return err
	}
	return d.End()
}

func (d *Driver) show(entries []noderoll.Entry) error {
	if d.mute {
		return nil
	}
	for _, e := range entries {
		if Landmark(e.Kind) {
			d.landmark(e)
		}
	}
	for len(entries) > 0 && entries[0].At < d.From {
		entries = entries[1:]
	}
	for len(entries) > 0 && entries[len(entries)-1].At > d.To {
		entries = entries[:len(entries)-1]
	}
	if len(entries) == 0 || d.Sink == nil {
		return nil
	}
	for _, e := range entries {
		d.shown = d.shown || d.View.Verbose || e.Kind.Default()
	}
	return d.Sink.Entries(entries)
}

func (d *Driver) over() error {
	if !d.shown || d.Sink == nil {
		return nil
	}
	d.shown, d.any = false, true
	return d.Sink.Moment(d.View)
}
