package fault

import (
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/nodesim/nodesim/replay"
)

// trigger decides whether what matches is hit. It is a function of what it is
// asked about, in the tape's order, and of nothing else.
type trigger struct {
	spec   *Spec
	salt   string
	armed  bool          // by at or when; without those it is from the beginning
	window bool          // it fires for a time, and not once each time that it is armed
	until  time.Duration // the end of that time
	shots  int
	seen   int
	fired  int
	alike  [1024]uint32 // how many of each hash were asked about
}

func newTrigger(s *Spec, lasting bool) trigger {
	t := trigger{spec: s, salt: s.String(), armed: s.Timed || s.When.Of != "", window: s.For > 0 && !lasting, until: s.For}
	if t.armed {
		t.until = 0
	}
	return t
}

// arm says that the moment has come that the fault waits for.
func (t *trigger) arm(now time.Duration) {
	if !t.window {
		t.shots++
	} else if t.until = now + t.spec.For; t.until < now {
		t.until = replay.End
	}
}

// fires is asked about everything that matches, with what tells it from
// everything else.
func (t *trigger) fires(now time.Duration, identity ...string) bool {
	if t.window && now >= t.until || t.armed && !t.window && t.shots == 0 {
		return false
	}
	if t.seen++; t.spec.Event > 0 && t.seen != t.spec.Event {
		return false
	}
	if t.spec.Count > 0 && t.fired >= t.spec.Count || t.spec.P > 0 && t.chance(identity) >= t.spec.P {
		return false
	}
	t.fired++
	if t.armed && !t.window {
		t.shots--
	}
	return true
}

// chance returns a number from 0 to below 1 that depends on the fault, its seed
// and the identity alone.
func (t *trigger) chance(identity []string) float64 {
	h := fnv.New64a()
	for _, s := range append([]string{t.salt}, identity...) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(s)))) // a hash takes everything
		_, _ = h.Write([]byte(s))
	}
	// The last step of SplitMix64: FNV's upper bits depend little on the last bytes.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// nth counts requests that are alike: the next of a kind is another one.
func (t *trigger) nth(identity ...string) uint32 {
	h := fnv.New32a()
	for _, s := range identity {
		_, _ = h.Write(append([]byte(s), 0)) // a hash takes everything
	}
	n := &t.alike[h.Sum32()%uint32(len(t.alike))]
	*n++
	return *n
}
