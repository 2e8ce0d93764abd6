package replay

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Status says where a Player is.
type Status struct {
	// Position is the tape's time now: it moves on between events.
	Position time.Duration
	// Event is the position of the last event, Number how many were applied.
	Event  time.Duration
	Number int
	// Shown is Position with idle stretches cut.
	Shown   time.Duration
	Speed   Speed
	Paused  bool
	Running bool // inside Run
	Ended   bool // nothing comes any more
	Rewinds int
	Err     error // why the tape can't continue
}

// Status returns where the Player is now.
func (p *Player) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status(p.position(p.clock.Now()))
}

func (p *Player) status(at time.Duration) Status {
	return Status{
		Position: at, Event: p.at, Number: p.number, Shown: p.pace.Shown(at),
		Speed: p.pace.speed, Paused: p.pace.paused, Running: p.running,
		Ended: p.ended, Rewinds: p.rewinds, Err: p.err,
	}
}

// Position is the tape's time now: what ages objects.
func (p *Player) Position() time.Duration { return p.Status().Position }

// TimeMap returns the map of time as it is now. While Seek is on its way it is the one from before: nobody waits for it.
func (p *Player) TimeMap() TimeMap { return *p.shown.Load() }

// publish has TimeMap return the map as it is now.
func (p *Player) publish() {
	m := p.pace
	m.cuts = m.cuts[:len(m.cuts):len(m.cuts)]
	m.paused = m.paused || !p.running
	p.shown.Store(&m)
}

// Marker is a MARK of the tape.
type Marker struct {
	Name   string
	At     time.Duration
	Number int // of the event, counted from one
}

// Markers returns the markers that the Player has come by so far, wherever it
// is now; Summary finds all of a tape.
func (p *Player) Markers() []Marker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.marks)
}

// NoteKind says what a Note is about.
type NoteKind int

const (
	// Applied says that an event of the tape was applied, Note.Event.
	Applied NoteKind = iota
	// Rewound says that the cluster went back; Applied notes continue from Position.
	Rewound
	// Moved says that a Seek or a loop has arrived.
	Moved
	// Paused says that the tape rests until Resumed.
	Paused
	// Resumed says that the tape continues.
	Resumed
	// SpeedChanged says that it continues at another speed.
	SpeedChanged
	// Ended says that Run has come to the end of the tape.
	Ended
)

// Note tells a subscriber what happened.
type Note struct {
	Kind  NoteKind
	Event timeline.Event
	// Changed says that a client can see something new; see [Cluster.Apply].
	Changed bool
	// Position and Number are those of the last event that was applied.
	Position time.Duration
	Number   int
	// Rewinds counts the rewinds so far.
	Rewinds int
}

type subscription struct{ tell func(Note) }

// Subscribe calls tell after everything that happens, in order, one call at a
// time, within the Player's own work: it is quick, and it must not call the
// Player, whose Cluster it may list. When cancel has returned, tell isn't
// called any more; tell must not call cancel.
func (p *Player) Subscribe(tell func(Note)) (cancel func()) {
	s := &subscription{tell}
	p.mu.Lock()
	p.subs = append(p.subs, s)
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.subs = slices.DeleteFunc(slices.Clone(p.subs), func(o *subscription) bool { return o == s })
	}
}

func (p *Player) note(n Note) {
	if len(p.subs) == 0 {
		return
	}
	n.Position, n.Number, n.Rewinds = p.at, p.number, p.rewinds
	for _, s := range p.subs {
		s.tell(n)
	}
}
