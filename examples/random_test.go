package examples_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever nodes, pods, budgets and Events do, informers in lock-step drive
// the feed of the tape. Names are used again at once, by other objects.
func TestRandomTapesThroughFakeClient(t *testing.T) {
	lines := 0
	for seed := range uint64(20) {
		name := filepath.Join(t.TempDir(), "random.yaml")
		if err := os.WriteFile(name, []byte(randomTape(seed)), 0o600); err != nil {
			t.Fatal(err)
		}
		want := ofTape(t, name)
		if d := cmp.Diff(want, ofFakeClient(t, name)); d != "" {
			t.Fatalf("seed %d (-tape +fakeclient):\n%s", seed, d)
		}
		lines += strings.Count(want, "\n")
	}
	if lines < 500 {
		t.Errorf("%d lines: the trial says little", lines)
	}
}

const randomHeader = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: random, start: "2026-11-20T22:00:00Z"}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: "", version: v1, kind: Event, resource: events, namespaced: true}
- {group: policy, version: v1, kind: PodDisruptionBudget, resource: poddisruptionbudgets, namespaced: true}
--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}
--- {"at":"0s","type":"SYNC","resource":"pods","rv":"1"}
--- {"at":"0s","type":"SYNC","resource":"events","rv":"1"}
--- {"at":"0s","type":"SYNC","resource":"poddisruptionbudgets","rv":"1"}
`

func randomTape(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	one := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	makers := []struct {
		resource, namespace, names string
		object                     func() string
	}{
		{"nodes", "", "abcde", func() string {
			return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"labels":{"eks.amazonaws.com/nodegroup":"g","eks.amazonaws.com/nodegroup-image":%q}},"spec":{"unschedulable":%s},"status":{"conditions":[{"type":"DiskPressure","status":%q},{"type":"Ready","status":%q}]}}`,
				one("ami-1", "ami-2"), one("true", "false", "false"), one("True", "False"), one("True", "True", "False", "Unknown"))
		}},
		{"pods", "shop", "pqrs", func() string {
			return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"labels":{"app":%q}},"spec":{"nodeName":%q},"status":{"phase":%q,"conditions":[{"type":"Ready","status":%q}]}}`,
				one("web", "db"), one("a", "b", "c", "d", "e"), one("Running", "Running", "Pending", "Failed"), one("True", "False"))
		}},
		{"poddisruptionbudgets", "shop", "xy", func() string {
			return fmt.Sprintf(`{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","spec":{"selector":{"matchLabels":{"app":%q}}},"status":{"disruptionsAllowed":%s,"currentHealthy":2,"desiredHealthy":2}}`,
				one("web", "db"), one("0", "1"))
		}},
		{"events", "default", "ef", func() string {
			return fmt.Sprintf(`{"kind":"Event","apiVersion":"v1","involvedObject":{"kind":"Node","name":%q},"reason":"Rebooted","message":%q,"type":"Warning"}`,
				one("a", "b", "c"), one("once", "again"))
		}},
	}
	var b strings.Builder
	b.WriteString(randomHeader)
	alive := map[string]bool{}
	at, version := 1, 10
	write := func(kind, resource, namespace, name, rest string) {
		version++
		fmt.Fprintf(&b, `--- {"at":"%ds","type":%q,"resource":%q,"namespace":%q,"name":%q,"rv":"%d"%s}`+"\n", at, kind, resource, namespace, name, version, rest)
		alive[resource+name] = kind != "DELETED"
	}
	for range 200 {
		at += r.IntN(5)
		m := makers[max(0, r.IntN(9)-5)]
		name := string(m.names[r.IntN(len(m.names))])
		add := func() {
			write("ADDED", m.resource, m.namespace, name, fmt.Sprintf(`,"uid":"u%d","object":%s`, version, m.object()))
		}
		switch {
		case !alive[m.resource+name]:
			add()
		case r.IntN(5) == 0:
			write("DELETED", m.resource, m.namespace, name, "")
			if r.IntN(2) == 0 {
				add()
			}
		default:
			write("MODIFIED", m.resource, m.namespace, name, `,"object":`+m.object())
		}
	}
	fmt.Fprintf(&b, `--- {"at":"%ds","type":"END","events":%d}`+"\n", at+20, strings.Count(b.String(), "\n--- ")+1)
	return strings.ReplaceAll(b.String(), `"namespace":"",`, "")
}
