package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// mostApplied is the number of events a Stepped tells of.
const mostApplied = 100

// Check says what is wrong with a request, if anything is.
func (c *Control) Check(r Steps) error {
	switch {
	case r.Count < 0:
		return fmt.Errorf("count %d: want 1 or more", r.Count)
	case r.Until != "" && !slices.Contains(Untils, string(r.Until)):
		return fmt.Errorf("until %q: want %s", r.Until, untils())
	case r.Until == UntilTransition && c.sources.Transitions == nil:
		return errors.New(`until "transition": no observer follows this tape's nodes: want event or marker`)
	}
	return nil
}

// Step pauses the tape and moves it on step by step. It ends early at the end of
// the tape, which is no error: Status.Ended says so.
//
// Where its context ends, what was applied stays so.
func (c *Control) Step(ctx context.Context, r Steps) (Stepped, error) {
	s := Stepped{APIVersion: APIVersion, Kind: KindStepped, Applied: []Applied{}}
	if err := c.Check(r); err != nil {
		return s, err
	}
	done, err := c.take(ctx)
	if err != nil {
		return s, err
	}
	defer done()
	c.player.Pause()
	var marks atomic.Int64 // others may have time pass too
	unsubscribe := c.player.Subscribe(func(n replay.Note) {
		if n.Kind != replay.Applied {
			return
		}
		if n.Event.Type == timeline.Mark {
			marks.Add(1)
		}
		s.note(n.Event)
	})
	reached := func() int {
		switch r.Until {
		case UntilTransition:
			return c.sources.Transitions()
		case UntilMarker:
			return int(marks.Load())
		}
		return -1
	}
	before := 0
	if r.Until == UntilTransition {
		before = c.sources.Transitions()
	}
	err = c.steps(ctx, max(r.Count, 1), r.Wait, reached)
	unsubscribe()
	if r.Until == UntilTransition {
		s.Transitions = c.sources.Since(before)
	}
	s.Status = c.Status()
	return s, err
}

// mostSearched bounds how far a cluster that acts, which has always more to do, is stepped in search of something.
const mostSearched = 24 * time.Hour

// steps continues until reached has changed count times; a count that is negative
// changes with each step. marks and the like are read between steps alone, when
// the Player rests.
func (c *Control) steps(ctx context.Context, count int, wait bool, reached func() int) error {
	from := c.player.Position()
	for last := reached(); count > 0; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if last >= 0 && c.player.Writable() && c.player.Position()-from > mostSearched {
			return fmt.Errorf("step: found none in %s of the cluster's time: want a fault or a roll that brings one about, or a seek", mostSearched)
		}
		err := c.player.Step()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if wait {
			if err := c.player.Cluster().WaitDelivered(ctx); err != nil {
				return err
			}
		}
		if now := reached(); now != last || now < 0 {
			last, count, from = now, count-1, c.player.Position()
		}
	}
	return nil
}

// note takes an event down. The last ones are kept.
func (s *Stepped) note(ev timeline.Event) {
	s.Events++
	if len(s.Applied) == mostApplied {
		s.Applied = slices.Delete(s.Applied, 0, 1)
	}
	s.Applied = append(s.Applied, Applied{
		At: Seconds(ev.At), Type: string(ev.Type), Resource: ev.Resource, Namespace: ev.Namespace, Name: ev.Name, Version: ev.RV,
	})
}

func compareWatches(a, b Watch) int {
	return cmp.Or(
		cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.LabelSelector, b.LabelSelector), cmp.Compare(a.FieldSelector, b.FieldSelector),
		cmp.Compare(len(a.Version), len(b.Version)), cmp.Compare(a.Version, b.Version),
	)
}
