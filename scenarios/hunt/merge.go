package hunt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/nodesim/nodesim/internal/shards"
)

// results are the lines of a log that are of searches.
var results = shards.Results{Kind: ResultKind, Command: "nodesim hunt -o json"}

// ReadResults reads the results in files, which may be logs that have other lines as well; "-" is standard input.
func ReadResults(files []string, stdin io.Reader) (all []Result, err error) {
	err = results.Read(files, stdin, func(line []byte) error {
		var one Result
		if err := json.Unmarshal(line, &one); err != nil {
			return err
		}
		all = append(all, one)
		return shards.Shard{Index: one.Shard, Of: one.Shards}.Check()
	})
	return all, err
}

// Merge puts the results of shards together: the failing case with the lowest number, and all that was tried. Results of another
// input, seed or number of cases or shards are refused; the same result twice counts once.
func Merge(all []Result) (*Result, error) {
	if len(all) == 0 {
		return nil, errors.New("found no results: want those of all shards")
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Result) int { return cmp.Compare(a.Shard, b.Shard) })
	m := all[0]
	m.Shard, m.Tried, m.Simulated, m.Found, m.Lacks, m.Unfinished = 0, 0, 0, nil, nil, nil
	m.Coverage.Cells, m.Coverage.Untried = []Cell{}, nil
	there := map[int]*Result{}
	for i := range all {
		r := &all[i]
		if err := m.refuses(r); err != nil {
			return nil, err
		}
		if same := there[r.Shard]; same != nil {
			if !reflect.DeepEqual(same, r) {
				return nil, fmt.Errorf("shard %d: found two results that differ: want one of each shard", r.Shard)
			}
			continue
		}
		there[r.Shard] = r
		m.take(r)
	}
	m.Lacks = shards.Lacking(m.Shards, func(shard int) bool { return there[shard] != nil })
	m.Unfinished = shards.Lacking(m.Shards, func(shard int) bool { return there[shard] == nil || there[shard].finished() })
	if len(m.Lacks)+len(m.Unfinished) == 0 {
		m.Shards = 1 // as one search that tried them all
	}
	return &m, nil
}

// refuses says why a result is of another search.
func (r *Result) refuses(o *Result) error {
	for _, d := range []struct {
		what        string
		found, want any
	}{
		{"scenario", o.Scenario, r.Scenario}, {"input", o.Input, r.Input}, {"seed", o.Seed, r.Seed}, {"number of cases", o.Cases, r.Cases},
		{"number of shards", o.Shards, r.Shards},
	} {
		if d.found != d.want {
			return fmt.Errorf("shard %d: found %s %v: want that of the others, %v", o.Shard, d.what, d.found, d.want)
		}
	}
	return nil
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
