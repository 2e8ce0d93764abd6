package hunt

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// mostLine bounds a line of what is merged: a result with its scenario file.
const mostLine = 64 << 20

// ReadResults reads the results in a text: each on a line of its own, among others that a log may have. name is the text's in errors.
func ReadResults(name string, r io.Reader) (all []Result, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if !bytes.HasPrefix(line, []byte(`{"kind":"`+ResultKind+`"`)) {
			continue
		}
		var one Result
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w: want a line of nodesim hunt -o json", name, n, err)
		}
		if one.Shards < 1 || one.Shard < 0 || one.Shard >= one.Shards {
			return nil, fmt.Errorf("%s: line %d: found shard %d of %d: want one from 0 on, below their number", name, n, one.Shard, one.Shards)
		}
		all = append(all, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: found no result: want a line of nodesim hunt -o json", name)
	}
	return all, nil
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
	for shard := range m.Shards {
		switch r := there[shard]; {
		case r == nil:
			m.Lacks = append(m.Lacks, shard)
		case !r.finished():
			m.Unfinished = append(m.Unfinished, shard)
		}
	}
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
