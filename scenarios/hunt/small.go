package hunt

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// makeSmall makes the case that was found small: as long as a smaller file fails in the same way, that one takes its place. Each
// was written and read again before: what the result holds is what fails.
func (s *search) makeSmall(ctx context.Context) error {
	found := s.result.Found
	tell := func(tries int) { s.tell(tries) }
	small, err := Small(ctx, s.Options, s.Space.Case(s.Seed, found.Case), found.Failure, tell)
	found.Unsteady = errors.Is(err, errUnsteady)
	if err != nil && !found.Unsteady {
		return fmt.Errorf("case %d of seed %d fails (%s): %w", found.Case, s.Seed, found.Failure.String(), err)
	}
	found.File, found.Small, found.Size, found.Tries = string(small.Text), small.Failure, size(small.File), small.Tries
	return nil
}

// A SmallFile is a file that fails, as small as it was made.
type SmallFile struct {
	File    *spec.File
	Text    []byte
	Failure Failure
	Tries   int
}

// errUnsteady is of a case that fails at one time and not at another.
var errUnsteady = errors.New("the case didn't fail when it was tried again: what it tests depends on more than its file")

// Small makes a file small that fails. It takes the first of the smaller files that still fails, in their order, and begins again,
// until none of them does, as many as the options allow were tried, or the context ends. The number of goroutines changes nothing but
// the time. A file that doesn't fail again is returned as it is, with an error. tell, where it isn't nil, is called now and then.
func Small(ctx context.Context, o Options, f *spec.File, as Failure, tell func(tries int)) (SmallFile, error) {
	if o.Tries == 0 {
		o.Tries = UsualTries
	}
	if tell == nil {
		tell = func(int) {}
	}
	c := *f
	c.Metadata.Description = "Found by nodesim hunt in a case of " + f.Metadata.Name + ": " + as.String() + "\n"
	m := &maker{Options: o, as: as, tell: tell, whole: &c}
	now, err := m.written(context.WithoutCancel(ctx), &c)
	if err != nil {
		return SmallFile{}, err
	}
	if now == nil {
		text, err := Text(&c)
		return SmallFile{File: &c, Text: text, Failure: as, Tries: 1}, errors.Join(errUnsteady, err)
	}
	for m.tries < o.Tries && ctx.Err() == nil { // who ends it has it as small as it is by now
		next, err := m.smaller(ctx, now.File)
		if err != nil && ctx.Err() == nil {
			return SmallFile{}, err
		}
		if next == nil {
			break
		}
		now = next
	}
	now.Tries = m.tries
	return *now, nil
}

// maker makes one file small.
type maker struct {
	Options
	as    Failure
	whole *spec.File // what is made small
	cut   bool       // its roll isn't over at the time limit
	tries int
	tell  func(int)
}

// fails returns the failure of a smaller file that counts. A policy that the time limit alone breaks is another failure: every roll
// does that in a short enough time.
func (m *maker) fails(f *spec.File, o *Outcome) (Failure, bool) {
	if m.as.Kind == OfPolicy && (f.TimeLimit < m.whole.TimeLimit || o.Cut && !m.cut) {
		return Failure{}, false
	}
	return o.fails(m.as)
}

// written is the file that is read again of what is written, if it fails as well; nil where it doesn't, or can't be read: then
// the file is one that nobody can have.
func (m *maker) written(ctx context.Context, f *spec.File) (*SmallFile, error) {
	text, err := Text(f)
	if err != nil {
		return nil, err
	}
	read, err := Read(text)
	if err != nil {
		return nil, fmt.Errorf("the file that was written of it can't be read: %w", err)
	}
	o, err := m.Judge(ctx, read)
	if err != nil {
		return nil, err
	}
	if f == m.whole {
		m.cut = o.Cut
	}
	if fails, is := m.fails(read, &o); is {
		return &SmallFile{File: read, Text: text, Failure: fails}, nil
	}
	return nil, nil
}

// smaller is the first smaller file that fails as well, or nil.
func (m *maker) smaller(ctx context.Context, f *spec.File) (*SmallFile, error) {
	next, stop := iter.Pull(variant.Smaller(f, m.Space.File))
	defer stop()
	for m.tries < m.Tries && ctx.Err() == nil {
		some := pull(next, min(max(m.Parallel, 1), m.Tries-m.tries))
		if len(some) == 0 {
			return nil, nil
		}
		outcomes, errs := make([]Outcome, len(some)), make([]error, len(some))
		var all sync.WaitGroup
		for i := range some {
			all.Go(func() { outcomes[i], errs[i] = m.Judge(ctx, some[i]) })
		}
		all.Wait()
		for i := range some {
			m.tries++
			if errs[i] != nil {
				return nil, errs[i]
			}
			if _, is := m.fails(some[i], &outcomes[i]); !is {
				continue
			}
			// A file that the checks refuse is passed over.
			if small, err := m.written(ctx, some[i]); err == nil && small != nil {
				m.tell(m.tries)
				return small, nil
			}
		}
		m.tell(m.tries)
	}
	return nil, nil
}

// pull takes up to n files.
func pull(next func() (*spec.File, bool), n int) (some []*spec.File) {
	for len(some) < n {
		f, there := next()
		if !there {
			break
		}
		some = append(some, f)
	}
	return some
}

// size says how much is in a file.
func size(f *spec.File) string {
	pods := 0
	for i := range f.Workloads {
		pods += f.Workloads[i].Replicas
	}
	text := fmt.Sprintf("%s, %s, %s, %s, seed %d", phrase.Count(f.Nodes(), "node"), phrase.Count(len(f.Workloads), "workload"),
		phrase.Count(pods, "replica"), phrase.Count(len(f.Faults), "fault"), f.Seed)
	if f.Roll == nil {
		text += ", no roll"
	}
	return text
}
