package shift_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/replay/internal/shift"
	"github.com/nodesim/nodesim/timeline"
)

var (
	nodes = timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	begun = time.Date(2030, 6, 1, 9, 0, 0, 0, time.UTC)
)

// tape is a tape that plays: what the Player's TimeMap says, in small.
type tape struct {
	speed    float64 // 0 rests, or is as fast as can be
	anchor   time.Time
	position time.Duration
	clock    time.Time
}

func playing(speed float64) *tape { return &tape{speed: speed, anchor: begun, clock: begun} }

func (p *tape) now() time.Time { return p.clock }

func (p *tape) wall(at time.Duration) time.Time {
	if p.speed == 0 {
		return p.anchor
	}
	return p.anchor.Add(time.Duration(float64(at-p.position) / p.speed))
}

// reach lets the tape continue.
func (p *tape) reach(d time.Duration) {
	p.clock = p.clock.Add(d)
	p.position, p.anchor = p.position+time.Duration(float64(d)*p.speed), p.clock
}

func TestObjectMovesTheFieldsThatHoldTimes(t *testing.T) {
	p := playing(2)
	p.reach(time.Minute) // two minutes of tape
	s := shift.New(start, p.wall, p.now)
	got, err := s.Object(nodes, []byte(`{"kind":"Node", "metadata":{"name":"2026-03-01T12:01:00Z","creationTimestamp":"2026-02-22T12:00:00Z"},
		"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-03-01T12:02:00Z","lastTransitionTime":"2026-03-01T12:01:00Z"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	// A week before the start stays a week, a minute of tape is half a minute.
	const want = `{"kind":"Node","metadata":{"name":"2026-03-01T12:01:00Z","creationTimestamp":"2030-05-25T09:00:00Z"},` +
		`"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2030-06-01T09:01:00Z","lastTransitionTime":"2030-06-01T09:00:30Z"}]}}`
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if _, err := s.Object(nodes, []byte(`{"kind":`)); err == nil {
		t.Error("half an object was taken")
	}
}

func TestTimeNeverLiesInTheFuture(t *testing.T) {
	for name, speed := range map[string]float64{"a pace": 1, "as fast as can be": 0} {
		p := playing(speed)
		s := shift.New(start, p.wall, p.now)
		deletion := start.Add(30 * time.Second)
		for _, at := range []time.Duration{0, time.Second, 30 * time.Second, time.Hour, 250 * 365 * 24 * time.Hour} {
			if got := s.Time(start.Add(at)); got.After(p.clock) {
				t.Errorf("%s: %s of tape came out as %s, in the future of %s", name, at, got, p.clock)
			}
		}
		// What came out early stays, when the tape has come there too.
		was := s.Time(deletion)
		p.reach(time.Minute)
		if got := s.Time(deletion); !got.Equal(was) {
			t.Errorf("%s: a time came out as %s, and then as %s", name, was, got)
		}
	}
}

// After a rewind the same position is shown again, later: a node that joins again has just joined.
func TestTimesOfASecondPass(t *testing.T) {
	p := playing(1)
	s := shift.New(start, p.wall, p.now)
	created := func() time.Time {
		t.Helper()
		raw, err := s.Object(nodes, []byte(`{"metadata":{"creationTimestamp":"2026-03-01T12:02:00Z"}}`))
		if err != nil {
			t.Fatal(err)
		}
		var o struct {
			Metadata struct{ CreationTimestamp time.Time }
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
		return o.Metadata.CreationTimestamp
	}
	p.reach(10 * time.Minute)
	if got, want := created(), begun.Add(2*time.Minute); !got.Equal(want) {
		t.Errorf("found %v, want %v", got, want)
	}
	p.position, p.anchor = time.Minute, p.clock // a seek
	s.Rewind()
	p.reach(2 * time.Minute)
	if got, want := created(), begun.Add(11*time.Minute); !got.Equal(want) {
		t.Errorf("after the rewind: found %v, want %v", got, want)
	}
}

func TestWithoutAStartTimesStay(t *testing.T) {
	p := playing(1)
	s := shift.New(time.Time{}, p.wall, p.now)
	if got := s.Time(start); !got.Equal(start) {
		t.Errorf("a time came out as %s, want it as it was, %s", got, start)
	}
	future := begun.Add(time.Hour)
	if got := s.Time(future); !got.Equal(begun) {
		t.Errorf("a time in the future came out as %s, want the present, %s", got, begun)
	}
	p.reach(time.Second)
	if got := s.Time(future); !got.Equal(begun) {
		t.Errorf("and then as %s", got)
	}
}

// Whatever the pace does, no time is in the future and none comes out twice in
// different ways; at a pace, times that the tape has reached keep their order.
func TestTimesUnderRandomPaces(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := playing(1 + rng.Float64()*50)
		s := shift.New(start, p.wall, p.now)
		pauses := seed%2 == 0
		seen := map[time.Duration]time.Time{}
		for range 200 {
			p.reach(time.Duration(rng.Int64N(int64(10 * time.Second))))
			if rng.IntN(10) == 0 {
				p.speed = rng.Float64() * 50
			}
			if pauses && rng.IntN(10) == 0 {
				p.speed = float64(rng.IntN(2))
			}
			for range 5 {
				at := time.Duration(rng.Int64N(int64(p.position) + 1)).Truncate(time.Second)
				if pauses {
					at += time.Duration(rng.IntN(3)) * time.Second
				}
				got := s.Time(start.Add(at))
				if got.After(p.clock) {
					t.Fatalf("seed %d: %s came out as %s, in the future of %s", seed, at, got, p.clock)
				}
				if was, ok := seen[at]; ok && !was.Equal(got) {
					t.Fatalf("seed %d: %s came out as %s and then as %s", seed, at, was, got)
				}
				seen[at] = got
			}
		}
		if pauses {
			continue
		}
		for a, wa := range seen {
			for b, wb := range seen {
				if a < b && wa.After(wb) {
					t.Fatalf("seed %d: %s came out as %s, after %s as %s", seed, a, wa, b, wb)
				}
			}
		}
	}
}

// What comes out is JSON for any object, whatever is where a time is due.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z","deletionTimestamp":null}}`))
	f.Add([]byte(`{"metadata":{"creationTimestamp":"9999-12-31T23:59:59.999999999-23:59"}}`))
	f.Add([]byte(`{"metadata":[],"status":{"conditions":{"lastProbeTime":1}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := playing(3)
		out, err := shift.New(start, p.wall, p.now).Object(nodes, raw)
		if err == nil && !json.Valid(out) {
			t.Errorf("%q became %q", raw, out)
		}
	})
}
