package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/nodesim/nodesim/internal/shards"
)

// Merge puts the results of shards together. Results of another store, program, question or number of shards are refused; the same
// result twice, of a pod that was lost after it had ended, counts once. Shards without a result are in Lacks.
func Merge(all []Result) (*Result, error) {
	if len(all) == 0 {
		return nil, errors.New("found no results: want those of all shards")
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Result) int { return cmp.Compare(a.Shard, b.Shard) })
	m := all[0]
	m.Shard, m.Tapes, m.Lacks = 0, []Tape{}, nil
	there := map[int]*Result{}
	for i := range all {
		r := &all[i]
		if err := m.refuses(r); err != nil {
			return nil, err
		}
		if same := there[r.Shard]; same != nil {
			if !reflect.DeepEqual(same, r) {
				return nil, fmt.Errorf("shard %d: found two results that differ, since tapes came to the store or were removed: want one of each shard: leave one of both out", r.Shard)
			}
			continue
		}
		there[r.Shard] = r
		m.Tapes = append(m.Tapes, r.Tapes...)
	}
	slices.SortStableFunc(m.Tapes, func(a, b Tape) int { return cmp.Compare(a.Name, b.Name) })
	m.count()
	if m.Lacks = shards.Lacking(m.Shards, func(shard int) bool { return there[shard] != nil }); len(m.Lacks) == 0 {
		m.Shards = 1 // as one test of them all
	}
	return &m, nil
}

// refuses says why a result is of another test.
func (r *Result) refuses(o *Result) error {
	for _, d := range []struct {
		what        string
		found, want any
	}{
		{"store", o.Store, r.Store}, {"program", o.Program, r.Program}, {"input", o.Input, r.Input}, {"number of shards", o.Shards, r.Shards},
	} {
		if d.found != d.want {
			return fmt.Errorf("shard %d: found %s %v: want that of the others, %v", o.Shard, d.what, d.found, d.want)
		}
	}
	return nil
}
