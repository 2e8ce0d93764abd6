package discovery_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/timeline"
)

// tape holds what a recording holds by default, and two kinds of custom resources.
var tape = []timeline.Resource{
	{Version: "v1", Kind: "Node", Resource: "nodes"},
	{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
	{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
	{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim", Resource: "nodeclaims"},
	{Group: "karpenter.sh", Version: "v1beta1", Kind: "NodeClaim", Resource: "nodeclaims"},
	{Group: "example.dev", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true},
}

// nodeClaims is the definition of a custom resource.
const nodeClaims = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"karpenter.sh","scope":"Cluster",
"names":{"plural":"nodeclaims","singular":"nodeclaim","kind":"NodeClaim","shortNames":["nc"],"categories":["karpenter"]},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}}},
{"name":"v1beta1","served":true,"storage":false,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas"}}}]},
"status":{"acceptedNames":{"plural":"nodeclaims","singular":"nodeclaim","kind":"NodeClaim","shortNames":["nc"],"categories":["karpenter"]}}}`

func handler(t testing.TB, change ...func(*discovery.Options)) *discovery.Handler {
	t.Helper()
	o := discovery.Options{Resources: tape, ServerVersion: "v1.36.3", Writes: true, Definitions: func(r timeline.Resource) []byte {
		if r.Kind == "NodeClaim" {
			return []byte(nodeClaims)
		}
		return nil
	}}
	for _, c := range change {
		c(&o)
	}
	h, err := discovery.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request; accept "" is no header.
func ask(h http.Handler, method, path, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func body(h http.Handler, path, accept string) string {
	return strings.TrimSuffix(ask(h, http.MethodGet, path, accept).Body.String(), "\n")
}
