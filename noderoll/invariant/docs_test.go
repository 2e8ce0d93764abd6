package invariant_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/noderoll/invariant"
)

// The list in docs/invariants.md is the code's.
func TestDocsListTheInvariants(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "invariants.md")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const mark = " -run TestDocsListTheInvariants -->\n"
	head, list, found := strings.Cut(strings.ReplaceAll(string(raw), "\r\n", "\n"), mark)
	if !found {
		t.Fatalf("%s: no %q: want the list after it", file, mark)
	}
	var b strings.Builder
	theme := ""
	for _, i := range invariant.All() {
		if i.Theme != theme {
			theme = i.Theme
			fmt.Fprintf(&b, "\n### %s\n\n", strings.ToUpper(theme[:1])+theme[1:])
		}
		fmt.Fprintf(&b, "- **%s**: %s  \n  <sub>%s</sub>\n", i.Name, i.Sentence, i.Source)
	}
	want := b.String()
	if list == want {
		return
	}
	if golden.Updating() {
		if err := os.WriteFile(file, []byte(head+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s: the list is not that of invariant.All: accept the new one with NODESIM_UPDATE=1 go test ./noderoll/invariant -run TestDocsListTheInvariants", file)
}
