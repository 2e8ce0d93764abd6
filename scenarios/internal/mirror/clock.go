package mirror

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Clock is the map between scenario time and wall time: Scenario and Wall are the
// same moment, and Speed says how much faster the scenario goes on from there. What
// was before that moment has the speed of the wall.
//
// Where the pace isn't even, because a machine slept or the server hung, Paced is
// the wall time of a moment behind Scenario, and Latest where both are now.
type Clock struct {
	Scenario api.Instant
	Wall     time.Time
	Speed    float64
	Paced    func(since time.Duration) time.Time
	Latest   func() (api.Instant, time.Time)
}

// Time is the wall time of a moment.
func (c Clock) Time(i api.Instant) time.Time {
	d := i.Sub(c.Scenario)
	if d > 0 && c.Paced != nil {
		return c.Paced(d)
	}
	if d > 0 {
		d = time.Duration(float64(d) / c.speed())
	}
	return c.Wall.Add(d)
}

// Instant is the moment of a wall time.
func (c Clock) Instant(t time.Time) api.Instant {
	d := t.Sub(c.Wall)
	if d > 0 && c.Paced != nil && c.Latest != nil {
		i, now := c.Latest()
		return max(c.Scenario, i.Add(time.Duration(float64(t.Sub(now))*c.speed())))
	}
	if d > 0 {
		d = time.Duration(float64(d) * c.speed())
	}
	return c.Scenario.Add(d)
}

func (c Clock) speed() float64 {
	if c.Speed > 0 {
		return c.Speed
	}
	return 1
}

// move turns a scenario time that stands in an object into a wall time.
func (c Clock) move(t *metav1.Time) {
	if !t.IsZero() {
		*t = metav1.NewTime(c.Time(api.InstantOf(t.Time)).Truncate(time.Second))
	}
}

// instant is a wall time that stands in an object.
func (c Clock) instant(t metav1.Time) api.Instant {
	if t.IsZero() {
		return 0
	}
	return c.Instant(t.Time)
}
