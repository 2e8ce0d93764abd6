package app

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/export.md shows of the formats that are text what the program prints; "…" stands for further lines, or for a line's rest.
func TestTheManualOfExportShowsWhatIsPrinted(t *testing.T) {
	text, err := os.ReadFile("../../../docs/export.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, block := range strings.Split(string(text), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var got []string
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			switch args, command := strings.CutPrefix(line, "$ "); {
			case command && strings.HasPrefix(args, "nodesim export ") && strings.HasSuffix(args, " --out -"):
				shown++
				got = feedOf(t, strings.Fields(strings.ReplaceAll(strings.TrimPrefix(args, "nodesim "), "examples/", "../../../examples/"))...)
			case command:
				got = nil
			case line == "…" || got == nil:
			default:
				at := slices.IndexFunc(got, func(g string) bool { return printed(strings.TrimSpace(g), line) })
				if at < 0 {
					t.Fatalf("the manual shows %q, which the program doesn't print there", line)
				}
				got = got[at+1:]
			}
		}
	}
	if shown != 2 {
		t.Errorf("the manual shows the output of %d exports, want that of OpenMetrics and of CSV", shown)
	}
}
