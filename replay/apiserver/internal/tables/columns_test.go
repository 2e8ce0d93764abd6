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
	for _, r := range slices.SortedFunc(maps.Keys(builtin), func(a, b schema.GroupResource) int {
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

// TestReworded is about descriptions that are kept for nothing.
func TestReworded(t *testing.T) {
	described := map[string]bool{}
	for _, r := range builtins() {
		for _, c := range For(r, nil).Columns() {
			described[c.Description] = true
		}
	}
	for field, description := range reworded {
		if !described[description] {
			t.Errorf("%s: found in no column, want no description that isn't shown", field)
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
