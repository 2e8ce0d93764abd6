package spec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/phrase"
)

// Large texts that are all of one thing, which parsers are slow about, are
// refused for what they are, at once.
func TestHostileTextIsRefused(t *testing.T) {
	const size = MaxFile / 4
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var stairs strings.Builder
	for i := 0; stairs.Len() < size; i++ {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"comments": fill("#\n"), "brackets": fill("["), "braces": fill("{"), "dashes": fill("- "), "lines of dashes": fill("-\n"),
		"question marks": fill("? "), "keys on a line": fill("a: "), "empty lists": "a: [" + fill("[],") + "]",
		"lists in lists": "a:\n" + fill(" - [[[],[]]]\n"), "anchors": fill("&a "), "aliases": fill("*a "), "tags": fill("!"),
		"an open quote": `"` + fill(`\x41`), "one long text": "a: " + fill("b "), "comments behind keys": fill("a: 1 # x\n"),
		"comments over items": "a:\n" + fill("# x\n- b\n"), "a long key": "? " + fill("k") + "\n: [[], []]\n", "stairs": stairs.String(),
		"references": small + "seed: " + fill("$(a)") + "\n", "empty lines": fill("\n"), "directives": fill("%Y\n"),
		"documents": fill("---\n"), "tabs": fill("\t"), "a folded text": "a: >\n" + fill(" b\n"), "NULs": fill("\x00"),
	} {
		_, err := Parse("h.yaml", []byte(text))
		var bad *Error
		if !errors.As(err, &bad) || len(err.Error()) > 4*phrase.Longest {
			t.Errorf("%s: got %.300v, want an *Error of one line", name, err)
		}
	}
}

// The largest that there may be is taken, and one more is not.
func TestLimits(t *testing.T) {
	file := func(nodes, replicas int) string {
		return fmt.Sprintf(`apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: large, title: large}
cluster: {provider: gke}
groups: [{name: a, nodes: 1}, {name: b, nodes: %d}]
workloads: [{name: web, replicas: %d}, {name: agent, kind: DaemonSet}]
`, nodes-1, replicas)
	}
	for _, c := range []struct {
		nodes, replicas int
		good            bool
	}{
		{MaxNodes, MaxPods - MaxNodes, true}, {MaxNodes + 1, 0, false}, {MaxNodes, MaxPods - MaxNodes + 1, false},
	} {
		if _, err := Parse("large.yaml", []byte(file(c.nodes, c.replicas))); (err == nil) != c.good {
			t.Errorf("%d nodes and %d replicas: got %v, want it good: %t", c.nodes, c.replicas, err, c.good)
		}
	}
}
