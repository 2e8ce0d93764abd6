package tapetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/replay/policy"
)

// Options say what Run does.
type Options struct {
	// Paths are tapes, or folders that are searched for tapes.
	Paths []string
	// Policies are those that every tape is held against, besides the one in roll.policy.yaml (or .yml) beside a tape
	// roll.yaml. A tape that is held against a policy needs no golden files.
	Policies []*policy.Policy
	// Update writes the golden files in place of comparing.
	Update bool
	// Command describes how the caller is asked to accept what was found, for
	// messages: "nodesim test --update".
	Command string
	// Now stamps the durations of the report; nil leaves them at zero.
	Now func() time.Time
	// Done is told of each result as it comes, in the order of the names.
	Done func(Result)
}

// Result holds what one tape, or one orphaned golden file, came to.
type Result struct {
	Name    string // path of the tape, or of the orphan
	Took    time.Duration
	Updated []written
	// Failures are empty where all is well. The first line of each says what is
	// wrong, and how to accept it; a diff may follow.
	Failures []string
	// Policies are what policies say of the tape.
	Policies []policy.Result
}

// written is a golden file that was written.
type written struct {
	path  string
	empty bool // as a feed is where nothing happens to nodes
}

// Passed reports whether all is well.
func (r Result) Passed() bool {
	return len(r.Failures) == 0 && !slices.ContainsFunc(r.Policies, func(p policy.Result) bool { return !p.Holds })
}

// Report is the result of a run.
type Report struct {
	Results        []Result
	Passed, Failed int
}

// Run tests every tape at the paths. An error means that the run itself could
// not be made: a path that isn't there, a folder without tapes, a context that
// ended. Tapes that are bad are failures.
func Run(ctx context.Context, o Options) (Report, error) {
	var rep Report
	all, err := find(o.Paths)
	if err != nil {
		return rep, err
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.Time{} }
	}
	add := func(r Result) {
		rep.Results = append(rep.Results, r)
		if r.Passed() {
			rep.Passed++
		} else {
			rep.Failed++
		}
		if o.Done != nil {
			o.Done(r)
		}
	}
	for _, s := range all.subjects {
		start := o.Now()
		r := o.test(ctx, s)
		if ctx.Err() != nil {
			return rep, context.Cause(ctx)
		}
		r.Took = o.Now().Sub(start)
		add(r)
	}
	for _, path := range all.orphans {
		add(Result{Name: path, Failures: []string{leftOver(path)}})
	}
	return rep, nil
}

func (o Options) test(ctx context.Context, s Subject) Result {
	r := Result{Name: s.Tape}
	if there, lacks := o.policies(s, &r); there && !o.Update && !exists(s.Feed) && !exists(s.Panel) {
		if lacks != "" { // golden files say so
			r.Failures = append(r.Failures, "not complete: "+lacks)
		}
		return r
	}
	got, err := textsOf(ctx, s.Tape)
	if err != nil {
		r.Failures = append(r.Failures, strings.ReplaceAll(err.Error(), "\n", "; "))
		return r
	}
	for _, g := range []struct{ path, text string }{{s.Feed, got.feed}, {s.Panel, got.panel}} {
		want, err := os.ReadFile(g.path)
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case err == nil && same(string(want), g.text):
		case o.Update && (err == nil || missing):
			if err := atomicfile.Update(g.path, g.text); err != nil {
				r.Failures = append(r.Failures, fmt.Sprintf("%s: %v; nothing was changed", g.path, err))
				continue
			}
			r.Updated = append(r.Updated, written{g.path, g.text == ""})
		case missing:
			r.Failures = append(r.Failures, fmt.Sprintf("%s: no such file: read what the tape shows and accept it with: %s %s", g.path, o.Command, s.Tape))
		case err != nil:
			r.Failures = append(r.Failures, err.Error())
		default:
			r.Failures = append(r.Failures, fmt.Sprintf("%s: differs from what the tape shows (-want +got); if that is right, accept it with: %s %s\n%s",
				g.path, o.Command, s.Tape, diff(string(want), g.text)))
		}
	}
	return r
}

// policies holds a tape against policies, and reports whether there are any, and what the tape lacks of a whole one.
func (o Options) policies(s Subject, r *Result) (there bool, lacks string) {
	all := o.Policies
	if exists(s.Policy) {
		own, err := policy.Find(s.Policy)
		if err != nil {
			r.Failures = append(r.Failures, err.Error())
			return true, ""
		}
		all = append(slices.Clone(all), own)
	}
	if len(all) == 0 {
		return false, ""
	}
	said, lacks, err := analyse.Check(ui.File(s.Tape, nil), analyse.Pods{}, all)
	if err != nil {
		r.Failures = append(r.Failures, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	r.Policies = said
	return true, lacks
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// same compares as golden files are compared everywhere here: checked out with
// CRLF or LF is the same.
func same(file, text string) bool { return strings.ReplaceAll(file, "\r\n", "\n") == text }
