package daemon

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/timeline"
)

// rotateAgain is the pause after a piece that couldn't be begun.
const rotateAgain = 10 * time.Second

// tick does what is due: it ends rolls, begins pieces, makes tapes and removes what nobody needs. Its time is that of the tape, which the
// steps of a wall clock don't change.
func (d *Daemon) tick(rec *recorder.Recorder, at time.Duration) {
	now := d.all[len(d.all)-1].start.Add(at)
	d.mu.Lock()
	if now.After(d.last) {
		d.last = now
	}
	d.decider.Advance(d.last)
	d.mu.Unlock()
	open := d.collect(rec)
	long := d.long(now, open)
	current := d.all[len(d.all)-1]
	if current.state == 0 { // what a piece begins with says nothing about how much has happened
		current.state = sizeOf(current.path)
		d.all[len(d.all)-1] = current
	}
	due := len(long) > 0 || now.Sub(current.start) >= d.o.Before || sizeOf(current.path)-current.state >= max(d.o.MaxSize/4, 1<<20)
	for _, r := range d.queue {
		due = due || !r.Ended.Before(current.start)
	}
	if due && !d.rotate(rec, now) {
		if !now.Before(d.rotateAt) || len(d.queue)+len(long) == 0 {
			return
		}
		d.set(func(s *Stats) { s.TapesFail = true }) // those that are due wait for it
		return
	}
	for _, r := range long {
		d.mu.Lock()
		name, reason := d.decider.Cut(d.last, r)
		d.mu.Unlock()
		rec.Mark(name, reason)
	}
	if len(long) > 0 && rec.Sync() != nil { // a killed daemon would give another part the name of this one
		return
	}
	open = d.collect(rec)
	final := d.all[:len(d.all)-1]
	left := d.queue[:0:0]
	leads, made, failed := d.o.Leads(), false, false
	for _, r := range d.queue {
		switch {
		case !leads: // another daemon makes it, and has some time for that
			if !d.forgets(&r, now.Sub(r.Ended)) {
				left = append(left, r)
			}
			continue
		case now.Before(d.tapeAt):
			left = append(left, r)
			continue
		}
		if err := d.tapeOf(final, r); err != nil {
			failed = true
			id := r.ID(d.cluster)
			if d.tried[id].IsZero() {
				d.tried[id] = now
			}
			if now.Sub(d.tried[id]) < d.o.MaxAge {
				d.failed("tape", "a tape can't be written", err)
				left = append(left, r)
			} else {
				d.failed("tape", "a tape is given up: it couldn't be written since "+d.tried[id].UTC().Format(time.RFC3339), err)
			}
			continue
		}
		mark := tapedRollOf(&r, d.cluster, now)
		rec.Mark(markTaped, mark.reason())
		made = true
	}
	d.queue = left
	d.again(now, failed, leads)
	if made && rec.Sync() != nil { // a killed daemon would make a tape again, of what prune leaves
		return
	}
	d.prune(now, false)
	d.set(func(s *Stats) { s.Open = open })
}

// handOver is how long another daemon has at least, after a roll is over, until its tape is made by it: the leader may have to give up first.
const handOver = 2 * time.Minute

// forgets reports whether a daemon that stands by leaves the tape of a roll that is over to another one. It keeps those that only it may have:
// those that it couldn't make while it led.
func (d *Daemon) forgets(r *trigger.Roll, since time.Duration) bool {
	switch {
	case !d.o.Covered(), since < max(d.o.Before, handOver):
		return false
	case !d.tried[r.ID(d.cluster)].IsZero():
		return since >= d.o.MaxAge
	}
	return true
}

// again says when tapes that couldn't be made are tried again, and since when some can't.
func (d *Daemon) again(now time.Time, failed, leads bool) {
	switch {
	case failed:
		d.tapeFailures++
		d.tapeAt = now.Add(pauses.After(d.tapeFailures))
	case now.Before(d.tapeAt) && leads: // they wait
	default:
		d.tapeFailures, d.tapeAt = 0, time.Time{}
	}
	d.set(func(s *Stats) { s.TapesFail = d.tapeFailures > 0 })
}

// collect takes the rolls that have ended and returns those that are on.
func (d *Daemon) collect(rec *recorder.Recorder) []trigger.Roll {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.decider.Ended() {
		if !hasTape(d.taped, &r, d.cluster) {
			d.queue = append(d.queue, r)
		}
	}
	open := slices.DeleteFunc(d.decider.Open(), func(r trigger.Roll) bool { return hasTape(d.taped, &r, d.cluster) })
	for _, r := range open {
		if id := r.ID(d.cluster); !d.known[id] {
			d.known[id] = true
			message := "a roll began"
			if rec == nil || r.Trigger.Kind == trigger.Found {
				message = "a roll is on"
			}
			d.o.Log(Info, message, "group", r.Group, "part", r.Part, "trigger", string(r.Trigger.Kind), "reason", r.Trigger.Reason)
		}
	}
	d.stats.Open = open
	d.partial.Store(slices.ContainsFunc(open, func(r trigger.Roll) bool { return r.Found }))
	return open
}

// long are the rolls whose tape would be too long or too large.
func (d *Daemon) long(now time.Time, open []trigger.Roll) (long []trigger.Roll) {
	for _, r := range open {
		var files []string
		for _, p := range d.all[first(d.all, &r, d.o.Before):] {
			files = append(files, p.path)
		}
		if now.Sub(r.Began) >= d.o.MaxAge || len(files) > 1 && sizeOf(files...) >= d.o.MaxSize {
			long = append(long, r)
		}
	}
	return long
}

// rotate begins a piece. Where it can't, the recording continues in the last one.
func (d *Daemon) rotate(rec *recorder.Recorder, now time.Time) bool {
	if now.Before(d.rotateAt) {
		return false
	}
	next := d.all[len(d.all)-1]
	next.seq++
	next.state = 0
	next.path = d.path(historyDir, pieceName(next.epoch, next.seq))
	// What an earlier try has left: nothing was recorded there.
	if err := (&piece{path: next.path}).remove(); err != nil {
		d.rotateAt = now.Add(rotateAgain)
		d.failed("history", "a piece that was left can't be removed", err)
		return false
	}
	made := false
	err := rec.Rotate(func(h timeline.Header) (*timeline.Writer, error) {
		w, err := timeline.Create(next.path, h)
		made, next.start = err == nil, h.Metadata.Start.Time
		return w, err
	})
	if err == nil {
		d.all = append(d.all, next)
		return true
	}
	if errors.Is(err, recorder.ErrNotRecording) {
		return false
	}
	if made {
		if goesOn, unread := continued(d.all[len(d.all)-1].path); !goesOn && unread == nil {
			err = errors.Join(err, os.Remove(next.path))
		}
	}
	d.rotateAt = now.Add(rotateAgain)
	d.failed("history", "a piece of the history can't be begun", err)
	if noRoom(err) {
		d.prune(now, true)
	}
	return false
}

// tapeOf makes the tape of a roll.
func (d *Daemon) tapeOf(final []piece, r trigger.Roll) error {
	t, file, err := d.cutTape(final, r)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.taped = append(d.taped, tapedRollOf(&r, d.cluster, d.last))
	d.stats.Tapes[r.Outcome]++
	d.mu.Unlock()
	d.o.Log(Info, "a tape is finished", "tape", t.Name, "group", t.Group, "outcome", string(t.Outcome), "part", t.Part,
		"events", t.Events, "gaps", t.Gaps, "bytes", t.Bytes)
	d.o.Finished(t, file)
	return nil
}

// prune removes the pieces that no roll needs and that are older than what is kept; in want of room all that no roll needs.
func (d *Daemon) prune(now time.Time, want bool) {
	if len(d.all) == 0 {
		return
	}
	d.mu.Lock()
	rolls := append(d.decider.Open(), d.queue...)
	d.mu.Unlock()
	last := len(d.all) - 1
	keep := last // what a roll needs that begins now
	for keep > 0 && d.all[keep].start.After(now.Add(-d.o.Before)) {
		keep--
	}
	need := last
	for _, r := range rolls {
		need = min(need, first(d.all, &r, d.o.Before))
	}
	var files []string
	for _, p := range d.all[keep:] {
		files = append(files, p.path)
	}
	for keep < last && (want || sizeOf(files...) > d.o.MaxSize) {
		keep, files = keep+1, files[1:]
	}
	keep = min(keep, need)
	for _, p := range d.all[:keep] {
		if err := p.remove(); err != nil {
			d.failed("history", "an old piece of the history can't be removed", err)
			return
		}
		d.all = d.all[1:]
	}
}
