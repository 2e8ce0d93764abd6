package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// The table of shipped scenarios in docs/scenarios.md is the code's.
func TestDocsListTheShippedScenarios(t *testing.T) {
	golden.AssertPart(t, filepath.Join("..", "docs", "scenarios.md"), "shipped", shippedTable())
}

// The examples in docs/scenarios.md are scenarios.
func TestDocsExamplesAreScenarios(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "docs", "scenarios.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.ReplaceAll(string(raw), "\r\n", "\n"), "```yaml\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("found no example")
	}
	const mistake = "apiVersion: nodesim.dev/v1\nkind: Scenario\nmetadata: {name: a, title: a}\ncluster: {provider: esk}\ngroups: [{name: a, nodes: 3}]\n"
	if _, err := scenarios.Parse("mine.yaml", []byte(mistake)); err == nil || !strings.Contains(string(raw), "\n"+err.Error()+"\n") {
		t.Errorf("found an error that isn't the one of the text: %v", err)
	}
	for i, b := range blocks {
		text, _, _ := strings.Cut(b, "```\n")
		d, err := scenarios.Parse(fmt.Sprintf("example %d", i+1), []byte(text))
		if err != nil {
			t.Error(err)
			continue
		}
		f, err := d.Resolve(nil, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		s, err := f.Simulate(func(timeline.Event) error { return nil })
		if err != nil {
			t.Error(err)
			continue
		}
		if err := s.Run(); err != nil {
			t.Error(err)
		}
	}
}

func shippedTable() string {
	var b strings.Builder
	b.WriteString("| name | what happens | what can be set |\n|---|---|---|\n")
	for _, s := range scenarios.All() {
		var set []string
		if s.Document != nil {
			for _, p := range s.Document.Parameters {
				set = append(set, fmt.Sprintf("`%s=%s`", p.Name, p.Default))
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, cell(s.About), strings.Join(set, " "))
	}
	return b.String()
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}
