package discovery_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/timeline"
)

func TestPlainDocuments(t *testing.T) {
	h := handler(t)
	for path, want := range map[string]string{
		"/api":         `{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"example.com"}]}`,
		"/apis/policy": `{"kind":"APIGroup","apiVersion":"v1","name":"policy","versions":[{"groupVersion":"policy/v1","version":"v1"}],"preferredVersion":{"groupVersion":"policy/v1","version":"v1"}}`,
		"/apis/policy/v1/": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"policy/v1","resources":[` +
			`{"name":"poddisruptionbudgets","singularName":"poddisruptionbudget","namespaced":true,"kind":"PodDisruptionBudget","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["pdb"],"storageVersionHash":"EVWiDmWqyJw="},` +
			`{"name":"poddisruptionbudgets/status","singularName":"","namespaced":true,"kind":"PodDisruptionBudget","verbs":["get","patch","update"]}]}`,
		// With a definition: its names, its subresources of this version, the hash of the version that is stored.
		"/apis/karpenter.sh/v1beta1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"karpenter.sh/v1beta1","resources":[` +
			`{"name":"nodeclaims","singularName":"nodeclaim","namespaced":false,"kind":"NodeClaim","verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"shortNames":["nc"],"categories":["karpenter"],"storageVersionHash":"QTizURWjI3E="},` +
			`{"name":"nodeclaims/status","singularName":"","namespaced":false,"kind":"NodeClaim","verbs":["get","patch","update"]},` +
			`{"name":"nodeclaims/scale","singularName":"","namespaced":false,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get","patch","update"]}]}`,
		// Without one.
		"/apis/example.dev/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.dev/v1","resources":[` +
			`{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["delete","deletecollection","get","list","patch","create","update","watch"]},` +
			`{"name":"widgets/status","singularName":"","namespaced":true,"kind":"Widget","verbs":["get","patch","update"]}]}`,
	} {
		if diff := cmp.Diff(want, body(h, path, "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestGroupsComeInTheServersOrder(t *testing.T) {
	var names []string
	for part := range strings.SplitSeq(body(handler(t), "/apis", ""), `{"name":"`) {
		if name, _, ok := strings.Cut(part, `","versions":[{"groupVersion":"`); ok {
			names = append(names, name)
		}
	}
	if diff := cmp.Diff([]string{"apps", "policy", "example.dev", "karpenter.sh"}, names); diff != "" {
		t.Error(diff)
	}
	if got := body(handler(t), "/apis/karpenter.sh", ""); !strings.Contains(got, `"preferredVersion":{"groupVersion":"karpenter.sh/v1","version":"v1"}`) {
		t.Errorf("a release goes before a beta: %s", got)
	}
}

func TestRefusedWritesAreNotListed(t *testing.T) {
	h := handler(t, func(o *discovery.Options) { o.Writes = false })
	got := body(h, "/api/v1", "")
	for _, verb := range []string{"create", "update", "patch", "delete", "deletecollection"} {
		if strings.Contains(got, `"`+verb+`"`) {
			t.Errorf("%s is listed: %s", verb, got)
		}
	}
	for _, want := range []string{`"pods/status"`, `"verbs":["get","list","watch"]`, `"verbs":["get"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing: %s", want, got)
		}
	}
	if strings.Contains(got, "eviction") {
		t.Errorf("one can only write to eviction: %s", got)
	}
}

// A server has a core group even where the tape has nothing of it.
func TestEmptyTape(t *testing.T) {
	h := handler(t, func(o *discovery.Options) { o.Resources = nil })
	for path, want := range map[string]string{
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`,
		"/apis":   `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	} {
		if got := body(h, path, ""); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestFactsForOthers(t *testing.T) {
	pods := timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	claims := timeline.Resource{Group: "karpenter.sh", Version: "v1beta1", Kind: "NodeClaim", Resource: "nodeclaims"}
	namespaces := timeline.Resource{Version: "v1", Kind: "Namespace", Resource: "namespaces"}
	for _, c := range []struct {
		what      string
		got, want []string
	}{
		{"subresources of pods", discovery.Subresources(pods), []string{"binding", "eviction", "status"}},
		{"subresources of a defined kind", handler(t).Subresources(claims), []string{"status", "scale"}},
		{"subresources of a kind without definition", discovery.Subresources(claims), []string{"status"}},
		{"verbs of namespaces", discovery.Verbs(namespaces), []string{"create", "delete", "get", "list", "patch", "update", "watch"}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

func TestBadOptions(t *testing.T) {
	node := tape[0]
	for want, o := range map[string]discovery.Options{
		"stands twice":     {Resources: []timeline.Resource{node, node}},
		"want a version":   {Resources: []timeline.Resource{{Resource: "nodes"}}},
		"definition of nc": {Resources: []timeline.Resource{{Group: "x.y", Version: "v1", Kind: "NC", Resource: "nc"}}, Definitions: func(timeline.Resource) []byte { return []byte("{") }},
	} {
		if h, err := discovery.New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v and %v", want, h, err)
		}
	}
}

var _ http.Handler = (*discovery.Handler)(nil)
