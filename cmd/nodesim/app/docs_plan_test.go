package app

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/plan.md and the README show what plan prints; "…" stands for further lines.
func TestTheManualOfPlanShowsWhatIsPrinted(t *testing.T) {
	for file, commands := range map[string]int{"../../../docs/plan.md": 3, "../../../README.md": 1} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for _, block := range strings.Split(string(text), "```console\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
			args, is := strings.CutPrefix(lines[0], "$ nodesim plan ")
			if !is || len(lines) < 2 || strings.HasPrefix(lines[1], "$") {
				continue
			}
			shown++
			var out bytes.Buffer
			root := newRoot()
			root.SetOut(&out)
			root.SetErr(&bytes.Buffer{})
			args, _, _ = strings.Cut(args, "  #")
			run(t.Context(), root, append([]string{"plan"}, strings.Fields(args)...))
			got, anywhere := strings.Split(strings.TrimSpace(out.String()), "\n"), false
			for _, line := range lines[1:] {
				if strings.TrimSpace(line) == "…" {
					anywhere = true
					continue
				}
				at := slices.Index(got, line)
				if at < 0 || at > 0 && !anywhere {
					t.Fatalf("%s: plan %s: it shows %q; the program prints it %d lines further on (-1: never)", file, args, line, at)
				}
				got, anywhere = got[at+1:], false
			}
			if len(got) > 0 && !anywhere {
				t.Errorf("%s: plan %s: the program continues with %q", file, args, got[0])
			}
		}
		if shown != commands {
			t.Errorf("%s shows the output of %d plans, want %d", file, shown, commands)
		}
	}
}
