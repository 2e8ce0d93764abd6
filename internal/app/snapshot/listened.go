package snapshot

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/timeline"
)

// A listened tape is one that tells, once it was read up to a moment, which of its lists were whole by then.
type listened struct {
	tape  *ui.Tape
	until time.Duration

	state       map[string]listState // by the resource's word in the tape
	first, last time.Duration        // positions of the first and the last event
	events      int
	short, torn string // at its end, what it lacks of a whole tape, and what is wrong with the last line
	ended       bool
}

// A listState is what is known of a resource at the moment.
type listState int

const (
	unlisted  listState = iota
	listed              // there are objects of it
	synced              // a SYNC has ended its list
	uncertain           // after a GAP, before the SYNC that tells what came of it
)

// Open implements timeline.Source.
func (l *listened) Open() (timeline.Stream, error) {
	r, err := l.tape.Reader()
	if err != nil {
		return nil, err
	}
	*l = listened{tape: l.tape, until: l.until, state: map[string]listState{}}
	return &listening{r, l}, nil
}

type listening struct {
	*timeline.Reader
	to *listened
}

// Next implements timeline.Stream.
func (s *listening) Next() (timeline.Event, error) {
	ev, err := s.Reader.Next()
	switch {
	case errors.Is(err, io.EOF):
		s.to.ended, s.to.short, s.to.torn = true, ui.Shortfall(s.Reader), s.Torn()
	case err == nil:
		s.to.heard(&ev)
	}
	return ev, err
}

func (l *listened) heard(ev *timeline.Event) {
	if l.last = ev.At; l.events == 0 {
		l.first = ev.At
	}
	if l.events++; ev.At > l.until {
		return
	}
	switch {
	case ev.Type == timeline.Sync:
		l.state[ev.Resource] = synced
	case ev.Type == timeline.Gap:
		l.state[ev.Resource] = uncertain
	case ev.Type.Object() && l.state[ev.Resource] == unlisted:
		l.state[ev.Resource] = listed
	}
}

// of is the state of a resource.
func (l *listened) of(h *timeline.Header, r timeline.Resource) listState {
	for word, state := range l.state {
		if is, ok := h.Lookup(word); ok && is == r {
			return state
		}
	}
	return unlisted
}

// cut reports whether the tape may end within its first lists: its last line is torn, or some lists have their SYNC. One that somebody
// has written may do without SYNC and END.
func (l *listened) cut() bool {
	some := l.torn != ""
	for _, state := range l.state {
		some = some || state == synced
	}
	return some && l.short != "" && l.last == l.first
}

// lacks are the lines about what the tape doesn't say of the cluster at the moment, or the error of a tape that can't say what is there.
func (l *listened) lacks(h *timeline.Header) (lines []string, err error) {
	if l.ended && l.until > l.last && l.until != replay.End {
		lines = append(lines, fmt.Sprintf("the moment: the tape ends at %s, before %s; the file has the cluster as it was at the tape's end", noderoll.AppendStamp(nil, l.last), noderoll.AppendStamp(nil, l.until)))
	}
	var absent, torn, gaps, open []string
	for _, wanted := range snapshot.Resources() {
		i := slices.IndexFunc(h.Resources, func(is timeline.Resource) bool { return is.Group == wanted.Group && is.Resource == wanted.Resource })
		of := notRead(wanted)
		if i < 0 {
			if absent = append(absent, wanted.String()); of != "" {
				lines = append(lines, of+"the tape has no "+wanted.String())
			}
			continue
		}
		switch state := l.of(h, h.Resources[i]); {
		case state == uncertain:
			gaps = append(gaps, wanted.String())
		case state != synced && l.cut() && l.torn != "":
			torn = append(torn, wanted.String())
		case state != synced && l.cut() && (state == listed || of == ""):
			open = append(open, wanted.String())
		case state == unlisted && of != "":
			lines = append(lines, fmt.Sprintf("%sthe tape has no list of %s up to %s", of, wanted, noderoll.AppendStamp(nil, min(l.until, l.last))))
		}
	}
	if len(torn) > 0 {
		return nil, fmt.Errorf("found its end before a whole list of %s: %s: want the whole tape", strings.Join(torn, ", "), l.short)
	}
	if l.short != "" {
		lines = append(lines, "the tape's end: "+l.short)
	}
	if len(open) > 0 {
		lines = append(lines, "lists that the tape ends without a SYNC of: "+strings.Join(open, ", ")+"; some of their objects may be missing")
	}
	if len(gaps) > 0 {
		lines = append(lines, "the moment is in a gap of the tape: "+strings.Join(gaps, ", ")+" are as they were before it")
	}
	if len(absent) > 0 {
		lines = append(lines, "the tape has no "+strings.Join(absent, ", ")+"; workloads are what their pods say")
	}
	return lines, nil
}
