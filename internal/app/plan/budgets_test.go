package plan_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	app "github.com/nodesim/nodesim/internal/app/plan"
	"github.com/nodesim/nodesim/internal/app/snapshot"
	"github.com/nodesim/nodesim/scenarios/plan"
)

const (
	aNode = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n%[1]d","creationTimestamp":"2026-11-19T22:00:00Z",` +
		`"labels":{"eks.amazonaws.com/nodegroup":"workers","topology.kubernetes.io/zone":"eu-central-1a","node.kubernetes.io/instance-type":"m5.large"}},` +
		`"status":{"nodeInfo":{"kubeletVersion":"v1.34.2-eks-ecaa3a6","bootID":"b"},"conditions":[{"type":"Ready","status":"True"}],` +
		`"allocatable":{"cpu":"1930m","memory":"7150Mi","pods":"29"},"capacity":{"cpu":"2","memory":"8Gi","pods":"29"}}}`
	aPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"web-6d4-a%[1]d","labels":{"app":"web","pod-template-hash":"6d4"},` +
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-6d4","uid":"u","controller":true}]},` +
		`"spec":{"nodeName":"n%[1]d","containers":[{"name":"web","image":"web:1"}]},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	aDeployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop","name":"web"},"spec":{"replicas":2,` +
		`"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1"}]}}}}`
)

// budget is a PodDisruptionBudget over the Deployment's pods.
func budget(name, number string) string {
	return fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"namespace":"shop","name":%q},"spec":{%s,"selector":{"matchLabels":{"app":"web"}}}}`, name, number)
}

// listed is what kubectl get prints of two nodes with a pod of a Deployment each, and budgets.
func listed(budgets ...string) string {
	all := append([]string{fmt.Sprintf(aNode, 1), fmt.Sprintf(aNode, 2), fmt.Sprintf(aPod, 1), fmt.Sprintf(aPod, 2), aDeployment}, budgets...)
	return `{"apiVersion":"v1","items":[` + strings.Join(all, ",\n") + `],"kind":"List","metadata":{"resourceVersion":""}}` + "\n"
}

// Kubernetes refuses to evict a pod that two budgets select, with the status 500, however much each of them allows. The plan of a cluster
// that was read says so, and what to do.
func TestPodsWithTwoBudgets(t *testing.T) {
	const remedy = "let the selector of only one of web and web-tier match the pods"
	one, other := budget("web", `"minAvailable":1`), budget("web-tier", `"maxUnavailable":1`)
	for _, c := range []struct {
		name    string
		budgets []string
		stops   string // what stops the roll, "" for nothing
	}{
		{"the first alone", []string{one}, ""},
		{"the second alone", []string{other}, ""},
		{"both", []string{other, one}, "PodDisruptionBudget/shop/web"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := app.Cluster(t.Context(), snapshot.Source{File: "-", In: strings.NewReader(listed(c.budgets...))})
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Of(t.Context(), f, plan.Options{Runs: 3})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Workloads) != 1 || p.Workloads[0].Workload != "Deployment/shop/web" {
				t.Errorf("found the workloads %+v, want the Deployment", p.Workloads)
			}
			if c.stops == "" {
				if p.Ends != 3 || slices.ContainsFunc(p.Blocks, func(b plan.Block) bool { return b.Stops > 0 }) {
					t.Errorf("%d of 3 runs end, blocked by %+v: want all to end", p.Ends, p.Blocks)
				}
				return
			}
			if p.Ends != 0 || len(p.Endless) != 1 || !strings.HasPrefix(p.Endless[0].Why, "PodEvictionFailure: ") {
				t.Errorf("%d of 3 runs end, the others by %+v: want none, since no pod can be evicted", p.Ends, p.Endless)
			}
			if len(p.Blocks) != 1 {
				t.Fatalf("found the blocks %+v, want %s alone", p.Blocks, c.stops)
			}
			b := &p.Blocks[0]
			if b.Kind != "budget-held" || b.Object != c.stops || b.Runs != 3 || b.Stops != 3 {
				t.Errorf("found the block %+v, want %s to stop all 3 runs", b, c.stops)
			}
			if want := ": its pods have more than one budget (web and web-tier), which the eviction API does not support"; !strings.HasSuffix(b.Text, want) || b.Remedy != remedy {
				t.Errorf("found %q, remedy %q: want %q at its end, and %q", b.Text, b.Remedy, want, remedy)
			}
			var text bytes.Buffer
			if err := p.Text(&text); err != nil {
				t.Fatal(err)
			}
			if want := "\n  remedy: " + remedy + "\n"; !strings.Contains(text.String(), want) {
				t.Errorf("found\n%s\nwant %q", text.String(), want)
			}
		})
	}
}
