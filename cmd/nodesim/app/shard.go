package app

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nodesim/nodesim/internal/app/tapes"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/shards"
	"github.com/nodesim/nodesim/recorder/store"
)

// parseShard reads the flag --shard; the whole where it wasn't given.
func parseShard(text string) (s shards.Shard, err error) {
	if text == "" {
		return s, nil
	}
	if s, err = shards.Parse(text); err != nil {
		return s, usagef("flag --shard %.80q: %w", text, err)
	}
	return s, nil
}

// writeResult writes what a shard, or all of them, came to as a line of JSON.
func writeResult(out io.Writer, res interface{ JSON() ([]byte, error) }) error {
	line, err := res.JSON()
	if err != nil {
		return err
	}
	_, err = out.Write(line)
	return err
}

// workFlags say which tapes of a store are tested or searched through, and by which shard.
type workFlags struct {
	storeFlags
	asOf  instant
	shard string
}

// choose adds the flags that choose tapes, but --nodegroup.
func (f *workFlags) choose(cmd *cobra.Command) {
	f.addOfAnyGroup(cmd)
	cmd.Flags().Var(&f.asOf, "as-of", "tapes of rolls that began before this time, from which --since and --until count back (default now)")
}

// wantStore says of flags that they mean nothing without --store.
func wantStore(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		annotate(flags.Lookup(name), wantsAnnotation, "store")
		annotate(flags.Lookup(name), sectionAnnotation, storeSection)
	}
}

// asked is the query. Where a time is given it is the same whenever it is asked.
func (f *workFlags) asked() (store.Query, error) {
	if f.asOf.IsZero() {
		return f.query(time.Now())
	}
	q, err := f.query(f.asOf.Time)
	if f.until == 0 {
		q.Until = f.asOf.Time
	}
	return q, err
}

// work opens the store, and says which of its tapes the shard has.
func (f *workFlags) work(cmd *cobra.Command) (w tapes.Work, err error) {
	if w.Shard, err = parseShard(f.shard); err != nil {
		return w, err
	}
	if f.shard != "" && f.asOf.IsZero() && (f.since > 0 || f.until > 0) {
		return w, usagef("flag --shard: found --since or --until without --as-of: want the time from which all shards count back, such as --as-of %s", time.Now().UTC().Format(time.RFC3339))
	}
	if w.Query, err = f.asked(); err != nil {
		return w, err
	}
	address, err := f.address()
	if err != nil {
		return w, err
	}
	if w.Store, err = store.Open(cmd.Context(), address); err != nil {
		return w, f.ended(0, err)
	}
	return w, nil
}

// ended is the error of a work that isn't done. Of a shard, whose pod is evicted, or whose store doesn't answer, the Job has to begin the
// index again.
func (f *workFlags) ended(done int, err error) error {
	if f.shard == "" {
		return err
	}
	return &exitError{exitEnded, fmt.Errorf("shard %s: ended after %s of its own: no result is written: run it again: %w", f.shard, phrase.Count(done, "tape"), err)}
}

// addJob adds the flags of a Job that reads a store, whose usual name is this one.
func addJob(cmd *cobra.Command, j *tapes.Job, name string) {
	flags := cmd.Flags()
	flags.StringVar(&j.Image, "image", "", "the `IMAGE` of the pods (required)")
	flags.IntVar(&j.Shards, "shards", 2, "how many shards there are, and pods, `N`")
	flags.StringVar(&j.Name, "name", name, "the `NAME` of the Job and of its ConfigMap")
	flags.StringVar(&j.Claim, "claim", "", "the PersistentVolumeClaim of this `NAME` has the tapes of a store in a folder")
	flags.StringVar(&j.Secret, "secret", "", "the Secret of this `NAME` has variables for the pods' environment, such as credentials of a bucket")
	flags.StringVar(&j.ServiceAccount, "service-account", "", "the `NAME` of the pods' service account")
}

// job says which store a Job reads, and which of its tapes.
func (f *workFlags) job(j *tapes.Job) (err error) {
	if j.Store, err = f.address(); err != nil {
		return err
	}
	if _, err := f.asked(); err != nil {
		return err
	}
	j.Asked = f.words(time.Now())
	return nil
}

// words are the flags that choose the same tapes whenever a shard runs.
func (f *workFlags) words(now time.Time) []string {
	if f.asOf.IsZero() {
		f.asOf.Time = now
	}
	words := []string{"--as-of", f.asOf.String()}
	for _, flag := range []struct{ name, value string }{{"--cluster", f.cluster}, {"--nodegroup", f.group}, {"--outcome", f.outcome}} {
		if flag.value != "" {
			words = append(words, flag.name, flag.value)
		}
	}
	for _, flag := range []struct {
		name  string
		value time.Duration
	}{{"--since", f.since}, {"--until", f.until}} {
		if flag.value > 0 {
			words = append(words, flag.name, flag.value.String())
		}
	}
	return words
}
