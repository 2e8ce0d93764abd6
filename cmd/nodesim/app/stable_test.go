package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
	"github.com/spf13/cobra"
)

// The help of every command, flags and all, is pinned down in testdata/help: docs/stability.md says what may change in it.
func TestHelpStays(t *testing.T) {
	var pages []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())
		t.Run(strings.Join(path, "-"), func(t *testing.T) {
			help := executed(t, 0, append(path[1:], "--help")...)
			golden.Assert(t, "help/"+strings.Join(path, "-"), help)
		})
		pages = append(pages, "help/"+strings.Join(path, "-"))
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	if len(pages) < 25 {
		t.Errorf("found %d commands: want all of them", len(pages))
	}
}

// The members of each JSON answer, with their types, are pinned down in testdata/json. One that comes is entered there; one
// that goes or has another type breaks those that read it (docs/stability.md).
func TestJSONStays(t *testing.T) {
	const surge, force = "../../../examples/surge.yaml", "../../../examples/stuck-drain-force.yaml"
	for name, c := range map[string]struct {
		status int
		args   []string
	}{
		"explain":       {args: []string{"explain", force, "-o", "json"}},
		"diff":          {args: []string{"diff", "../../../examples/stuck-drain.yaml", force, "-o", "json"}},
		"inspect":       {args: []string{"inspect", force, "--check", "-o", "json"}},
		"calibrate":     {args: []string{"calibrate", surge, "-o", "json"}},
		"hunt":          {args: []string{"hunt", "stuck-drain", "--cases", "3", "-o", "json"}},
		"plan":          {args: []string{"plan", "--simulate", "stuck-drain", "--runs", "3", "-o", "json"}, status: 1},
		"replay":        {args: []string{"replay", force, "--speed", "max", "-o", "json", "--verbose"}},
		"simulate-list": {args: []string{"simulate", "--list", "-o", "json"}},
		"test-store":    {args: []string{"test", "--store", "file://" + storeOfTapes(t), "--policy", "no-stuck-roll", "-o", "json"}, status: 1},
		"version":       {args: []string{"version", "-o", "json"}},
	} {
		t.Run(name, func(t *testing.T) {
			members := map[string]bool{}
			values := json.NewDecoder(strings.NewReader(executed(t, c.status, c.args...)))
			for count := 0; ; count++ {
				var value any
				if err := values.Decode(&value); errors.Is(err, io.EOF) {
					if count == 0 {
						t.Fatal("found no JSON")
					}
					break
				} else if err != nil {
					t.Fatal(err)
				}
				collect(members, ".", value)
			}
			golden.Assert(t, "json/"+name, strings.Join(slices.Sorted(maps.Keys(members)), "\n")+"\n")
		})
	}
}

// named are objects whose members have names of their own, such as those of groups.
var named = []string{".coverage.untried", ".coverage.untried.*"}

// collect enters the members of a value, such as ".nodes[].name string".
func collect(members map[string]bool, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		members[path+" object"] = true
		for key, of := range value {
			if slices.Contains(named, path) {
				key = "*"
			}
			collect(members, strings.TrimSuffix(path, ".")+"."+key, of)
		}
	case []any:
		members[path+" array"] = true
		for _, of := range value {
			collect(members, path+"[]", of)
		}
	case nil:
		members[path+" null"] = true
	case float64:
		members[path+" number"] = true
	default:
		members[fmt.Sprintf("%s %T", path, value)] = true
	}
}
