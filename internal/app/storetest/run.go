package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

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
func Run(ctx context.Context, c Config) (_ *Result, err error) {
	folder, err := os.MkdirTemp("", "nodesim-test-")
	if err != nil {
		return nil, fmt.Errorf("folder for tapes: %w: want TMPDIR to be one that can be written", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	subjects, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	res := &Result{
		Kind: ResultKind, Program: version.Get().Version, Store: c.Store.Address, Input: input(&c.Query, c.Policies),
		Shard: c.Shard.Index, Shards: max(1, c.Shard.Of), Tapes: []Tape{},
	}
	for _, s := range subjects {
		is := Tape{Name: s.name}
		if s.damaged != nil {
			is.Failures = []string{line(s.damaged, "")}
		} else if is, err = c.test(ctx, &s, folder); err != nil {
			return nil, err
		}
		res.Tapes = append(res.Tapes, is)
		if c.Done != nil {
			c.Done(is.result())
		}
	}
	res.count()
	return res, nil
}

// subject is a tape, or a description that is damaged.
type subject struct {
	name    string
	tape    store.Tape
	damaged error
}

// list finds the shard's tapes.
func (c *Config) list(ctx context.Context) (all []subject, err error) {
	q := c.Query
	q.Choose = func(key string) bool { return c.Shard.Does(nameOf(key)) }
	tapes, skipped, err := c.Store.List(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, t := range tapes {
		all = append(all, subject{name: nameOf(t.Key()), tape: t})
	}
	for _, err := range skipped {
		var one *store.SkippedError
		var damaged *store.DamagedError
		if !errors.As(err, &one) || !errors.As(err, &damaged) {
			return nil, err // it may well be there
		}
		all = append(all, subject{name: nameOf(one.Key), damaged: err})
	}
	slices.SortStableFunc(all, func(a, b subject) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// nameOf is a key as it can be printed. A key of a bucket may be any bytes; those of tapes need no escape, and no two have one name.
func nameOf(key string) string {
	quoted := strconv.Quote(key)
	return quoted[1 : len(quoted)-1]
}

// test gets a tape and tests it.
func (c *Config) test(ctx context.Context, s *subject, folder string) (is Tape, err error) {
	is = Tape{Name: s.name, SHA256: s.tape.SHA256}
	f, err := os.Create(filepath.Join(folder, s.tape.File()))
	if err != nil {
		return is, err
	}
	err = c.Store.Get(ctx, s.tape, f)
	if failed := f.Close(); failed != nil {
		return is, failed
	}
	var damaged *store.DamagedError
	switch {
	case ctx.Err() != nil:
		return is, context.Cause(ctx)
	case err == nil:
		is.check(&s.tape, f.Name(), c.Policies)
	case errors.As(err, &damaged):
		is.Failures = []string{line(err, "")}
	case errors.Is(err, fs.ErrNotExist):
		is.Failures = []string{line(err, "") + ": the tape was lost, or removed while it was tested"}
	default:
		return is, err
	}
	return is, errors.Join(os.Remove(f.Name()), context.Cause(ctx))
}
