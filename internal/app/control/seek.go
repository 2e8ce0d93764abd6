package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
)

// Target is where a seek leads to: a position, or a distance from the present one.
type Target struct {
	To       time.Duration // a position, or the distance: negative is back
	Relative bool
}

// ParseTarget reads "+30s" and "-30s" as distances, and everything else as a
// position, in the words of [replay.ParsePosition].
func ParseTarget(s string) (Target, error) {
	if s == "" || !strings.ContainsRune("+-", rune(s[0])) {
		to, err := replay.ParsePosition(s)
		return Target{To: to}, err
	}
	by, err := replay.ParsePosition(s[1:])
	if err != nil || by == replay.End || strings.ContainsAny(s[1:], "T+-") {
		return Target{}, fmt.Errorf("position %q: want a distance such as +30s or -1m30s, or a time on the tape such as T+2m, 90s or end", s)
	}
	if s[0] == '-' {
		by = -by
	}
	return Target{To: by, Relative: true}, nil
}

// SeekTo goes to a Target. Where that is outside of the tape it goes to the tape's
// beginning or end, and note says so; otherwise note is "".
func (c *Control) SeekTo(ctx context.Context, t Target) (note string, err error) {
	done, err := c.take(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	to := t.To
	if t.Relative {
		at := c.player.Position()
		to += at
		if t.To > 0 && to < at { // further than a time.Duration goes
			to = replay.End - 1
		}
	}
	if err := c.player.Seek(ctx, max(to, 0)); err != nil {
		return "", err
	}
	s := c.player.Status()
	m := c.player.TimeMap() // what lies in a stretch that is cut is beyond nothing
	if to < 0 || m.Shown(to) < m.Shown(s.Position)-passing(s) {
		return fmt.Sprintf("the tape begins at %s, after %s", stamp(s.Position), stamp(to)), nil
	}
	if length := max(s.Event, c.Duration()); s.Ended && to != replay.End && to > length {
		return fmt.Sprintf("the tape ends at %s, before %s", stamp(length), stamp(to)), nil
	}
	return "", nil
}

// passing is what a tape that goes on may have gone on since a seek.
func passing(s replay.Status) time.Duration {
	if s.Paused {
		return 0
	}
	return time.Duration(min(float64(s.Speed)*float64(time.Second), float64(replay.End/2)))
}

// stamp spells a position as the feed does, one before the tape with a minus.
func stamp(at time.Duration) string {
	if at < 0 {
		return "T-" + strings.TrimPrefix(string(noderoll.AppendStamp(nil, -at)), "T+")
	}
	return string(noderoll.AppendStamp(nil, at))
}
