package convert_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	corev1 "k8s.io/api/core/v1"
)

func demandsOf(t *testing.T, spec string) *kube.Demands {
	t.Helper()
	var in corev1.PodTemplateSpec
	if err := json.Unmarshal([]byte(spec), &in.Spec); err != nil {
		t.Fatal(err)
	}
	return convert.TemplateFromAPI(&in).Demands
}

// What a pod asks for altogether: the largest of what its init containers and the others need at a time.
func TestDemandedResources(t *testing.T) {
	const container = `{"resources":{"requests":{"cpu":"500m","memory":"1Gi","example.com/gpu":"1"}}}`
	for _, one := range []struct {
		spec string
		want *kube.Demands
	}{
		{`{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}`, nil},
		{`{"containers":[` + container + `,` + container + `]}`, &kube.Demands{More: []kube.Amount{{Resource: "example.com/gpu", Value: 2}}}},
		{`{"containers":[{"resources":{"requests":{"cpu":"1","ephemeral-storage":"1500m"}}}],"overhead":{"cpu":"250m"}}`,
			&kube.Demands{Whole: &kube.Resources{CPU: 1250}, More: []kube.Amount{{Resource: "ephemeral-storage", Value: 2}}}},
		{`{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"3","memory":"1Gi"}}}`,
			&kube.Demands{Whole: &kube.Resources{CPU: 3000, Memory: 1 << 30}, Sought: &kube.Resources{CPU: 1000, Memory: 200 << 20}, QOS: "Burstable"}},
		{`{"containers":[{}],"resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}`,
			&kube.Demands{Whole: &kube.Resources{CPU: 1000, Memory: 1 << 30}, Sought: &kube.Resources{CPU: 100, Memory: 200 << 20}, QOS: "Guaranteed"}},
		{`{"containers":[{},{"resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"memory":"1Gi"}}}`,
			&kube.Demands{Whole: &kube.Resources{CPU: 1000, Memory: 1 << 30}, Sought: &kube.Resources{CPU: 1100, Memory: 400 << 20}, QOS: "Burstable"}},
	} {
		if diff := cmp.Diff(one.want, demandsOf(t, one.spec)); diff != "" {
			t.Errorf("%s: %s", one.spec, diff)
		}
	}
	// A sidecar counts with all that comes after it.
	d := demandsOf(t, `{"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[
		{"name":"a","resources":{"requests":{"cpu":"1"}}},
		{"name":"b","restartPolicy":"Always","resources":{"requests":{"cpu":"2","memory":"10"}}},
		{"name":"c","resources":{"requests":{"cpu":"1500m"}}}]}`)
	if *d.Whole != (kube.Resources{CPU: 3500, Memory: 10}) || !d.Init[1].Sidecar || d.Init[0].Sidecar {
		t.Errorf("with init containers: %+v %+v", d.Whole, d.Init)
	}
}

// A DaemonSet's pod asks for its node and nothing else.
func TestPinnedPodsDemandNoNode(t *testing.T) {
	term := func(more string) string {
		return `{"containers":[{}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]` + more + `}]}}}}`
	}
	if d := demandsOf(t, term("")); d != nil {
		t.Errorf("%+v", d)
	}
	if d := demandsOf(t, term(`,"matchExpressions":[{"key":"a","operator":"Exists"}]`)); d == nil || len(d.NodeAffinity.Required) != 1 {
		t.Errorf("%+v", d)
	}
}
