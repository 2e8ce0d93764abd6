package hunttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/internal/testcommand"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
	"github.com/nodesim/nodesim/scenarios/hunt/variant"
	"github.com/nodesim/nodesim/scenarios/simcluster/simtest"
	"github.com/nodesim/nodesim/scenarios/spec"
)

var (
	checksFlag = flag.Int("hunt.checks", 0, "cases of each hunttest.Check (default 30, or those of its Config)")
	seedFlag   = flag.Uint64("hunt.seed", 1, "seed of the cases of hunttest.Check")
)

const (
	// usualChecks is the number of cases where nothing says another one: a few seconds.
	usualChecks = 30
	// usualTries bounds what is tried to make a case small.
	usualTries = 100
)

// Config says which clusters a function is tried in.
type Config struct {
	// Scenario is the name of one that ships, or File is a file: its clusters are the cases, the first as it is.
	Scenario string
	File     *scenarios.File
	// NoRoll leaves out the scenario's roll: the controller under test does it, or there is none.
	NoRoll bool
	// Faults are the actions that cases may add, as docs/scenarios.md has them, such as vanish; nil: all that apply. One that doesn't
	// apply to the scenario is an error.
	Faults []string
	// Checks is the number of cases, 0 for 30; the flag -hunt.checks has precedence.
	Checks int
	// Tries bounds the clusters in which a case is made small, 0 for 100.
	Tries int
}

// A Body is a test in one cluster. It fails by t, and may be called in several hundred clusters.
type Body func(t TB, c *simtest.Cluster)

// Check fails a test where a function fails in some cluster. It writes that cluster's scenario file, as small as it becomes, to
// testdata/hunt, and tells how to repeat it. Where the function fails in none, it logs how much was tried, which go test -v shows.
func Check(t *testing.T, c Config, body Body) {
	t.Helper()
	fails, tried := check(t, filepath.Join("testdata", "hunt", filepath.FromSlash(t.Name())), c, body)
	if fails != "" {
		t.Fatal(fails)
	}
	t.Log(tried)
}

// check is Check with a folder of files, and says why it fails, or else how much was tried.
func check(t *testing.T, folder string, c Config, body Body) (fails, tried string) {
	t.Helper()
	before, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range before {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := hunt.Read(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if fails := try(t, variant.Marked(f), body, true); fails != "" { // as in the search that has found it
			return fmt.Sprintf("%s fails again: %s", name, fails), ""
		}
	}
	res := search(t, c, body)
	found := res.Found
	if found == nil {
		return "", res.Summary() + "; " + res.Coverage.Summary()
	}
	sum := sha256.Sum256([]byte(found.File))
	name := filepath.Join(folder, hex.EncodeToString(sum[:6])+".yaml")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(name, []byte(found.File), 0o644); err != nil {
		t.Fatal(err)
	}
	return told(t.Name(), name, found), ""
}

// told is a failure with the cluster that shows it, and how to repeat it.
func told(test, file string, found *hunt.Found) string {
	var b strings.Builder
	fmt.Fprintf(&b, "case %d of seed %d fails: %s\n", found.Case, *seedFlag, found.Failure.Text)
	if found.Unsteady {
		b.WriteString("it didn't fail when it was tried again: the test depends on more than the cluster, such as the order of a map\n")
	} else {
		fmt.Fprintf(&b, "made small in %s: %s: %s\n", phrase.Count(found.Tries, "cluster"), found.Size, found.Small.Text)
	}
	pattern := testcommand.Quote(testcommand.Pattern(test))
	fmt.Fprintf(&b, "%s\nrepeat it: go test -run %s, which tries %s first\n", found.File, pattern, file)
	fmt.Fprintf(&b, "repeat the search: remove that file, and go test -run %s -hunt.seed=%d -hunt.checks=%d", pattern, *seedFlag, found.Case+1)
	return b.String()
}

// Search is Check that fails nothing and writes nothing: it returns the case in which the function fails, made small, or nil.
func Search(t *testing.T, c Config, body Body) *hunt.Found {
	t.Helper()
	return search(t, c, body).Found
}

// search is Search, and what it has tried.
func search(t *testing.T, c Config, body Body) *hunt.Result {
	t.Helper()
	f, err := c.file()
	if err != nil {
		t.Fatal(err)
	}
	checks := c.Checks
	if checks == 0 {
		checks = usualChecks
	}
	if *checksFlag > 0 {
		checks = *checksFlag
	}
	o := hunt.Options{
		Space: variant.NewSpace(variant.Config{File: f, Faults: c.Faults, Seed: *seedFlag}), Seed: *seedFlag, Cases: uint64(checks), Tries: c.Tries,
		Judge: func(_ context.Context, f *spec.File) (o hunt.Outcome, err error) {
			f = variant.Marked(f)
			seen := func(t TB, c *simtest.Cluster) {
				t.Cleanup(func() { // after those of the function, while the cluster is there
					if !t.Failed() {
						err = o.Visit(f, c.Tape())
					}
				})
				body(t, c)
			}
			if fails := try(t, f, seen, false); fails != "" {
				o.Failures = []hunt.Failure{{Kind: hunt.OfTest, Text: firstLine(fails)}}
			}
			return o, err
		},
	}
	if o.Tries == 0 {
		o.Tries = usualTries
	}
	res, err := hunt.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// file is case 0. The error is also of faults that cases can't add to it.
func (c *Config) file() (*spec.File, error) {
	f := c.File
	if f == nil {
		s, err := scenarios.Find(c.Scenario)
		if err != nil {
			return nil, err
		}
		if s.Document == nil {
			return nil, fmt.Errorf("scenario %s: it is a tape and has no cluster: want another one, such as surge", c.Scenario)
		}
		if f, err = s.Document.Resolve(nil, nil); err != nil {
			return nil, err
		}
	}
	is := f.File
	if c.NoRoll {
		is.Roll = nil
	}
	apply := variant.Applicable(&is)
	for _, action := range c.Faults {
		if !slices.Contains(apply, action) {
			return nil, fmt.Errorf("found the fault %q in Config.Faults: want some of those that apply to the scenario %s: %s",
				action, is.Metadata.Name, strings.Join(apply, ", "))
		}
	}
	return &is, nil
}

// firstLine is what a failure begins with.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
