package discovery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/timeline"
)

// A built-in resource in a version that the captured server doesn't serve has the facts of its newest version, but for the
// hash of what is stored; one that the server doesn't have at all has what most have.
func TestFactsOfOtherVersions(t *testing.T) {
	budgets := timeline.Resource{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true}
	want := factsOf(timeline.Resource{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true}, nil)
	if want.resource.StorageVersionHash == "" {
		t.Error("found no hash for the version that is served")
	}
	want.resource.StorageVersionHash = ""
	if diff := cmp.Diff(want.resource, factsOf(budgets, nil).resource); diff != "" {
		t.Errorf("policy/v1beta1 (-want +found):\n%s", diff)
	}
	if diff := cmp.Diff(want.subresources, factsOf(budgets, nil).subresources); diff != "" {
		t.Errorf("subresources of policy/v1beta1 (-want +found):\n%s", diff)
	}
	policies := timeline.Resource{Group: "policy", Version: "v1beta1", Kind: "PodSecurityPolicy", Resource: "podsecuritypolicies"}
	found := factsOf(policies, nil)
	if diff := cmp.Diff(builtinVerbs, []string(found.resource.Verbs)); diff != "" || found.resource.SingularName != "podsecuritypolicy" {
		t.Errorf("podsecuritypolicies: found %+v, want a singular name and all verbs", found.resource)
	}
}

// Facts are the caller's: what one makes of them doesn't reach another.
func TestFactsAreTheCallers(t *testing.T) {
	nodes := timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	Verbs(nodes)[0] = "changed"
	Subresources(nodes)[0] = "changed"
	factsOf(nodes, nil).subresources[0].Namespaced = true
	if f := factsOf(nodes, nil); f.resource.Verbs[0] != "create" || f.names()[0] != "status" || f.subresources[0].Namespaced {
		t.Errorf("found %+v after a caller changed its copy", f)
	}
}

func TestDocumentsThatAreBroken(t *testing.T) {
	for what, text := range map[string]string{"nothing": "", "no gzip": "{}", "cut off": string(compressed[:len(compressed)/2])} {
		if _, err := read([]byte(text)); err == nil {
			t.Errorf("%s: found no error", what)
		}
	}
}
