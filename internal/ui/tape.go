package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nodesim/nodesim/internal/ctxread"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Tape is a tape that can be opened: a file, standard input, or a scenario.
type Tape struct {
	// Name is its name in errors and warnings.
	Name string
	open func(opts ...timeline.ReadOption) (*timeline.Reader, error)
	// input opens the file, or standard input; nil for what is neither.
	input func() (io.ReadCloser, error)
	once  bool // can be read a single time
	most  int  // events that Length reads before it gives up; 0 is all

	mu   sync.Mutex
	last *timeline.Reader
}

// File is the tape in a file; "-" is in.
func File(name string, in io.Reader) *Tape {
	if name == "-" {
		return &Tape{Name: "(standard input)", once: true, input: func() (io.ReadCloser, error) { return io.NopCloser(in), nil }, open: func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
			return timeline.NewReader(in, append([]timeline.ReadOption{timeline.Name("(standard input)")}, opts...)...)
		}}
	}
	return &Tape{Name: name, input: func() (io.ReadCloser, error) { return os.Open(name) }, open: func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
		return timeline.Open(name, opts...)
	}}
}

// Until is the tape as long as ctx lasts: reading it fails with the cause of its end, also while standard input has
// nothing. The tape of a scenario stays as it is.
func (t *Tape) Until(ctx context.Context) *Tape {
	if t.input == nil {
		return t
	}
	wrap := ctxread.Reader
	if t.once {
		wrap = ctxread.Waiting
	}
	return &Tape{Name: t.Name, once: t.once, most: t.most, input: t.input, open: func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
		in, err := t.input()
		if err != nil {
			return nil, err
		}
		r, err := timeline.NewReader(wrap(ctx, in), append([]timeline.ReadOption{timeline.Name(t.Name), timeline.Closing(in)}, opts...)...)
		if err != nil {
			_ = in.Close() // which may be done already
			return nil, err
		}
		return r, nil
	}}
}

// simulatedLength is the number of events of a simulation made only to know how
// long the tape is: a second's work, beside the one that is shown.
const simulatedLength = 200_000

// Simulated is the tape of a scenario, which open simulates again each time, as
// far as it is read. Its Length is known where it is short.
func Simulated(name string, open func(opts ...timeline.ReadOption) (*timeline.Reader, error)) *Tape {
	return &Tape{Name: "scenario " + name, open: open, most: simulatedLength}
}

var errActs = errors.New("a cluster that takes writes has no tape to read")

// Acting stands for the tape of a cluster that takes writes: nobody can read it,
// since it isn't written yet.
func Acting(name string) *Tape {
	return &Tape{Name: name, once: true, open: func(...timeline.ReadOption) (*timeline.Reader, error) { return nil, errActs }}
}

// Streams reports whether the tape may grow while it is read, as standard input
// does.
func (t *Tape) Streams() bool { return t.once }

var errOnce = errors.New("standard input can be read once only: want a file")

// Reader opens the tape at its beginning.
func (t *Tape) Reader(opts ...timeline.ReadOption) (*timeline.Reader, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.once && t.last != nil {
		return nil, errOnce
	}
	r, err := t.open(opts...)
	if err != nil {
		return nil, err
	}
	t.last = r
	return r, nil
}

// Source is the tape for a Player, which opens it again to go back.
func (t *Tape) Source() timeline.Source { return source{t} }

type source struct{ tape *Tape }

// Open implements timeline.Source.
func (s source) Open() (timeline.Stream, error) {
	r, err := s.tape.Reader()
	if err != nil {
		return nil, err // not a *timeline.Reader that is nil
	}
	return r, nil
}

// Length is the position of the last event; see Summarize.
func (t *Tape) Length(ctx context.Context) time.Duration { return t.Summarize(ctx).Duration }

// Summarize reads the tape to its end, as lines. It returns nothing for what can be
// read only once and for a simulation that is too long to be made twice, and what
// is before a bad line.
func (t *Tape) Summarize(ctx context.Context) (s replay.Summary) {
	if t.once {
		return s
	}
	r, err := t.open(timeline.Lines())
	if err != nil {
		return s
	}
	for {
		ev, err := r.Next()
		if err != nil || s.Events%1024 == 0 && ctx.Err() != nil {
			break
		}
		if s.Add(ev); t.most > 0 && s.Events > t.most {
			s = replay.Summary{}
			break
		}
	}
	if err := r.Close(); err != nil {
		return replay.Summary{}
	}
	return s
}

// Shortfall says, after the end of a tape, what it lacks of a whole one, in a
// few words, or "". Where the Reader isn't at the end, it says nothing.
func Shortfall(r *timeline.Reader) string {
	_, err := r.Next() // at the end, io.EOF comes again and again
	switch {
	case r.Complete() || !errors.Is(err, io.EOF):
		return ""
	case r.Torn() != "":
		return r.Torn()
	}
	return "it ends without END, so its recorder was cut off"
}
