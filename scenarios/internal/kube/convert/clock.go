package convert

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Clock is the map between scenario time and wall time: Scenario and Wall are the same moment, and Speed says how
// much faster the scenario runs from there. What was before that moment has the speed of the wall.
//
// Where the pace isn't even, because a machine slept or the server hung, Paced is the wall time of a moment after
// Scenario, and Latest where both are now.
//
// What others wrote into an object goes out again as it came in, to the second, where
// Foreign keeps those times: the map there and back rounds, and the pace may have
// changed in between.
type Clock struct {
	Scenario kube.Instant
	Wall     time.Time
	Speed    float64
	Paced    func(since time.Duration) time.Time
	Latest   func() (kube.Instant, time.Time)
	Foreign  *ForeignTimes
}

// Time is the wall time of a moment.
func (c Clock) Time(i kube.Instant) time.Time {
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
func (c Clock) Instant(t time.Time) kube.Instant {
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

// instant is a wall time of an object, none where there is none.
func (c Clock) instant(t metav1.Time) kube.Instant {
	if t.IsZero() {
		return 0
	}
	i := c.Instant(t.Time)
	if c.Foreign == nil || i <= c.Scenario { // what was before has the speed of the wall
		return i
	}
	latest := i // without a pace that may lose time, what was said of a time holds
	if c.Latest != nil {
		latest, _ = c.Latest()
	}
	return c.Foreign.keep(t.Time, i, latest)
}

// second is the wall time of a moment in whole seconds, as the API keeps it; none
// where there is no moment.
func (c Clock) second(i kube.Instant) metav1.Time {
	if i == 0 {
		return metav1.Time{}
	}
	if t, is := c.Foreign.wall(i); is {
		return metav1.NewTime(t)
	}
	return metav1.NewTime(c.Time(i.Second()).Truncate(time.Second))
}
