package tapes

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
	"strings"

	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/recorder/store"
)

// Work says which tapes of a store a work is of, such as a test, and which shard of it is done.
type Work struct {
	Store *store.Store
	Query store.Query
	Shard shards.Shard
}

// Subject is a tape of a work.
type Subject struct {
	// Name is the tape's key in the store, CLUSTER/2026/11/27/NAME, as it can be printed. No two have one name.
	Name string
	// Tape is its description, the zero one where that is damaged.
	Tape store.Tape
	// File has the tape for as long as it is looked at; "" where Bad says why there is none.
	File, Bad string
}

// Each calls do with each tape of the shard, in the order of their names, and brings it to a file before. Where the store can't be
// read, do returns an error or ctx ends, Each returns an error, and the shard isn't done.
func (w *Work) Each(ctx context.Context, do func(*Subject) error) (err error) {
	folder, err := os.MkdirTemp("", "nodesim-tapes-")
	if err != nil {
		return fmt.Errorf("folder for tapes: %w: want TMPDIR to be one that can be written", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	all, err := w.list(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		s := &all[i]
		if s.Bad == "" {
			if err := w.get(ctx, s, folder); err != nil {
				return err
			}
		}
		if err := do(s); err != nil {
			return err
		}
		if s.File != "" {
			if err := os.Remove(s.File); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// list finds the shard's tapes, and the descriptions that are damaged.
func (w *Work) list(ctx context.Context) (all []Subject, err error) {
	q := w.Query
	q.Choose = func(key string) bool { return w.Shard.Does(nameOf(key)) }
	tapes, skipped, err := w.Store.List(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, t := range tapes {
		all = append(all, Subject{Name: nameOf(t.Key()), Tape: t})
	}
	for _, err := range skipped {
		var one *store.SkippedError
		var damaged *store.DamagedError
		if !errors.As(err, &one) || !errors.As(err, &damaged) {
			return nil, err // it may well be there
		}
		all = append(all, Subject{Name: nameOf(one.Key), Bad: Line(err, "")})
	}
	slices.SortStableFunc(all, func(a, b Subject) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// nameOf is a key as it can be printed. A key of a bucket may be any bytes; those of tapes need no escape, and no two have one name.
func nameOf(key string) string {
	quoted := strconv.Quote(key)
	return quoted[1 : len(quoted)-1]
}

// get brings a tape to a file of the folder, or says what is wrong with it.
func (w *Work) get(ctx context.Context, s *Subject, folder string) error {
	f, err := os.Create(filepath.Join(folder, s.Tape.File()))
	if err != nil {
		return err
	}
	err = w.Store.Get(ctx, s.Tape, f)
	if failed := f.Close(); failed != nil {
		return failed
	}
	var damaged *store.DamagedError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
		s.File = f.Name()
		return nil
	case errors.As(err, &damaged):
		s.Bad = Line(err, "")
	case errors.Is(err, fs.ErrNotExist):
		s.Bad = Line(err, "") + ": the tape was lost, or removed meanwhile"
	default:
		return err
	}
	return os.Remove(f.Name())
}

// Line is an error as one line that can be printed, without the folder of a file that it names, which another shard that runs again
// hasn't; "" for an error that names none.
func Line(err error, file string) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	if file != "" {
		text = strings.ReplaceAll(text, filepath.Dir(file)+string(filepath.Separator), "")
	}
	return noderoll.OneLine(text)
}

// Whole says why a result isn't that of all tapes of a store that were asked for: of so many shards some lack, or there was no tape at all.
func Whole(address string, lacks []int, of, tapes int) error {
	switch {
	case len(lacks) > 0:
		return fmt.Errorf("store %s: found no result of %s of %d: want one of each: run what lacks again", address, shards.Named(lacks), of)
	case tapes == 0 && of == 1:
		return fmt.Errorf("store %s: found no such tape: nodesim tapes list shows those that are there", address)
	}
	return nil
}
