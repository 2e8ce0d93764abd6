package convert

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// ForeignTimes map the wall times that others than the simulation wrote into objects to moments here. No two have one
// moment, and none has one of a whole second: those are the simulation's own. There are as many as seconds in which
// others wrote something. A ForeignTimes is for one goroutine; nil keeps nothing.
type ForeignTimes struct {
	moments map[int64]kube.Instant // by seconds of the wall
	walls   map[kube.Instant]time.Time
}

// NewForeignTimes returns an empty one.
func NewForeignTimes() *ForeignTimes {
	return &ForeignTimes{moments: map[int64]kube.Instant{}, walls: map[kube.Instant]time.Time{}}
}

// keep returns the moment of a wall time: the one it had before, or one at about i. A moment that it had before it came
// may turn out to be after latest, when the pace has lost time since: what is past is given another.
func (f *ForeignTimes) keep(t time.Time, i, latest kube.Instant) kube.Instant {
	known, is := f.moments[t.Unix()]
	if is && (known.Second() <= latest || i > latest) {
		return known
	}
	i = i.Second() + 1
	for taken := true; taken; {
		if _, taken = f.walls[i]; taken {
			i++
		}
	}
	f.moments[t.Unix()], f.walls[i] = i, t.Truncate(time.Second)
	return i
}

// wall returns the wall time of a moment that came from outside.
func (f *ForeignTimes) wall(i kube.Instant) (t time.Time, is bool) {
	if f == nil {
		return time.Time{}, false
	}
	t, is = f.walls[i]
	return t, is
}
