package spec

import (
	"fmt"
	"strings"
	"testing"
)

// Groups that are rolled stay together; the others are spread, and none is lost or doubled.
func TestShards(t *testing.T) {
	const head = "apiVersion: nodesim.dev/v1\nkind: Scenario\nmetadata: {name: fleet, title: groups}\ncluster: {provider: eks}\n"
	var groups strings.Builder
	for i, n := range []int{3, 10, 1, 4, 2} {
		fmt.Fprintf(&groups, "- {name: g%d, nodes: %d}\n", i, n)
	}
	parse := func(rest string) *File {
		doc, err := Parse("fleet.yaml", []byte(head+"groups:\n"+groups.String()+rest))
		if err != nil {
			t.Fatal(err)
		}
		f, err := doc.Resolve(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := parse("roll: {strategy: eks-default, groups: [g0, g2]}\n")
	for n, want := range []string{1: "g1 g0 g2 g3 g4", 2: "g1; g0 g2 g3 g4", 3: "g1; g0 g2 g4; g3", 4: "g1; g0 g2; g3; g4"} {
		if n == 0 {
			continue
		}
		shards, err := f.Shards(n)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		rolls := 0
		for _, s := range shards {
			var names []string
			for _, g := range s.Groups {
				names = append(names, g.Name)
			}
			if all = append(all, strings.Join(names, " ")); s.Roll != nil {
				if rolls++; !strings.Contains(all[len(all)-1], "g0 g2") {
					t.Errorf("the roll of g0 and g2 is with %s", all[len(all)-1])
				}
			}
		}
		if got := strings.Join(all, "; "); got != want || rolls != 1 {
			t.Errorf("%d shards are %s, with %d rolls; want %s", n, got, rolls, want)
		}
	}
	for _, c := range []struct {
		rest string
		n    int
		want string
	}{
		{"roll: {strategy: eks-default, groups: [g0, g2]}\n", 5, "found 5 shards for g0 with g2, g1, g3, g4: want 1 to 4"},
		{"", 0, "found 0 shards for g0, g1, g2, g3, g4: want 1 to 5"},
		{"autoscaler: {}\n", 2, "the autoscaler acts on the nodes of all groups: want one process"},
		{"faults:\n- {at: 1m, cordon: {nodes: 1}}\n", 2, "a fault chooses among the nodes of all groups: want one process"},
		{"workloads:\n- {name: db, namespace: shop, kind: StatefulSet, replicas: 1, volume: 1Gi}\n", 2, "workload shop/db has volumes, whose driver is one process: want one process"},
		{"workloads:\n- {name: db, namespace: shop, replicas: 1, createAt: 1m}\n", 2, "workload shop/db is created by one process: want one process"},
	} {
		if _, err := parse(c.rest).Shards(c.n); err == nil || err.Error() != c.want {
			t.Errorf("%d shards of %q: %v, want %s", c.n, c.rest, err, c.want)
		}
	}
}
