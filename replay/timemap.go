package replay

import (
	"sort"
	"time"
)

// TimeMap says when what is on the tape is shown. There is one for all
// adapters, so that markers, seeks and ages agree.
//
// Shown time is tape time with idle stretches cut: where nothing happens for
// longer than the limit, what lies beyond the limit takes no time. A SYNC
// doesn't count as something that happens. Wall time is shown time divided by
// the speed, from an anchor on.
//
// A TimeMap is a value: the map as it was when the player gave it away. It
// knows the stretches that have been read; beyond them it cuts nothing.
type TimeMap struct {
	limit time.Duration // 0 for none
	cuts  []cut
	last  time.Duration // of the last event that isn't a SYNC
	read  time.Duration // how far the map goes

	speed  Speed
	paused bool
	wall   time.Time // when shown was shown
	shown  time.Duration
}

// cut takes tape time out. Cuts are in order and don't touch.
type cut struct {
	from, to time.Duration
	before   time.Duration // sum of the cuts before
}

// observe extends the map by the next event of the tape, and reports whether it takes time out for that.
func (m *TimeMap) observe(at time.Duration, quiet bool) (cuts bool) {
	if at < m.read {
		return false // read before, then rewound
	}
	m.read = at
	if cuts = m.limit > 0 && at-m.last > m.limit; cuts {
		from := m.last + m.limit
		if n := len(m.cuts); n > 0 && m.cuts[n-1].from == from {
			// A copy that was given away must not see the change.
			grown := append([]cut(nil), m.cuts[n-1])
			grown[0].to = at
			m.cuts = append(m.cuts[:n-1:n-1], grown...)
		} else {
			var sum time.Duration
			if n > 0 {
				sum = m.cuts[n-1].before + m.cuts[n-1].to - m.cuts[n-1].from
			}
			m.cuts = append(m.cuts, cut{from, at, sum})
		}
	}
	if !quiet {
		m.last = at
	}
	return cuts
}

// Shown returns the shown time of a position.
func (m TimeMap) Shown(at time.Duration) time.Duration {
	i := sort.Search(len(m.cuts), func(i int) bool { return m.cuts[i].from >= at })
	if i == 0 {
		return at
	}
	c := m.cuts[i-1]
	return at - c.before - (min(at, c.to) - c.from)
}

// Tape returns the position that is shown at a shown time; at the time of a
// cut it is the end of the cut.
func (m TimeMap) Tape(shown time.Duration) time.Duration {
	i := sort.Search(len(m.cuts), func(i int) bool { return m.cuts[i].from-m.cuts[i].before > shown })
	if i == 0 {
		return shown
	}
	c := m.cuts[i-1]
	return shown + c.before + c.to - c.from
}

// Wall returns when a position is, or was, shown, at the present pace. At
// maximum speed and while paused that is the anchor's time for every position.
func (m TimeMap) Wall(at time.Duration) time.Time {
	if m.paused || m.speed.max() || m.speed == 0 {
		return m.wall
	}
	return m.wall.Add(scale(m.Shown(at)-m.shown, 1/float64(m.speed)))
}

// now returns the shown time at a wall time.
func (m TimeMap) now(wall time.Time) time.Duration {
	if m.paused || m.speed.max() {
		return m.shown
	}
	return m.shown + scale(wall.Sub(m.wall), float64(m.speed))
}

// scale multiplies without leaving the range of a Duration.
func scale(d time.Duration, f float64) time.Duration {
	x := float64(d) * f
	switch {
	case x >= float64(End):
		return End
	case x <= -float64(End):
		return -End
	}
	return time.Duration(x)
}
