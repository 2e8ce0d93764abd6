package spec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/golden"
)

// inPlace is a file whose pods are changed where they run.
const inPlace = `apiVersion: nodesim.dev/v1
kind: Scenario
metadata: {name: inplace, title: pods are changed where they run}
timeLimit: 1h
cluster: {provider: eks, kubernetesVersion: "1.34"}
groups:
- {name: workers, nodes: 3}
workloads:
- {name: web, namespace: shop, kind: ReplicaSet, replicas: 6, requests: {cpu: 100m, memory: 128Mi}}
- {name: api}
roll:
  strategy: inplace-image
  workload: web
  image: registry.example/web:2.0.0
`

// TestEveryMistakeOfARollInPlaceIsNamed.
func TestEveryMistakeOfARollInPlaceIsNamed(t *testing.T) {
	if _, err := Parse("f.yaml", []byte(inPlace)); err != nil {
		t.Fatal(err)
	}
	const image = "  strategy: inplace-image\n  workload: web\n  image: registry.example/web:2.0.0\n"
	resize := func(more string) string { return "  strategy: inplace-resize\n  workload: web\n" + more }
	var all strings.Builder
	for _, m := range []mistake{
		{"no workload", "  workload: web\n", ""},
		{"a workload misspelt", "  workload: web\n", "  workload: wbe\n"},
		{"a Deployment", "  workload: web\n", "  workload: api\n"},
		{"a workload that comes later", "replicas: 6,", "replicas: 6, createAt: 1m,"},
		{"no image", "  image: registry.example/web:2.0.0\n", ""},
		{"the image that it runs", "web:2.0.0", "web:1.0.0"},
		{"an image and requests", "  image: registry.example/web:2.0.0\n", "  image: registry.example/web:2.0.0\n  requests: {cpu: 1}\n"},
		{"groups", "  workload: web\n", "  workload: web\n  groups: [workers]\n"},
		{"a surge", "  workload: web\n", "  workload: web\n  maxSurge: 1\n"},
		{"a drain's time", "  workload: web\n", "  workload: web\n  evictionTimeout: 1m\n"},
		{"a roll that stops", "  workload: web\n", "  workload: web\n  stopAfter: 2\n"},
		{"no pod at a time", "  workload: web\n", "  workload: web\n  maxUnavailable: 0\n"},
		{"kwok", "cluster: {provider: eks,", "cluster: {provider: eks, kubelet: kwok,"},
		{"a resize of nothing", image, resize("")},
		{"a resize to what it has", image, resize("  requests: {cpu: 0.1, memory: 128Mi}\n")},
		{"a resize to no request", image, resize("  requests: {cpu: 0}\n")},
		{"a resize and an image", image, resize("  requests: {cpu: 1}\n  image: a\n")},
		{"a split workload", "replicas: 6,", "replicas: 6, replicasPerWorkload: 2,"},
	} {
		fmt.Fprintf(&all, "%s\n\t%v\n", m.name, mistaken(t, edited(t, inPlace, m)))
	}
	old := strings.Replace(strings.Replace(inPlace, `"1.34"`, `"1.32"`, 1), image, resize("  requests: {cpu: 1}\n"), 1)
	fmt.Fprintf(&all, "a resize before there were any\n\t%v\n", mistaken(t, old))
	empty := strings.Replace(strings.Replace(inPlace, "{cpu: 100m, memory: 128Mi}", "{cpu: 0, memory: 0}", 1), image, resize("  requests: {cpu: 1}\n"), 1)
	fmt.Fprintf(&all, "a resize to another class\n\t%v\n", mistaken(t, empty))
	golden.Assert(t, "inplace-errors", all.String())
}

// mistaken is what is wrong with a file, when it is read or when it is made a
// simulation of.
func mistaken(t *testing.T, text string) error {
	t.Helper()
	d, err := Parse("f.yaml", []byte(text))
	var bad *Error
	if err != nil {
		if !errors.As(err, &bad) || bad.Line < 1 {
			t.Errorf("%v: want an *Error with its line", err)
		}
		return err
	}
	f, err := d.Resolve(nil, nil)
	if err != nil {
		return err
	}
	if _, err = f.Split(); err == nil {
		t.Errorf("nothing is found wrong with\n%s", text)
	}
	return err
}
