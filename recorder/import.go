package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// ImportOptions say how a dump becomes a tape. Open is required.
type ImportOptions struct {
	// Open makes the tape once the dump was read to its end and found good.
	// Import closes the Writer.
	Open func(timeline.Header) (*timeline.Writer, error)
	// Input names the dump in errors.
	Input string
	// Name of the tape.
	Name  string
	Scope Scope
	// Full keeps whole objects, but for managedFields. Secrets stay refused.
	Full bool
	// Torn is how many bytes at the end of what the dump was made of were no whole value: the tape
	// has no END then.
	Torn int64
}

// openingTime is the time after the first line of a dump a list may end to
// count as one of those that the dump began with. They are all at 0s.
const openingTime = 5 * time.Second

// Import makes a tape of a dump of raw watch events. It reads four forms,
// which may stand one after the other in one dump, with any white space:
//
//   - {"t": arrival time, "resource": plural, "event": watch event}
//   - {"type": …, "object": …}, which kubectl prints with
//     --watch -o json --output-watch-events
//   - Lists, which kubectl prints with -o json
//   - {"t": arrival time, "resource": "pods", "refused": {"namespace", "name",
//     "budget", "by", "reason"}}, a refused eviction, which becomes a REFUSED
//
// Without arrival times the newest time inside of an object represents its
// arrival, and the header's times are "derived".
//
// The dump is read twice, since the header comes first and lists what comes
// later; an input that can't seek goes through a temporary file. Nothing is
// made of a dump with an error in it, but the last value may be cut off: then
// the tape has no END.
//
// A list ends with the bookmark annotated k8s.io/initial-events-end, or with
// the List. Without either it is the leading run of ADDED events, up to one
// that is newer, by version and by creation, than everything before it, that
// arrived more than a second after the first, or whose name was there already. A list in the middle of a
// dump (its watch started over) becomes a GAP with what it shows to be
// different. A MODIFIED of an object that never appeared becomes ADDED, a
// second ADDED of a living object MODIFIED. What had been seen already is
// left out; the Summary counts it.
func Import(ctx context.Context, in io.Reader, o ImportOptions) (_ Summary, err error) {
	if o.Input == "" {
		o.Input = "the dump"
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("import %s: %w", o.Input, err)
		}
	}()
	if o.Open == nil {
		return Summary{}, errors.New("found no Open, want what makes the tape")
	}
	s, err := newScope(o.Scope)
	if err != nil {
		return Summary{}, err
	}
	seeker, done, err := twice(in)
	if err != nil {
		return Summary{}, err
	}
	defer done()
	from, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return Summary{}, err
	}
	p, err := planImport(ctx, seeker)
	if err != nil {
		return Summary{}, err
	}
	p.torn += o.Torn
	if _, err := seeker.Seek(from, io.SeekStart); err != nil {
		return Summary{}, err
	}
	return p.write(ctx, seeker, s, o)
}

// twice returns the input in a form that can be read again.
func twice(in io.Reader) (io.ReadSeeker, func(), error) {
	if s, ok := in.(io.ReadSeeker); ok {
		if _, err := s.Seek(0, io.SeekCurrent); err == nil {
			return s, func() {}, nil
		}
	}
	f, err := os.CreateTemp("", "nodesim-import-*")
	if err != nil {
		return nil, nil, err
	}
	done := func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	if _, err = io.Copy(f, in); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return f, done, nil
}
