package hunt

import (
	"io"

	"github.com/nodesim/nodesim/internal/shards"
)

// work is a search in shards.
var work = shards.Work[Result]{
	Results: shards.Results{Kind: ResultKind, Command: "nodesim hunt -o json"},
	Shard:   func(r *Result) shards.Shard { return shards.Shard{Index: r.Shard, Of: r.Shards} },
	Facts: func(r *Result) []shards.Fact {
		return []shards.Fact{{What: "scenario", Is: r.Scenario}, {What: "input", Is: r.Input}, {What: "seed", Is: r.Seed}, {What: "number of cases", Is: r.Cases}}
	},
	Differ: ": want one of each shard",
}

// ReadResults reads the results in files, which may be logs that have other lines as well; "-" is standard input.
func ReadResults(files []string, stdin io.Reader) ([]Result, error) { return work.Read(files, stdin) }

// Merge puts the results of shards together: the failing case with the lowest number, and all that was tried. Results of another
// input, seed or number of cases or shards are refused; the same result twice counts once.
func Merge(all []Result) (*Result, error) {
	all, lacks, err := work.Once(all)
	if err != nil {
		return nil, err
	}
	m := all[0]
	m.Shard, m.Tried, m.Simulated, m.Found, m.Lacks, m.Unfinished = 0, 0, 0, nil, lacks, nil
	m.Coverage.Cells, m.Coverage.Untried = []Cell{}, nil
	for i := range all {
		r := &all[i]
		m.take(r)
		if !r.finished() {
			m.Unfinished = append(m.Unfinished, r.Shard)
		}
	}
	if len(m.Lacks)+len(m.Unfinished) == 0 {
		m.Shards = 1 // as one search that tried them all
	}
	return &m, nil
}

// take adds the result of one shard.
func (r *Result) take(o *Result) {
	r.Tried += o.Tried
	r.Simulated += o.Simulated
	r.Coverage.add(&o.Coverage)
	if o.Found != nil && (r.Found == nil || o.Found.Case < r.Found.Case) {
		r.Found = o.Found
	}
}
