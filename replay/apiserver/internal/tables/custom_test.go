package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/timeline"
)

func widgets(version string) timeline.Resource {
	return timeline.Resource{Group: "example.com", Version: version, Kind: "Widget", Resource: "widgets", Namespaced: true}
}

// TestCustomColumns shows what a definition's columns make of fields that are of their types, and of others.
func TestCustomColumns(t *testing.T) {
	p := For(widgets("v1"), definitionObject)
	golden.Assert(t, "custom", show(t, p, widgetObjects)+"\n"+describe(p))
}

// TestCustomVersions is about which columns a version has.
func TestCustomVersions(t *testing.T) {
	const columns = `[{"name":"Text","type":"string","jsonPath":".spec.text"}]`
	for _, c := range []struct{ name, version, definition, want string }{
		{"its own", "v1", `{"spec":{"versions":[{"name":"v2"},{"name":"v1","additionalPrinterColumns":` + columns + `}]}}`, "Name Text"},
		{"none of its own", "v2", `{"spec":{"versions":[{"name":"v2"},{"name":"v1","additionalPrinterColumns":` + columns + `}]}}`, "Name Age"},
		{"no such version", "v3", `{"spec":{"versions":[{"name":"v1","additionalPrinterColumns":` + columns + `}]}}`, "Name Age"},
		{"of all, as v1beta1 had them", "v1", `{"spec":{"version":"v1","additionalPrinterColumns":[{"name":"Text","type":"string","JSONPath":".spec.text"}]}}`, "Name Text"},
		{"a path that doesn't parse", "v1", `{"spec":{"versions":[{"name":"v1","additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".a"},{"name":"B","type":"string","jsonPath":".b["},{"name":"C","type":"string","jsonPath":".c"}]}]}}`, "Name A"},
		{"no definition", "v1", ``, "Name Age"},
		{"a definition of something else", "v1", `{"spec":7}`, "Name Age"},
		{"no JSON", "v1", `spec`, "Name Age"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := For(widgets(c.version), []byte(c.definition))
			var names []string
			for _, column := range p.Columns() {
				names = append(names, column.Name)
			}
			if found := strings.Join(names, " "); found != c.want {
				t.Errorf("columns: found %s, want %s", found, c.want)
			}
			cells, _, err := p.Cells([]byte(`{"metadata":{"name":"w","creationTimestamp":"2026-11-20T11:00:00Z"},"spec":{"text":"words"},"a":"A"}`), now)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{"Name Text": "[w words]", "Name Age": "[w 60m]", "Name A": "[w A]"}[c.want]
			if found := fmt.Sprint(cells); found != want {
				t.Errorf("cells: found %s, want %s", found, want)
			}
		})
	}
}

// TestBuiltinNeedsNoDefinition is about a definition that claims a built-in resource.
func TestBuiltinNeedsNoDefinition(t *testing.T) {
	plain := For(timeline.Resource{Version: "v1", Resource: "nodes"}, nil)
	claimed := For(timeline.Resource{Version: "v1", Resource: "nodes"}, definitionObject)
	if found, want := describe(claimed), describe(plain); found != want {
		t.Errorf("columns: found\n%s\nwant\n%s", found, want)
	}
}

// TestHostilePaths is about paths that would keep a server busy forever: their columns, and those after them, are
// left out.
func TestHostilePaths(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	for name, path := range map[string]string{
		"unions":    "." + strings.Repeat("['a','a']", 60),
		"recursion": strings.Repeat("..", 40),
		"filters":   "." + strings.Repeat("[?(@.a==1)]", 200),
		"loop":      ".a}{range .a}{.a}{end",
		"templates": ".a}{.a",
	} {
		t.Run(name, func(t *testing.T) {
			p := For(widgets("v1"), fmt.Appendf(nil, `{"spec":{"versions":[{"name":"v1","additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":%q}]}]}}`, path))
			if found := len(p.Columns()); found != 1 {
				t.Errorf("found %d columns, want the name alone", found)
			}
			cells, _, err := p.Cells([]byte(`{"metadata":{"name":"w"},"a":`+nested+`}`), now)
			if found := fmt.Sprint(cells); err != nil || found != "[w]" {
				t.Errorf("found %s, error %v, want [w]", found, err)
			}
		})
	}
}

// TestPaths is about paths that are plain enough.
func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		`.spec.list[*].n`:                 "1",
		`.spec.list[-1:].n`:               "3",
		`.spec.list[?(@.n>1)].n`:          "2",
		`.spec['list','nothing']`:         `[{"n":1},{"n":2},{"n":3}]`,
		`..n`:                             "1",
		`.metadata.annotations.a\.b/c`:    "x",
		`.metadata.annotations['a\.b/c']`: "x",
		`.spec.list[?(@.n==3)].n`:         "3",
	} {
		c, err := readPath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		object := map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{"a.b/c": "x"}},
			"spec":     map[string]any{"list": []any{map[string]any{"n": int64(1)}, map[string]any{"n": int64(2)}, map[string]any{"n": int64(3)}}},
		}
		column := customColumn{printerColumn{Type: "string"}, c}
		if found := column.cell(object, now); found != want {
			t.Errorf("%s: found %v, want %s", path, found, want)
		}
	}
}
