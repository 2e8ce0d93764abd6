package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// counted are the packages whose blocks are counted: all that a tape goes through, and this one, without which
// the program has no counters.
var counted = []string{"timeline", "replay", "replay/apiserver", "replay/internal/writes", "replay/observe", "noderoll", "noderoll/invariant", "recorder", "replay/analysis", "scenarios/calibrate", "internal/labelindex", "internal/rawjson", "internal/mask", "internal/app/inspect", "internal/ui", "internal/testing/hostile"}

const (
	small, large = 500, 2000

	// times bounds how much more often a block may run on a tape four times as
	// long: four, and a logarithm.
	times = 5.5
	// spare is allowed besides, a line of the large tape: what is done
	// up to a bound may begin with the large one.
	spare = 18
	// spareBytes is that of what is allocated.
	spareBytes = 1 << 10

	// looks and lookedBytes are for each member of a whole object that a reader hands on with a line that doesn't
	// have it: how often a block may run, some of them for each byte, and what may be allocated.
	looks, lookedBytes = 80, 256
)

func TestWorkOnHostileTapesGrowsWithTheirLength(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "hostile")
	const module = "github.com/nodesim/nodesim/"
	output(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+module+strings.Join(counted, ","+module), "-o", binary, ".")
	covdata := strings.TrimSpace(string(output(t, "go", "tool", "-n", "covdata")))

	type key struct{ shape, reader string }
	before := map[key]measure{}
	lines := json.NewDecoder(bytes.NewReader(output(t, binary, dir, strconv.Itoa(small), strconv.Itoa(large))))
	seen := 0
	for {
		var m measure
		if err := lines.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		k := key{m.Shape, m.Reader}
		was, found := before[k]
		if !found {
			before[k] = m
			continue
		}
		seen++
		t.Run(m.Shape+"/"+m.Reader, func(t *testing.T) {
			t.Parallel()
			if was.Refused != "" {
				t.Errorf("the small tape is refused: %s", was.Refused)
			}
			if limit := times*float64(was.Allocated) + spareBytes*large + lookedBytes*float64(m.Objects); float64(m.Allocated) > limit {
				t.Errorf("%d bytes allocated for %d, %d for %d: want at most %.0f", was.Allocated, small, m.Allocated, large, limit)
			}
			few := counts(t, covdata, was.Counts)
			for block, n := range counts(t, covdata, m.Counts) {
				if limit := times*float64(few[block]) + spare*large + looks*float64(m.Objects); float64(n) > limit {
					t.Errorf("%s ran %d times for %d, %d times for %d: want at most %.0f", block, few[block], small, n, large, limit)
				}
			}
		})
	}
	if want := len(shapes)*len(readers) + len(bodies); seen != want {
		t.Errorf("%d readings: want %d", seen, want)
	}
}

// output runs a program and returns what it prints.
func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, errs.String())
	}
	return out.Bytes()
}

// counts reads how often each block ran.
func counts(t *testing.T, covdata, dir string) map[string]int {
	t.Helper()
	text := filepath.Join(dir, "counts.txt")
	output(t, covdata, "textfmt", "-i="+dir, "-o="+text)
	all := map[string]int{}
	for line := range bytes.Lines(read(t, text)) {
		block, rest, _ := bytes.Cut(line, []byte(" "))
		_, ran, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		if n, err := strconv.Atoi(string(ran)); err == nil && n > 0 {
			all[strings.TrimPrefix(string(block), "github.com/nodesim/nodesim/")] = n
		}
	}
	if len(all) == 0 {
		t.Fatalf("nothing was counted in %s", dir)
	}
	return all
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
