package analysis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay/analysis"
	"github.com/nodesim/nodesim/timeline"
)

const scaledHeader = `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: scaled}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: apps, version: v1, kind: Deployment, resource: deployments, namespaced: true}
`

// scaled is a Deployment of two pods that is scaled to zero at 10s, up to one at 40s, which is there at 45s, and to two at 60s.
func scaled(owner bool) []string {
	pod := func(at, typ, name, rest string) string {
		return `--- {"at":"` + at + `","type":"` + typ + `","resource":"pods","namespace":"x","name":"` + name + `","uid":"u-` + name + `","rv":"2"` + rest + `}`
	}
	ready := `,"object":{"metadata":{"labels":{"pod-template-hash":"abc"},"ownerReferences":[{"kind":"ReplicaSet","name":"web-abc","controller":true}]},"spec":{"nodeName":"n"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	replicas := func(at, typ, what string) string {
		return `--- {"at":"` + at + `","type":"` + typ + `","resource":"deployments","namespace":"x","name":"web","uid":"u-web","rv":"3",` + what + `}`
	}
	lines := []string{
		`--- {"at":"0s","type":"ADDED","resource":"nodes","name":"n","uid":"u-n","rv":"1","object":{"status":{"conditions":[{"type":"Ready","status":"True"}]}}}`,
		`--- {"at":"0s","type":"SYNC","resource":"nodes","rv":"1"}`,
		replicas("0s", "ADDED", `"object":{"spec":{"replicas":2}}`),
		pod("0s", "ADDED", "a", ready), pod("0s", "ADDED", "b", ready), `--- {"at":"0s","type":"SYNC","resource":"pods","rv":"2"}`,
		replicas("10s", "MODIFIED", `"patch":{"spec":{"replicas":0}}`),
		pod("11s", "DELETED", "a", ""), pod("12s", "DELETED", "b", ""),
		replicas("40s", "MODIFIED", `"patch":{"spec":{"replicas":null}}`),
		pod("45s", "ADDED", "c", ready),
		replicas("50s", "MODIFIED", `"patch":{"metadata":{"generation":4}}`),
		replicas("60s", "MODIFIED", `"patch":{"spec":{"replicas":2}}`),
		pod("61s", "ADDED", "d", ready),
		`--- {"at":"90s","type":"MARK","name":"later"}`, "",
	}
	kept := lines[:0]
	for _, line := range lines {
		if owner || !strings.Contains(line, `"deployments"`) {
			kept = append(kept, line)
		}
	}
	return kept
}

// A workload that is scaled lacks pods only where its owner wants them; a tape without the owner can't tell.
func TestAScaledWorkload(t *testing.T) {
	for _, owner := range []bool{true, false} {
		text := scaledHeader + strings.Join(scaled(owner), "\n")
		a := tape{"scaled", func() (*timeline.Reader, error) { return timeline.NewReader(strings.NewReader(text)) }}.analyse(t, false)
		// With it: 40s to 45s none of one, 60s to 61s one of two. Without: 11s to 61s fewer than two, 12s to 45s none.
		below, none := 6*time.Second, 5*time.Second
		if !owner {
			below, none = 50*time.Second, 33*time.Second
		}
		w := a.Workloads[0]
		if w.Kind != "Deployment" || w.Replicas != 2 || w.LeastAvailable != 0 || w.BelowReplicas != below {
			t.Errorf("owner %v: got %+v, want it below its replicas for %s", owner, w, below)
		}
		if f := found(a, analysis.FindUnavailable); f == nil || f.Cost != none {
			t.Errorf("owner %v: got %+v, want a finding of %s", owner, f, none)
		}
	}
}
