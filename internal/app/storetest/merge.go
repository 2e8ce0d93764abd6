package storetest

import (
	"cmp"
	"slices"
)

// Merge puts the results of shards together. Results of another store, program, question or number of shards are refused; the same
// result twice, of a pod that was lost after it had ended, counts once. Shards without a result are in Lacks.
func Merge(all []Result) (*Result, error) {
	all, lacks, err := work.Once(all)
	if err != nil {
		return nil, err
	}
	m := all[0]
	m.Shard, m.Tapes, m.Lacks = 0, []Tape{}, lacks
	for i := range all {
		m.Tapes = append(m.Tapes, all[i].Tapes...)
	}
	slices.SortStableFunc(m.Tapes, func(a, b Tape) int { return cmp.Compare(a.Name, b.Name) })
	m.count()
	if len(m.Lacks) == 0 {
		m.Shards = 1 // as one test of them all
	}
	return &m, nil
}
