package hunt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nodesim/nodesim/scenarios/hunt/variant"
)

// Options are what a search takes.
type Options struct {
	Space *variant.Space
	Judge Judge
	// Input is what [Result.Input] says: see [Input].
	Input string
	Seed  uint64
	// Cases bounds the cases of all shards together; 0 leaves the end to the context.
	Cases uint64
	// Budget ends the search after a time; 0 leaves that to Cases and the context. What was found is made small after it.
	Budget time.Duration
	// Shard of Shards: this search tries the cases whose numbers leave Shard when they are divided by Shards. 0 Shards are one.
	Shard, Shards int
	// Parallel is how many cases are tried at a time; 0 is one.
	Parallel int
	// Tries bounds the files that are tried to make a case small; 0 is [UsualTries].
	Tries int
	// Progress, where it isn't nil, is called after each case, from one goroutine at a time.
	Progress func(Progress)
}

// UsualTries bounds what is tried to make a case small.
const UsualTries = 1000

// Progress is how far a search is.
type Progress struct {
	Tried     uint64
	Simulated time.Duration
	// Failed is whether a case was found, which is being made small: Tries says how many files were tried for that.
	Failed bool
	Tries  int
}

// Run searches until a case fails, all cases are tried, the budget is spent, or the context ends. That is no error: the Result says how
// many were tried. A case that was found is made small until the context ends.
func Run(ctx context.Context, o Options) (*Result, error) {
	o.Shards, o.Parallel = max(o.Shards, 1), max(o.Parallel, 1)
	if o.Tries == 0 {
		o.Tries = UsualTries
	}
	s := &search{Options: o, waiting: map[uint64]*Outcome{}}
	s.bound.Store(share(o.Cases, o.Shard, o.Shards))
	if o.Cases == 0 {
		s.bound.Store(^uint64(0))
	}
	s.result = Result{
		Kind: ResultKind, Scenario: o.Space.File.Metadata.Name, Input: o.Input, Seed: o.Seed, Cases: o.Cases, Shard: o.Shard,
		Shards: o.Shards, Coverage: newCoverage(o.Space),
	}
	s.known = len(s.result.Coverage.Strategies)
	searching := ctx
	if o.Budget > 0 {
		var cancel context.CancelFunc
		searching, cancel = context.WithTimeout(ctx, o.Budget)
		defer cancel()
	}
	var workers sync.WaitGroup
	for range o.Parallel {
		workers.Go(func() { s.work(searching) })
	}
	workers.Wait()
	if s.failed != nil {
		return nil, s.failed
	}
	s.takeFirst()
	switch {
	case s.result.Found != nil:
		return &s.result, s.makeSmall(ctx)
	case s.result.Tried == 0 && searching.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("found no time for the first case in the budget of %s: want a longer one", o.Budget)
	}
	return &s.result, nil
}

// takeFirst counts the first case that failed although one before it was cut off by the end of the search.
func (s *search) takeFirst() {
	for _, place := range slices.Sorted(maps.Keys(s.waiting)) {
		if o := s.waiting[place]; s.result.Found == nil && len(o.Failures) > 0 {
			s.count(place, o)
		}
	}
}

// search is one that is under way. Its cases have places: 0, 1, 2, … of this shard.
type search struct {
	Options
	next  atomic.Uint64 // place that nobody has taken
	bound atomic.Uint64 // places from here on aren't tried

	mu      sync.Mutex
	known   int                 // strategies that were known before any case
	waiting map[uint64]*Outcome // tried, after a place that isn't yet
	result  Result              // of all places before committed
	failed  error
}

// number is the case at a place.
func (s *search) number(place uint64) uint64 { return place*uint64(s.Shards) + uint64(s.Shard) }

// work tries one case after another.
func (s *search) work(ctx context.Context) {
	for ctx.Err() == nil {
		place := s.next.Add(1) - 1
		if place >= s.bound.Load() {
			return
		}
		o, err := s.Judge(ctx, s.Space.Case(s.Seed, s.number(place)))
		if !s.commit(ctx, place, &o, err) {
			return
		}
	}
}

// commit counts an outcome when all those before it are counted.
func (s *search) commit(ctx context.Context, place uint64, o *Outcome, err error) (goOn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.failed == nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) {
			s.failed = err
		}
		s.bound.Store(0) // the others end too
		return false
	}
	s.waiting[place] = o
	if len(o.Failures) > 0 {
		s.bound.Store(min(s.bound.Load(), place+1)) // only what is before it still matters
	}
	for s.result.Found == nil {
		o, there := s.waiting[s.result.Tried]
		if !there {
			break
		}
		delete(s.waiting, s.result.Tried)
		s.count(s.result.Tried, o)
		s.tell(0)
	}
	return true
}

// count adds the outcome of the case at a place to the result.
func (s *search) count(place uint64, o *Outcome) {
	if len(o.Failures) > 0 {
		s.result.Found = &Found{Case: s.number(place), Failure: o.Failures[0]}
	}
	s.result.Tried++
	s.result.Simulated += Seconds(o.Simulated)
	s.result.Coverage.visit(o, s.known)
}

func (s *search) tell(tries int) {
	if s.Progress != nil {
		s.Progress(Progress{
			Tried: s.result.Tried, Simulated: time.Duration(s.result.Simulated), Failed: s.result.Found != nil, Tries: tries,
		})
	}
}
