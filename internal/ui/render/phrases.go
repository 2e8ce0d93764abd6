package render

import (
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// A sign is the look of a phase or an event: a glyph, a fixed short phrase, and
// the ink of both.
type sign struct {
	glyph, phrase string
	ink           ink
}

func (t *theme) phaseSign(n *noderoll.NodeView) sign {
	switch n.Phase {
	case noderoll.PhaseReady:
		if !n.OnTarget {
			return sign{t.ready, "ready", inkDim} // well, but not where the roll goes
		}
		return sign{t.ready, "ready", inkReady}
	case noderoll.PhaseJoining:
		return sign{t.joining, "joining (NotReady)", inkJoining}
	case noderoll.PhaseDraining:
		if n.Cordoned && n.Ready {
			return sign{t.draining, "cordoned", inkDim}
		}
		if n.Cordoned {
			return sign{t.draining, "cordoned (NotReady)", inkDrain}
		}
		if !n.Ready {
			return sign{t.draining, "draining (NotReady)", inkDrain}
		}
		return sign{t.draining, "draining", inkDrain}
	case noderoll.PhaseNotReady:
		return sign{t.notReady, "not ready", inkAlarm}
	}
	return sign{t.other, "unknown phase", inkDim}
}

// entrySign is eventSign for an entry that may be of a pod: there a failure is
// that of its update.
func (t *theme) entrySign(e *noderoll.Entry) sign {
	s := t.eventSign(e.Kind)
	if e.Kind == noderoll.EvtFailed && e.Object != "" {
		s.phrase = "update failed"
	}
	return s
}

func (t *theme) eventSign(k noderoll.EventKind) sign {
	switch k {
	case noderoll.EvtJoining:
		return sign{t.joining, "joining", inkJoining}
	case noderoll.EvtOnline:
		return sign{t.ready, "online", inkReady}
	case noderoll.EvtCordoned:
		return sign{t.draining, "cordoned", inkDim}
	case noderoll.EvtDraining:
		return sign{t.draining, "draining", inkDrain}
	case noderoll.EvtNotReady:
		return sign{t.notReady, "not ready", inkAlarm}
	case noderoll.EvtTerminated:
		return sign{t.other, "terminated", inkDim}
	case noderoll.EvtEvicted:
		return sign{t.other, "pod evicted", inkDim}
	case noderoll.EvtBlocked:
		return sign{t.warn, "drain blocked", inkAlarm}
	case noderoll.EvtUnblocked:
		return sign{t.draining, "drain goes on", inkDrain}
	case noderoll.EvtRequested:
		return sign{t.joining, "requested", inkJoining}
	case noderoll.EvtDrifted:
		return sign{t.draining, "drifted", inkDim}
	case noderoll.EvtMachine:
		return sign{t.other, "machine", inkDim}
	case noderoll.EvtPressure:
		return sign{t.warn, "pressure", inkDrain}
	case noderoll.EvtWarning:
		return sign{t.warn, "warning", inkDrain}
	case noderoll.EvtGap:
		return sign{t.warn, "gap in the tape", inkAlarm}
	case noderoll.EvtMark:
		return sign{t.other, "mark", inkText}
	case noderoll.EvtComplete:
		return sign{t.done, "roll complete", inkReady}
	case noderoll.EvtFailed:
		return sign{t.failed, "roll failed", inkAlarm}
	case noderoll.EvtUpdating:
		return sign{t.draining, "updating", inkDrain}
	case noderoll.EvtUpdated:
		return sign{t.ready, "updated", inkReady}
	case noderoll.EvtRolledBack:
		return sign{t.ready, "rolled back", inkDrain}
	case noderoll.EvtRestarted:
		return sign{t.warn, "restarted", inkAlarm}
	case noderoll.EvtResizing:
		return sign{t.draining, "resizing", inkDrain}
	case noderoll.EvtResized:
		return sign{t.ready, "resized", inkReady}
	case noderoll.EvtDeferred:
		return sign{t.joining, "resize deferred", inkDrain}
	case noderoll.EvtInfeasible:
		return sign{t.notReady, "infeasible", inkAlarm}
	}
	return sign{t.other, "unknown event", inkDim}
}

// moment is the time of an entry, as a feed has it: T+1m32.412s.
func moment(at time.Duration) string { return string(noderoll.AppendStamp(nil, at)) }

// clock is a position as players show it: 1:32, 1:02:03.
func clock(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", d.Abs()
	}
	s := int64(d / time.Second)
	if s < 3600 {
		return sign + strconv.FormatInt(s/60, 10) + ":" + twoDigits(s%60)
	}
	return sign + strconv.FormatInt(s/3600, 10) + ":" + twoDigits(s/60%60) + ":" + twoDigits(s%60)
}

func twoDigits(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}

// number groups the digits of a count: 4,973.
func number(n int) string {
	digits := strconv.Itoa(n)
	if n < 1000 {
		return digits
	}
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}
