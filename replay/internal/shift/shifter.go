package shift

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Shifter moves times. It may be used by many goroutines. Its memory grows with
// the different times that it has seen, a few dozen bytes each.
type Shifter struct {
	start  time.Time
	toWall func(time.Duration) time.Time
	now    func() time.Time

	rewound atomic.Bool // what is known is of an earlier pass

	mu sync.Mutex
	// way are times of the tape, in order, and what they came out as, in order
	// too. What lies between two of them comes out between them.
	way []point
	// early are times that came out before they were known to be due, by position.
	early map[time.Duration]time.Time
}

type point struct {
	at   time.Duration
	wall time.Time
}

// New returns a Shifter for a tape whose clock was at zero at start. toWall
// says when a position is, or was, shown, at the present pace
// ([replay.TimeMap.Wall] of the Player's present TimeMap); now is the time. A
// tape without a start (the zero Time) says nothing about the times in its
// objects: then only what lies in the future is moved, to the present.
func New(start time.Time, toWall func(at time.Duration) time.Time, now func() time.Time) *Shifter {
	return &Shifter{start: start, toWall: toWall, now: now, early: map[time.Duration]time.Time{}}
}

// Object returns the object, as canonical JSON, with its times moved. A time
// from before the tape's start keeps its distance from it, whatever the speed: a
// node that was a week old is a week old. The error is that of JSON that is none.
func (s *Shifter) Object(r timeline.Resource, raw []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rewound.Swap(false) {
		s.way = nil
		clear(s.early)
	}
	out, err := timeline.MoveTimes(r, raw, s.move)
	if err != nil {
		return nil, fmt.Errorf("shift the times of an object of %s: %w", r, err)
	}
	return out, nil
}

// Rewind says that the tape has gone back: times come out anew from then on. It doesn't wait.
func (s *Shifter) Rewind() { s.rewound.Store(true) }

// farthest bounds how far from the tape's start a time can be told from another;
// beyond it, differences of times don't fit into a Duration.
const farthest = 200 * 365 * 24 * time.Hour

func (s *Shifter) move(t time.Time) time.Time {
	if s.start.IsZero() {
		if key := t.Sub(time.Unix(0, 0)); t.After(s.now()) || s.early[key] != (time.Time{}) {
			return s.settle(key, t)
		}
		return t
	}
	switch at := t.Sub(s.start); {
	case at < -farthest:
		return t // long ago as it is
	case at <= 0:
		return s.wall(0).Add(at)
	default:
		return s.wall(min(at, farthest))
	}
}

// wall returns what a position on the tape comes out as.
func (s *Shifter) wall(at time.Duration) time.Time {
	if len(s.way) == 0 {
		s.way = append(s.way, point{0, earlier(s.toWall(0), s.now())})
	}
	if w, ok := s.early[at]; ok {
		return w
	}
	last := s.way[len(s.way)-1]
	if at <= last.at {
		return s.between(at)
	}
	wall := s.toWall(at)
	// At maximum speed, and while the tape rests, every position is shown
	// at one moment: nothing tells whether this one has been reached.
	if still := s.toWall(at + time.Second).Equal(wall); still || wall.After(s.now()) {
		return s.settle(at, wall)
	}
	if wall.Before(last.wall) {
		wall = last.wall
	}
	s.way = append(s.way, point{at, wall})
	return wall
}

// between is for a position that the way has passed.
func (s *Shifter) between(at time.Duration) time.Time {
	i := sort.Search(len(s.way), func(i int) bool { return s.way[i].at >= at })
	to := s.way[i]
	if to.at == at {
		return to.wall
	}
	from := s.way[i-1]
	part := float64(at-from.at) / float64(to.at-from.at)
	return from.wall.Add(time.Duration(part * float64(to.wall.Sub(from.wall))))
}

// settle is for a time that may not be due: it stays what it is now.
func (s *Shifter) settle(key time.Duration, wall time.Time) time.Time {
	if w, ok := s.early[key]; ok {
		return w
	}
	wall = earlier(wall, s.now())
	s.early[key] = wall
	return wall
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
