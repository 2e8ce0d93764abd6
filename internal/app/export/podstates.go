package export

import (
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
)

// stretch is a part of a pod's life.
type stretch struct {
	state    string
	from, to time.Duration
	line     int // that shows its beginning; 0 where that is before the tape
}

// stretches are the states of a pod's life on the tape, without holes: pending, starting, running, terminating. One that was
// there when the tape began begins at 0, in the state that its next moment ends; where none tells whether it was Ready, it is on a
// node, and no more is known: it may have ended.
func stretches(p analysis.Pod, end time.Duration) []stretch {
	first := "on a node"
	switch {
	case p.Scheduled != nil || p.Node == "":
		first = "pending"
	case p.Ready != nil:
		first = "starting"
	}
	out := []stretch{{state: first}}
	if p.Created != nil {
		out[0].from, out[0].line = p.Created.At, p.Created.Line
	}
	last := out[0].from
	for _, s := range []struct {
		state string
		m     *analysis.Moment
	}{{"starting", p.Scheduled}, {"running", p.Ready}, {"terminating", p.Deleted}, {"", p.Gone}} {
		if s.m == nil {
			continue
		}
		last = max(last, s.m.At)
		out[len(out)-1].to = last
		if s.state == "" {
			return out
		}
		out = append(out, stretch{state: s.state, from: last, line: s.m.Line})
	}
	out[len(out)-1].to = max(last, end)
	return out
}
