package timeline

import (
	"fmt"
	"iter"
	"math"
	"time"
)

// maxAt is the last position that a tape can have; see [ParseAt].
const maxAt = time.Duration(math.MaxInt64/int64(time.Second)-1) * time.Second

// Speed makes a tape that runs factor times as fast: what was at 60s stands
// at 3s where factor is 20. Positions are rounded to nanoseconds, which never
// changes the order, so that Speed(a) and then Speed(b) is within a few
// nanoseconds of Speed(a*b).
//
// The times inside of objects stay. They no longer agree with the tape's
// clock after its start: ages on the new tape are those of a faster world.
func Speed(factor float64) Transform {
	return func(h *Header, events iter.Seq2[Event, error]) (*Header, iter.Seq2[Event, error]) {
		if !(factor > 0) || math.IsInf(factor, 1) {
			return h, failed(fmt.Errorf("speed %v: want a number above 0, such as 20 or 0.5", factor))
		}
		return h, edit(events, func(ev Event, yield func(Event, error) bool) bool {
			at := math.Round(float64(ev.At) / factor)
			if at > float64(maxAt) {
				yield(Event{}, fmt.Errorf("speed %v: %s is slowed down past the end of what a tape can hold: want a higher speed", factor, FormatAt(ev.At)))
				return false
			}
			ev.At = time.Duration(at)
			return yield(ev, nil)
		})
	}
}
