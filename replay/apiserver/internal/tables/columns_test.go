package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/golden"
	"github.com/nodesim/nodesim/timeline"
)

// TestColumns shows the columns of every built-in resource.
func TestColumns(t *testing.T) {
	var out strings.Builder
	for _, r := range builtins() {
		fmt.Fprintf(&out, "%s\n%s\n", r, describe(For(r, nil)))
	}
	golden.Assert(t, "columns", out.String())
}

// builtins are the built-in resources in their newest versions, sorted.
func builtins() (all []timeline.Resource) {
	for _, r := range slices.SortedFunc(maps.Keys(builtin().resources), func(a, b schema.GroupResource) int {
		return strings.Compare(a.Group+"/"+a.Resource, b.Group+"/"+b.Resource)
	}) {
		all = append(all, timeline.Resource{Group: r.Group, Version: "v0", Resource: r.Resource})
	}
	return all
}

// describe tells of columns, and the beginnings of their descriptions.
func describe(p *Printer) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	for _, c := range p.Columns() {
		kind := c.Type
		if c.Format != "" {
			kind += "/" + c.Format
		}
		fmt.Fprintf(w, "  %s\t%s\t%d\t%.60q\n", c.Name, kind, c.Priority, c.Description)
	}
	w.Flush()
	return out.String()
}

// TestCellsAreUsed is about functions that are kept for nothing.
func TestCellsAreUsed(t *testing.T) {
	used := map[string]bool{}
	for line := range strings.Lines(table) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) > 4 {
			name, _, _ := strings.Cut(fields[4], " ")
			used[name] = true
		}
	}
	for name := range cells {
		if !used[name] {
			t.Errorf("%s: found in no line of columns.tsv", name)
		}
	}
}

// TestTableThatIsBroken is about lines that the table can't have.
func TestTableThatIsBroken(t *testing.T) {
	for line, want := range map[string]string{
		"\tName":                         `line 2: found no common column "Name"`,
		"\tA\tstring":                    "line 2: found 2 fields, want name, type, priority, cell and description",
		"\tA\tstring\thigh\tname\tWords": `line 2: priority: strconv.ParseInt: parsing "high": invalid syntax`,
		"\tA\tstring\t0\tnothing .a\t":   `line 2: cell "nothing .a": found no function of that name`,
		"\tA\tstring\t0\t-\t":            "line 2: found no cell, and no code for the resource",
	} {
		if _, err := readTable("widgets.example.com\n" + line + "\n"); err == nil || err.Error() != want {
			t.Errorf("%q: found error %v, want %s", line, err, want)
		}
	}
}

// TestColumnsAreTheCallers is about a caller that changes what it got.
func TestColumnsAreTheCallers(t *testing.T) {
	p := For(timeline.Resource{Version: "v1", Resource: "pods"}, nil)
	p.Columns()[0].Name = "changed"
	if found := p.Columns()[0].Name; found != "Name" {
		t.Errorf("first column: found %q, want Name", found)
	}
}
