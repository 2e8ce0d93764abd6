package storetest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/replay/policy"
)

// work is a test in shards.
var work = shards.Work[Result]{
	Results: shards.Results{Kind: ResultKind, Command: "nodesim test --store URL -o json"},
	Shard:   (*Result).shard,
	Facts: func(r *Result) []shards.Fact {
		return []shards.Fact{{What: "store", Is: r.Store}, {What: "program", Is: r.Program}, {What: "input", Is: r.Input}}
	},
	Check:  (*Result).check,
	Differ: ", since tapes came to the store or were removed: want one of each shard: leave one of both out",
}

// ReadResults reads the results in files, which may be logs that have other lines as well; "-" is standard input. One that no shard
// can have written is refused.
func ReadResults(files []string, stdin io.Reader) ([]Result, error) { return work.Read(files, stdin) }

func (r *Result) shard() shards.Shard { return shards.Shard{Index: r.Shard, Of: r.Shards} }

// check refuses what is damaged, or isn't of one shard.
func (r *Result) check() error {
	shard := r.shard()
	if len(r.Lacks) > 0 {
		return errors.New("found a merged result that lacks shards, want those of the shards")
	}
	for i := range r.Tapes {
		if name := r.Tapes[i].Name; !shard.Does(name) {
			return fmt.Errorf("found the tape %.200q in the result of shard %s, want it in that of shard %d", name, shard, shards.ByName(name, r.Shards))
		}
		for j := range r.Tapes[i].Policies {
			if err := checkPolicy(&r.Tapes[i].Policies[j]); err != nil {
				return fmt.Errorf("tape %.200q: %w", r.Tapes[i].Name, err)
			}
		}
	}
	passed, failed := r.Passed, r.Failed
	if r.count(); r.Passed != passed || r.Failed != failed {
		return fmt.Errorf("found %d passed and %d failed beside tapes of which %d pass and %d fail: the result is damaged", passed, failed, r.Passed, r.Failed)
	}
	return nil
}

// checkPolicy refuses what no policy says: its texts are escaped, and are printed as they are.
func checkPolicy(p *policy.Result) error {
	texts, holds := []string{p.Policy}, true
	for i := range p.Rules {
		rule := &p.Rules[i]
		holds = holds && !rule.Failed()
		texts = append(texts, rule.Rule, string(rule.Severity), string(rule.Over), rule.Lacks)
		for _, v := range rule.Violations {
			texts = append(texts, v.Object, v.Message, v.Found, v.Wanted)
		}
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("policy %.80q: found the text %.80q, want one that can be printed: the result is damaged", p.Policy, text)
		}
	}
	if holds != p.Holds {
		return fmt.Errorf("policy %.80q: found that it holds: %v, beside rules by which it is: %v: the result is damaged", p.Policy, p.Holds, holds)
	}
	return nil
}
