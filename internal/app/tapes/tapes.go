// Package tapes shows what is in a store of tapes, gets tapes from there, and removes old ones. It brings them to a [Work] one after the
// other, as one or in the shards of a [Job] of Kubernetes.
//
// What goes in: a store and a query. What comes out: a table or JSON, files, and a line on standard error for each description that
// can't be read; of a work, its tapes, whose shard depends on their keys alone. It never replaces a file, and removes nothing unless told to.
package tapes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/recorder/store"
)

// listing is what list prints as JSON.
type listing struct {
	Tapes []store.Tape `json:"tapes"`
}

// find lists tapes, and says of which there are none that can be read.
func find(ctx context.Context, s *store.Store, q store.Query, errs io.Writer) ([]store.Tape, error) {
	all, skipped, err := s.List(ctx, q)
	for _, err := range skipped {
		fmt.Fprintf(errs, "warning: %s: left out\n", phrase.Escaped(err.Error())) // others write there
	}
	return all, err
}

// List prints tapes, oldest roll first.
func List(ctx context.Context, s *store.Store, q store.Query, asJSON bool, out, errs io.Writer) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := find(ctx, s, q, errs)
	if err != nil {
		return err
	}
	if asJSON {
		text, err := json.Marshal(listing{append([]store.Tape{}, all...)})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", text)
		return err
	}
	if len(all) == 0 {
		fmt.Fprintf(errs, "%s has no such tape\n", s.Address)
		return nil
	}
	return table(out, all)
}

func table(out io.Writer, all []store.Tape) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tCLUSTER\tGROUP\tBEGAN\tTOOK\tTRIGGER\tOUTCOME\tGAPS\tSIZE")
	for _, t := range all {
		cluster := t.ClusterName
		if cluster == "" {
			cluster = t.Cluster[:min(8, len(t.Cluster))]
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\n", t.Name, plain(cluster), plain(t.Group), t.Began.UTC().Format("2006-01-02 15:04:05"),
			t.Ended.Sub(t.Began).Round(time.Second), plain(string(t.Trigger.Kind)), plain(string(t.Outcome)), t.Gaps, size(t.Bytes))
	}
	return w.Flush()
}

// plain is a text of the store's as a cell: others write there.
func plain(s string) string {
	if s == "" {
		return "-"
	}
	quoted := fmt.Sprintf("%q", s)
	return quoted[1 : len(quoted)-1]
}

func size(bytes int64) string {
	const unit = 1 << 10
	if bytes < unit {
		return fmt.Sprintf("%dB", bytes)
	}
	return resource.NewQuantity((bytes+unit-1)/unit*unit, resource.BinarySI).String()
}

// Get writes tapes to files of a folder: those of these names, or all that the query leaves where there are no names.
func Get(ctx context.Context, s *store.Store, q store.Query, names []string, folder string, out, errs io.Writer) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := find(ctx, s, q, errs)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		for _, name := range names {
			if !slices.ContainsFunc(all, func(t store.Tape) bool { return t.Name == name }) {
				return fmt.Errorf("store %s: tape %q: found none of that name: nodesim tapes list shows those that are there", s.Address, name)
			}
		}
		all = slices.DeleteFunc(all, func(t store.Tape) bool { return !slices.Contains(names, t.Name) })
	}
	if len(all) == 0 {
		return fmt.Errorf("store %s: found no such tape: nodesim tapes list shows those that are there", s.Address)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("flag --out: %w: want a folder that can be written", err)
	}
	var failed []error
	for i, t := range all {
		name := filepath.Join(folder, t.File())
		if ctx.Err() != nil {
			failed = append(failed, ended(ctx, len(all)-i))
			break
		}
		if err := get(ctx, s, t, name); err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Fprintln(out, name)
	}
	return errors.Join(failed...)
}

// ended is the error of what was ended from outside before it came to so many tapes.
func ended(ctx context.Context, left int) error {
	return fmt.Errorf("ended from outside with %s left: run it again: %w", phrase.Count(left, "tape"), context.Cause(ctx))
}

// get writes a tape to a file that isn't there yet, or that is this tape already, as an earlier get has left it. What is half
// written is never left under its name.
func get(ctx context.Context, s *store.Store, t store.Tape, name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return atomicfile.Fill(name, 0o644, func(f *os.File) error { return s.Get(ctx, t, f) })
	case err != nil:
		return err
	}
	if info.Mode().IsRegular() && info.Size() == t.Bytes {
		if _, sum, err := atomicfile.Sum(name); err != nil || sum == t.SHA256 {
			return err
		}
	}
	return fmt.Errorf("%s: the file is there: want another folder by --out, or remove it", name)
}

// Prune removes what has to go, or says what would.
func Prune(ctx context.Context, s *store.Store, q store.Query, keep store.Keep, yes bool, out, errs io.Writer) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	all, err := find(ctx, s, q, errs)
	if err != nil {
		return err
	}
	surplus := keep.Surplus(all, time.Now())
	freed := int64(0)
	var failed []error
	removed := 0
	for i, t := range surplus {
		if ctx.Err() != nil {
			failed = append(failed, ended(ctx, len(surplus)-i))
			break
		}
		if yes {
			if err := s.Delete(ctx, t); err != nil {
				failed = append(failed, err)
				continue
			}
		}
		freed += t.Bytes
		removed++
		fmt.Fprintln(out, t.Name)
	}
	switch {
	case yes:
		fmt.Fprintf(errs, "removed %d of %d tapes, %s\n", removed, len(all), size(freed))
	default:
		fmt.Fprintf(errs, "would remove %d of %d tapes, %s: --yes removes them\n", removed, len(all), size(freed))
	}
	return errors.Join(failed...)
}
