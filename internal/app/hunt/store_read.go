package hunt

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios/hunt"
)

// storeWork is a search through a store in shards.
var storeWork = shards.Work[StoreResult]{
	Results: shards.Results{Kind: StoreResultKind, Command: "nodesim hunt --store URL -o json"},
	Shard:   (*StoreResult).shard,
	Facts: func(r *StoreResult) []shards.Fact {
		return []shards.Fact{
			{What: "store", Is: r.Store}, {What: "program", Is: r.Program}, {What: "input", Is: r.Input}, {What: "seed", Is: r.Seed},
			{What: "number of cases", Is: r.Cases},
		}
	},
	Check:  (*StoreResult).check,
	Differ: ", since tapes came to the store or were removed: want one of each shard: leave one of both out",
}

// ReadResults reads the results in files, which may be logs that have other lines as well; "-" is standard input. They are either of one
// scenario's search or of one through a store's tapes.
func ReadResults(names []string, stdin io.Reader) (cases []hunt.Result, stored []StoreResult, err error) {
	ofCases := shards.Taker{Results: shards.Results{Kind: hunt.ResultKind, Command: "nodesim hunt -o json"}, Take: func(line []byte) error {
		one, err := hunt.ReadResult(line)
		cases = append(cases, one)
		return err
	}}
	err = shards.Read(names, stdin, ofCases, storeWork.Taker(&stored))
	if err == nil && len(cases) > 0 && len(stored) > 0 {
		err = errors.New("found results of a search through a store beside those of another one: want those of one search")
	}
	return cases, stored, err
}

// MergeStore puts the results of shards together. Results of another store, program, question, seed or number of cases or shards are
// refused; the same result twice, of a pod that was lost after it had ended, counts once. Shards without a result are in Lacks.
func MergeStore(all []StoreResult) (*StoreResult, error) {
	all, lacks, err := storeWork.Once(all)
	if err != nil {
		return nil, err
	}
	m := all[0]
	m.Shard, m.Tapes, m.Lacks = 0, []StoreTape{}, lacks
	for i := range all {
		m.Tapes = append(m.Tapes, all[i].Tapes...)
	}
	slices.SortStableFunc(m.Tapes, func(a, b StoreTape) int { return cmp.Compare(a.Name, b.Name) })
	m.count()
	if len(m.Lacks) == 0 {
		m.Shards = 1 // as one search through them all
	}
	return &m, nil
}

func (r *StoreResult) shard() shards.Shard { return shards.Shard{Index: r.Shard, Of: r.Shards} }

// check refuses what is damaged, or isn't of one shard.
func (r *StoreResult) check() error {
	shard := r.shard()
	switch {
	case len(r.Lacks) > 0:
		return errors.New("found a merged result that lacks shards, want those of the shards")
	case r.Cases == 0:
		return errors.New("found 0 cases of each tape, want 1 or more: the result is damaged")
	}
	for i := range r.Tapes {
		t := &r.Tapes[i]
		if !shard.Does(t.Name) {
			return fmt.Errorf("found the tape %.200q in the result of shard %s, want it in that of shard %d", t.Name, shard, shards.ByName(t.Name, r.Shards))
		}
		if i > 0 && t.Name <= r.Tapes[i-1].Name {
			return fmt.Errorf("found the tape %.200q after %.200q, want each once, in the order of their names: the result is damaged", t.Name, r.Tapes[i-1].Name)
		}
		if err := t.check(r.Cases); err != nil {
			return fmt.Errorf("tape %.200q: %w: the result is damaged", t.Name, err)
		}
	}
	said := *r
	if r.count(); r.Searched != said.Searched || r.Tried != said.Tried || r.Failed != said.Failed || r.LeftOut != said.LeftOut {
		return fmt.Errorf("found %q beside tapes of which it is %q: the result is damaged", said.Summary(), r.Summary())
	}
	return nil
}

// check refuses what no search says: its texts are printed as they are, and it has tried all cases up to the failing one.
func (t *StoreTape) check(cases uint64) error {
	wants, texts := cases, []string{t.Name}
	if t.Found != nil {
		wants, texts = t.Found.Case+1, append(texts, t.Found.Size)
	}
	if t.LeftOut != "" {
		wants = 0
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("found the text %.80q, want one that can be printed", text)
		}
	}
	switch {
	case t.LeftOut != noderoll.OneLine(t.LeftOut):
		return fmt.Errorf("found the text %.80q, want one that can be printed", t.LeftOut)
	case t.LeftOut != "" && t.Found != nil:
		return fmt.Errorf("found case %d, and that the tape was left out: want one of them", t.Found.Case)
	case t.Found != nil && t.Found.Case >= cases:
		return fmt.Errorf("found case %d, want one below %d", t.Found.Case, cases)
	case t.Tried != wants:
		return fmt.Errorf("found %s tried, want %d", phrase.Count(int(t.Tried), "case"), wants)
	}
	return nil
}
