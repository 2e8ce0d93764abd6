package tapetest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/timeline"
)

const (
	feedEnding  = ".feed.golden"
	panelEnding = ".panel.golden"
	// policyEnding is that of a policy that the tape beside it is held against.
	policyEnding = ".policy.yaml"
	// shortPolicyEnding does as well, where there is none with policyEnding.
	shortPolicyEnding = ".policy.yml"
)

// tapeEndings hold what a tape's name may end in, the longest first.
var tapeEndings = []string{".yaml.gz", ".yaml.zst", ".yml.gz", ".yml.zst", ".jsonl.gz", ".jsonl.zst", ".yaml", ".yml", ".jsonl"}

// Subject is one tape with its golden files and its policy.
type Subject struct {
	Tape                string
	Feed, Panel, Policy string // paths, whether there are such files or not
}

func subject(tape string) (Subject, bool) {
	for _, ending := range tapeEndings {
		if stem, ok := strings.CutSuffix(tape, ending); ok && filepath.Base(stem) != "." && stem != "" {
			return Subject{tape, stem + feedEnding, stem + panelEnding, policyOf(stem)}, true
		}
	}
	return Subject{}, false
}

// policyOf is the path of the policy beside a tape, whether there is one or not.
func policyOf(stem string) string {
	if short := stem + shortPolicyEnding; exists(short) && !exists(stem+policyEnding) {
		return short
	}
	return stem + policyEnding
}

// leftOver says why an orphan is none of a tape's files.
func leftOver(path string) string {
	if stem, short := strings.CutSuffix(path, shortPolicyEnding); short && exists(stem+policyEnding) {
		return fmt.Sprintf("%s: %s is there as well: want one of them", path, stem+policyEnding)
	}
	return fmt.Sprintf("%s: no tape beside it: want a tape of that name, or the file deleted", path)
}

// found holds what was found at the paths.
type found struct {
	subjects []Subject
	orphans  []string // golden files and policies that are no tape's
}

// find looks for tapes at the paths: files, or folders with everything below
// them. A folder may hold other YAML as well: only what begins as a tape counts,
// or has a golden file.
func find(paths []string) (found, error) {
	var all found
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return all, err
		}
		if !info.IsDir() {
			s, ok := subject(path)
			if !ok {
				return all, fmt.Errorf("tape %s: want a name that ends in .yaml or .jsonl, or in one of them and .gz or .zst", path)
			}
			all.subjects = append(all.subjects, s)
			continue
		}
		here, err := below(path)
		if err != nil {
			return all, err
		}
		if len(here.subjects)+len(here.orphans) == 0 {
			return all, fmt.Errorf("folder %s: found no tape; want files such as roll.yaml, roll.yaml.gz or roll.yaml.zst that begin with apiVersion: %s", path, timeline.APIVersion)
		}
		all.subjects = append(all.subjects, here.subjects...)
		all.orphans = append(all.orphans, here.orphans...)
	}
	slices.SortFunc(all.subjects, func(a, b Subject) int { return cmp.Compare(a.Tape, b.Tape) })
	all.subjects = slices.Compact(all.subjects)
	slices.Sort(all.orphans)
	all.orphans = slices.Compact(all.orphans)
	return all, all.distinct()
}

// distinct refuses two tapes for one pair of golden files.
func (f found) distinct() error {
	of := map[string]string{}
	for _, s := range f.subjects {
		if other, taken := of[filepath.Clean(s.Feed)]; taken && filepath.Clean(other) != filepath.Clean(s.Tape) {
			return fmt.Errorf("tapes %s and %s: both are held against %s; want names that differ before the ending", other, s.Tape, s.Feed)
		}
		of[filepath.Clean(s.Feed)] = s.Tape
	}
	return nil
}

func below(folder string) (found, error) {
	var here found
	goldens := map[string]bool{}
	var candidates []Subject
	if info, err := os.Lstat(folder); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		folder += string(filepath.Separator) // or a walk wouldn't follow it
	}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != folder && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir():
		case strings.HasSuffix(path, feedEnding), strings.HasSuffix(path, panelEnding),
			strings.HasSuffix(path, policyEnding), strings.HasSuffix(path, shortPolicyEnding):
			goldens[path] = true
		default:
			if s, ok := subject(path); ok {
				candidates = append(candidates, s)
			}
		}
		return nil
	})
	if err != nil {
		return here, err
	}
	for _, s := range candidates {
		if !goldens[s.Feed] && !goldens[s.Panel] && !goldens[s.Policy] && !looksLikeTape(s.Tape) {
			continue
		}
		here.subjects = append(here.subjects, s)
		delete(goldens, s.Feed)
		delete(goldens, s.Panel)
		delete(goldens, s.Policy)
	}
	for path := range goldens {
		here.orphans = append(here.orphans, path)
	}
	return here, nil
}

// looksLikeTape reports whether a file says of itself that it is a tape, of
// whatever version and however broken after that.
func looksLikeTape(path string) bool {
	r, err := timeline.Open(path, timeline.Lines())
	if err == nil {
		return r.Close() == nil
	}
	var bad *timeline.Error
	if !errors.As(err, &bad) {
		return true // it can't be opened: the test will say so
	}
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	start := make([]byte, 4096)
	n, _ := f.Read(start)
	start = start[:n]
	if f.Close() != nil {
		return true
	}
	if strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".zst") {
		return true // compressed, and nothing can be read of it
	}
	return bytes.Contains(start, []byte("nodesim.dev/")) && bytes.Contains(start, []byte(timeline.Kind))
}
