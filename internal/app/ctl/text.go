package ctl

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/noderoll"
)

// AppendLine says in one line where a replay is, and what a seek has to note:
//
//	stuck-drain  T+1m32.400s of T+7m00.000s  20x  paused
func AppendLine(dst []byte, s control.Status) []byte {
	dst = append(dst, noderoll.OneLine(s.Tape)...)
	dst = append(dst, "  "...)
	dst = noderoll.AppendStamp(dst, time.Duration(s.Position))
	if s.Duration > 0 {
		dst = append(dst, " of "...)
		dst = noderoll.AppendStamp(dst, time.Duration(s.Duration))
	}
	dst = append(dst, "  "+noderoll.OneLine(s.Speed)...)
	switch {
	case s.Error != "":
		dst = append(dst, "  failed: "+noderoll.OneLine(s.Error)...)
	case s.Ended:
		dst = append(dst, "  at the end"...)
	case s.Paused:
		dst = append(dst, "  paused"...)
	}
	if s.Note != "" {
		dst = append(dst, "  ("+noderoll.OneLine(s.Note)+")"...)
	}
	return append(dst, '\n')
}

// AppendStatus says all of it.
func AppendStatus(dst []byte, s control.Status) []byte {
	dst = AppendLine(dst, s)
	dst = append(dst, phrase.Count(s.Events, "event")...)
	if s.Rewinds > 0 {
		dst = append(dst, ", "+phrase.Count(s.Rewinds, "rewind")...)
	}
	dst = append(dst, '\n')
	for _, m := range s.Markers {
		dst = append(dst, "marker "...)
		dst = noderoll.AppendStamp(dst, time.Duration(m.At))
		dst = append(dst, "  "+noderoll.OneLine(m.Name)...)
		dst = append(dst, '\n')
	}
	for _, w := range s.Watches {
		dst = append(dst, "watch  "+noderoll.OneLine(w.Resource)...)
		for _, part := range [...]struct{ flag, value string }{{" -n ", w.Namespace}, {" -l ", w.LabelSelector}, {" --field-selector ", w.FieldSelector}} {
			if part.value != "" {
				dst = append(dst, part.flag+noderoll.OneLine(part.value)...)
			}
		}
		dst = fmt.Appendf(dst, "  at version %s, %s behind\n", noderoll.OneLine(w.Version), phrase.Count(w.Lag, "event"))
	}
	for _, f := range s.Faults {
		dst = append(dst, noderoll.OneLine(f.Text)...)
		dst = append(dst, '\n')
	}
	return dst
}

// AppendStepped says what a step has applied, an event a line, to which transitions
// that led, and where.
func AppendStepped(dst []byte, s control.Stepped) []byte {
	if more := s.Events - len(s.Applied); more > 0 {
		dst = append(dst, "… after "+phrase.Count(more, "event")+" more\n"...)
	}
	for _, a := range s.Applied {
		dst = noderoll.AppendStamp(dst, time.Duration(a.At))
		name := a.Name
		if a.Namespace != "" {
			name = a.Namespace + "/" + a.Name
		}
		object := strings.TrimSpace(noderoll.OneLine(a.Resource) + " " + noderoll.OneLine(name)) // a SYNC has no name, a marker no resource
		dst = append(bytes.TrimRight(fmt.Appendf(dst, "  %-8s  %s", noderoll.OneLine(a.Type), object), " "), '\n')
	}
	for _, e := range s.Transitions {
		dst = append(dst, e.String()...)
		dst = append(dst, '\n')
	}
	return AppendLine(dst, s.Status)
}
