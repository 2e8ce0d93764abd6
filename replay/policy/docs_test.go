package policy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/replay/policy"
)

const docs = "../../docs/policy.md"

// TestDocsHaveTheFields holds the tables of docs/policy.md against the types of package analysis, and their comments.
func TestDocsHaveTheFields(t *testing.T) {
	text, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- fields: begin, made by go test ./replay/policy -->\n", "<!-- fields: end -->"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s: found no lines %q and %q: want both", docs, begin, end)
	}
	want := before + begin + fields(t) + end + after
	if want == string(text) {
		return
	}
	if os.Getenv("NODESIM_UPDATE") == "1" {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s: its fields aren't those of package analysis: want them made anew by NODESIM_UPDATE=1 go test ./replay/policy -run TestDocsHaveTheFields", docs)
}

// fields are the tables of all types, with what their comments say.
func fields(t *testing.T) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "../analysis/analysis.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	about := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		s, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			if f.Tag == nil {
				continue
			}
			_, tag, _ := strings.Cut(f.Tag.Value, `json:"`)
			name, _, _ := strings.Cut(strings.TrimRight(tag, "\"`"), ",")
			said := strings.TrimSpace(f.Comment.Text())
			if said == "" {
				said = strings.TrimSpace(f.Doc.Text())
			}
			about[spec.Name.Name+"."+name] = strings.Join(strings.Fields(said), " ")
		}
		return true
	})
	var b strings.Builder
	for _, typ := range policy.Types() {
		b.WriteString("\n### " + typ.Name + "\n\n| field | type | |\n|---|---|---|\n")
		for _, f := range typ.Fields {
			marks := ""
			if f.Absent {
				marks = "; may be absent"
			}
			if f.Series {
				marks += "; a rule that names it makes the analysis larger"
			}
			said := about[f.Of+"."+f.Name]
			b.WriteString("| `" + f.Name + "` | " + f.Type + marks + " | " + strings.ReplaceAll(said, "|", "\\|") + " |\n")
		}
	}
	b.WriteString("\n")
	return b.String()
}
