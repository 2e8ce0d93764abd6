package plan

import (
	"context"
	"slices"
	"sync"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Of plans the roll that the options ask for. Where the context ends, the error is the context's.
func Of(ctx context.Context, f *scenarios.File, o Options) (*Plan, error) {
	file, err := Prepare(f, o)
	if err != nil {
		return nil, err
	}
	return of(ctx, file, o, progress(o, runs(o)))
}

func runs(o Options) int {
	if o.Runs == 0 {
		return DefaultRuns
	}
	return o.Runs
}

// progress counts the runs that are done of so many.
func progress(o Options, total int) func() {
	done := 0
	return func() {
		if done++; o.Progress != nil {
			o.Progress(done, total)
		}
	}
}

// of plans the roll of a file that is prepared.
func of(ctx context.Context, f *scenarios.File, o Options, ran func()) (*Plan, error) {
	r, err := newRehearsal(f, o.Policies)
	if err != nil {
		return nil, err
	}
	all, err := r.parallel(ctx, runs(o), max(o.Parallel, 1), ran)
	if err != nil {
		return nil, err
	}
	p := describe(f)
	for _, c := range o.WhatIf {
		p.WhatIf = append(p.WhatIf, c.String())
	}
	fold(p, all)
	return p, nil
}

// parallel runs so many seeds, some at a time. The first error, or the context's end, ends all.
func (r *rehearsal) parallel(ctx context.Context, runs, workers int, ran func()) ([]*outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := make([]*outcome, runs)
	var mu sync.Mutex
	next := 0
	take := func() (i int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		i, next = next, next+1
		return i, i < runs
	}
	done := func(i int, o *outcome) {
		mu.Lock()
		defer mu.Unlock()
		all[i] = o
		ran()
	}
	var working sync.WaitGroup
	for range min(workers, runs) {
		working.Go(func() {
			for i, ok := take(); ok; i, ok = take() {
				o, err := r.run(ctx, r.file.Seed+uint64(i))
				if err != nil {
					cancel(err)
					return
				}
				done(i, o)
			}
		})
	}
	working.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return all, nil
}

// describe tells what is rolled, and how.
func describe(f *scenarios.File) *Plan {
	p := &Plan{
		Scenario: f.Metadata.Name, Groups: slices.Clone(f.Roll.Groups), Roll: settings(f.Roll), To: []Target{}, WhatIf: []string{},
		TimeLimit: Duration(f.TimeLimit), Timings: timings(&f.File), LeftOut: append([]string{}, f.LeftOut...),
	}
	for i := range f.Groups {
		if g := &f.Groups[i]; slices.Contains(p.Groups, g.Name) {
			p.Nodes += g.Nodes
			p.To = append(p.To, Target{g.Name, g.To.Version, g.To.Image, g.To.InstanceType})
		}
	}
	for i := range f.Workloads {
		w := &f.Workloads[i]
		p.Pods += w.Replicas
		if w.Kind == spec.KindPod {
			p.bare += w.Replicas
		}
	}
	return p
}
