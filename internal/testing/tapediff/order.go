package tapediff

import (
	"errors"
	"io"
	"strconv"

	"github.com/nodesim/nodesim/timeline"
)

// A Line is an event of a tape, and the number of its line.
type Line struct {
	timeline.Event
	Number int
}

// Lines reads a tape to its end. A recording has the order in which watches delivered, and the watch of one resource may be
// later than that of another: on a busy machine, pods are evicted before their node is cordoned. Lines returns it in the
// order in which the server wrote, which is that of resourceVersions. Changes move past those of other resources alone,
// and never past a line that is of no object. Times stay where they are, and so never decrease. Other tapes stay as they
// are: an import may have had to infer a version.
func Lines(r *timeline.Reader) (lines []Line, err error) {
	recorded := r.Header().Source.Kind == timeline.SourceRecording
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, Line{ev, r.Line()})
		for i := len(lines) - 1; recorded && i > 0 && earlier(lines[i].Event, lines[i-1].Event); i-- {
			lines[i-1], lines[i] = lines[i], lines[i-1]
			lines[i-1].At, lines[i].At = lines[i].At, lines[i-1].At
		}
	}
}

// earlier reports whether a change was written before that of another resource.
func earlier(ev, other timeline.Event) bool {
	if !ev.Type.Object() || !other.Type.Object() || ev.Resource == other.Resource {
		return false
	}
	a, errA := strconv.ParseUint(ev.RV, 10, 64)
	b, errB := strconv.ParseUint(other.RV, 10, 64)
	return errA == nil && errB == nil && a < b
}
