package app

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// The feeds that the README shows equal what the program prints, line by line.
// A line "…" means any number of lines, and at the end of a line for its
// rest.
func TestTheREADMEShowsWhatIsPrinted(t *testing.T) {
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		lines := strings.Split(strings.TrimSpace(block), "\n")
		args, is := strings.CutPrefix(lines[0], "$ nodesim replay --simulate ")
		if !is || len(lines) < 2 {
			continue
		}
		shown++
		feed := feedOf(t, "replay", "--simulate", args)
		anywhere := false
		for _, line := range lines[1:] {
			if line == "…" {
				anywhere = true
				continue
			}
			at := slices.IndexFunc(feed, func(f string) bool { return printed(f, line) })
			if at < 0 || at > 0 && !anywhere {
				t.Fatalf("%s: the README shows %q; the program prints it %d lines further on (-1: never)", args, line, at)
			}
			feed, anywhere = feed[at+1:], false
		}
		if len(feed) > 0 && !anywhere {
			t.Errorf("%s: the program continues with %q, where the README ends", args, feed[0])
		}
	}
	if shown != 3 {
		t.Errorf("the README shows the feeds of %d scenarios, want three", shown)
	}
}

func printed(line, shown string) bool {
	begin, short := strings.CutSuffix(shown, " …")
	return line == shown || short && strings.HasPrefix(line, begin)
}

func feedOf(t *testing.T, args ...string) []string {
	t.Helper()
	var out, stderr bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&stderr)
	if status := run(t.Context(), root, args); status != 0 {
		t.Fatalf("nodesim %s: exit status %d: %s", strings.Join(args, " "), status, stderr.String())
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}
