package recorder

import (
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// EndContinued is the reason of an END that [Recorder.Rotate] writes: the next tape begins at that moment, with that state.
const EndContinued = "continued"

// ErrNotRecording says that there is no tape to go on from: the initial lists aren't written yet, or the recording is over.
var ErrNotRecording = errors.New("rotate: the recording hasn't begun, or is over")

// Rotate ends the tape and continues in another one, which open makes, without a pause: the watches stay open,
// and what the cluster's state was is the beginning of the new tape, at 0s. Its header is that of the first, with
// its own start; the first one ends at that very moment. Reading of the watches waits meanwhile.
//
// Where the new tape can't be made or written, Rotate returns why, the new one is closed, and the recording
// continues in the old one. A first tape that can't be ended ends the recording as any tape does that can't be written.
func (r *Recorder) Rotate(open func(timeline.Header) (*timeline.Writer, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sequencer == nil || r.listing || r.ended {
		return ErrNotRecording
	}
	at := r.now()
	header := *r.out.Header()
	header.Metadata.Start = timeline.Time{Time: header.Metadata.Start.Add(at)}
	next, err := open(header)
	if err != nil {
		return err
	}
	if err := r.out.Continue(next, r.sequencer.carried()...); err != nil {
		return errors.Join(err, next.Close())
	}
	err = r.out.Write(timeline.Event{At: at, Type: timeline.End, Reason: EndContinued})
	if err == nil {
		err = r.out.Sync()
	}
	if err = errors.Join(err, r.out.Close()); err != nil {
		err = fmt.Errorf("rotate: %w", err)
		r.out = next // which finish closes
		r.fail(&tapeError{err})
		return err
	}
	r.out, r.sequencer.tape = next, next
	r.start, r.last, r.unsynced = r.start.Add(at), 0, false
	r.sequencer.rebase(at)
	return nil
}

// carried are the events that a tape begins with after the state of the one before it. A resource whose list isn't read
// yet has no SYNC there, and one with a gap has its GAP again.
func (l *sequencer) carried() (events []timeline.Event) {
	for _, t := range l.states {
		if t.listed && t.settled != "" {
			events = append(events, timeline.Event{Type: timeline.Sync, Resource: t.key, RV: t.settled})
		}
		if t.gap {
			events = append(events, timeline.Event{Type: timeline.Gap, Resource: t.key, RV: t.read, Reason: t.why})
		}
	}
	return events
}

// rebase moves what is kept of positions to a tape that begins at the given one.
func (l *sequencer) rebase(at time.Duration) {
	for _, t := range l.states {
		t.synced = 0
		t.written = highest(t.settled, t.written)
		t.stats.Last = max(t.stats.Last-at, 0)
		for i := range t.waiting {
			t.waiting[i].until -= at
		}
	}
}
