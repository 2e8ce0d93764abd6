package storetest

import (
	"context"

	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/app/tapetest"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/replay/policy"
)

// Config says which tapes are tested.
type Config struct {
	Store    *store.Store
	Query    store.Query
	Policies []*policy.Policy
	Shard    shards.Shard
	// Done is told of each tape as it comes, in the order of the names; it may be nil.
	Done func(tapetest.Result)
}

// Run tests the tapes of a shard. Of a tape that is damaged or bad the result says so. Where the store can't be read, or ctx ends,
// there is no result: an error says why.
func Run(ctx context.Context, c Config) (*Result, error) {
	res := &Result{
		Kind: ResultKind, Program: version.Get().Version, Store: c.Store.Address, Input: tapes.Input(&c.Query, c.Policies),
		Shard: c.Shard.Index, Shards: max(1, c.Shard.Of), Tapes: []Tape{},
	}
	w := tapes.Work{Store: c.Store, Query: c.Query, Shard: c.Shard}
	err := w.Each(ctx, func(s *tapes.Subject) error {
		is := Tape{Name: s.Name, SHA256: s.Tape.SHA256}
		if s.Bad != "" {
			is.Failures = []string{s.Bad}
		} else {
			is.check(&s.Tape, s.File, c.Policies)
		}
		res.Tapes = append(res.Tapes, is)
		if c.Done != nil {
			c.Done(is.result())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.count()
	return res, nil
}
