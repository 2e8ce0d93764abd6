package hunt

import (
	"errors"
	"io"
	"slices"

	"github.com/nodesim/nodesim/internal/shards"
)

// work is a search in shards.
var work = shards.Work[Result]{
	Results: shards.Results{Kind: ResultKind, Command: "nodesim hunt -o json"},
	Shard:   func(r *Result) shards.Shard { return shards.Shard{Index: r.Shard, Of: r.Shards} },
	Facts: func(r *Result) []shards.Fact {
		return []shards.Fact{{What: "scenario", Is: r.Scenario}, {What: "input", Is: r.Input}, {What: "seed", Is: r.Seed}, {What: "number of cases", Is: r.Cases}}
	},
	Check: func(r *Result) error {
		if len(r.Lacks)+len(r.Unfinished) > 0 {
			return errors.New("found a merged result that lacks cases, and not one of a shard")
		}
		return nil
	},
	Differ: ": want one of each shard",
}

// ReadResults reads the results in files, which may be logs that have other lines as well; "-" is standard input.
func ReadResults(files []string, stdin io.Reader) ([]Result, error) { return work.Read(files, stdin) }

// ReadResult reads a line that [Result.JSON] has made. One that no shard can have written is refused.
func ReadResult(line []byte) (Result, error) { return work.One(line) }

// Merge puts the results of shards together: the failing case with the lowest number, and all that was tried. Results of another
// input, seed or number of cases or shards are refused; the same result twice counts once.
func Merge(all []Result) (*Result, error) {
	all, lacks, err := work.Once(all)
	if err != nil {
		return nil, err
	}
	m := all[0]
	m.Shard, m.Tried, m.Simulated, m.Found, m.Lacks, m.Unfinished = 0, 0, 0, nil, lacks, nil
	m.Coverage.Strategies = slices.Clone(m.Coverage.Strategies)
	m.Coverage.Cells, m.Coverage.Untried = []Cell{}, nil
	known := alike(all)
	for i := range all {
		r := &all[i]
		m.take(r, known)
		if !r.finished() {
			m.Unfinished = append(m.Unfinished, r.Shard)
		}
	}
	if len(m.Lacks)+len(m.Unfinished) == 0 {
		m.Shards = 1 // as one search that tried them all
	}
	return &m, nil
}

// alike is how many strategies all results begin with.
func alike(all []Result) int {
	n := len(all[0].Coverage.Strategies)
	for i := range all {
		if one := all[i].Coverage.Strategies; len(one) < n {
			n = len(one)
		}
	}
	for i := range all {
		for j := range n {
			if all[i].Coverage.Strategies[j] != all[0].Coverage.Strategies[j] {
				n = j
				break
			}
		}
	}
	return n
}

// take adds the result of one shard.
func (r *Result) take(o *Result, known int) {
	r.Tried += o.Tried
	r.Simulated += o.Simulated
	r.Coverage.add(&o.Coverage, known)
	if o.Found != nil && (r.Found == nil || o.Found.Case < r.Found.Case) {
		r.Found = o.Found
	}
}
