package recorder

import (
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Stats counts the progress of a recording.
type Stats struct {
	At     time.Duration // position on the tape
	Nodes  int           // alive and on the tape
	Events int           // lines of the tape after its header
	Bytes  int64         // size of the tape
	Gaps   int           // GAPs written by this recording
	// Resources are in the order of the tape's header.
	Resources []ResourceStats
}

// Summary is the result of a recording or an import.
type Summary struct {
	Stats
	Header timeline.Header
	// End is why it ended: one of the End constants, or "" after an import.
	End string
	// Format is what program had written what was imported, for people; "" of a recording, and of a
	// dump of watch events.
	Format string
	// LeftOut says what was not put on the tape and why, one line each.
	LeftOut []string
}

// Stats returns the recording's progress; all zero before the tape is open.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sequencer == nil {
		return Stats{}
	}
	if !r.ended {
		r.now()
	}
	return r.stats()
}

func (r *Recorder) stats() Stats {
	s := r.sequencer.stats()
	s.At, s.Events, s.Bytes = r.last, r.out.Events(), r.out.Bytes()
	return s
}

func (r *Recorder) summary(end string) Summary {
	s := Summary{Stats: r.stats(), Header: *r.out.Header(), End: end}
	s.LeftOut = leftOut(s.Resources)
	return s
}

func (l *sequencer) stats() (s Stats) {
	for _, t := range l.states {
		s.Gaps += t.stats.Gaps
		s.Resources = append(s.Resources, t.stats)
		if t.res.String() == "nodes" {
			s.Nodes = t.stats.Objects
		}
	}
	return s
}
