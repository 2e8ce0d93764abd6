package discovery_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
)

const (
	aggregated      = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	aggregatedProto = "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	aggregatedBeta  = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)

func TestAggregatedDocument(t *testing.T) {
	h := handler(t, func(o *discovery.Options) { o.Resources = o.Resources[5:6] })
	want := `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{"name":"karpenter.sh"},"versions":[` +
		`{"version":"v1","resources":[{"resource":"nodeclaims","responseKind":{"group":"karpenter.sh","version":"v1","kind":"NodeClaim"},"scope":"Cluster","singularResource":"nodeclaim",` +
		`"verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"shortNames":["nc"],"categories":["karpenter"],` +
		`"subresources":[{"subresource":"status","responseKind":{"group":"karpenter.sh","version":"v1","kind":"NodeClaim"},"verbs":["get","patch","update"]}]}],"freshness":"Current"}]}]}`
	if diff := cmp.Diff(want, body(h, "/apis", aggregated)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Current"}]}]}`
	if diff := cmp.Diff(want, body(h, "/api", aggregated)); diff != "" {
		t.Errorf("the core group is there, and empty (-want +got):\n%s", diff)
	}
}

// client-go caches the document and asks again with its ETag.
func TestETag(t *testing.T) {
	h := handler(t)
	first := ask(h, http.MethodGet, "/apis", aggregated)
	etag := first.Header().Get("ETag")
	if etag == "" || first.Header().Get("Vary") != "Accept" || first.Header().Get("Cache-Control") != "public" {
		t.Fatalf("headers: %v", first.Header())
	}
	if other := ask(h, http.MethodGet, "/api", aggregated).Header().Get("ETag"); other == etag {
		t.Error("/api and /apis have one ETag")
	}
	if proto := ask(h, http.MethodGet, "/apis", aggregatedProto).Header().Get("ETag"); proto != etag {
		t.Errorf("protobuf has the ETag %s, JSON %s", proto, etag)
	}
	for header, want := range map[string]int{etag: http.StatusNotModified, `"old"`: http.StatusOK} {
		r := httptest.NewRequest(http.MethodGet, "/apis", nil)
		r.Header.Set("Accept", aggregated)
		r.Header.Set("If-None-Match", header)
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want || (w.Body.Len() == 0) != (want == http.StatusNotModified) {
			t.Errorf("If-None-Match %s: %d with %d bytes", header, w.Code, w.Body.Len())
		}
	}
}

func TestAggregatedProtobuf(t *testing.T) {
	w := ask(handler(t), http.MethodGet, "/apis", aggregatedProto)
	if got := w.Header().Get("Content-Type"); got != aggregatedProto {
		t.Errorf("Content-Type %s", got)
	}
	text := w.Body.Bytes()
	var envelope runtime.Unknown
	var list apidiscovery.APIGroupDiscoveryList
	if len(text) < 4 || string(text[:4]) != "k8s\x00" {
		t.Fatalf("no Kubernetes protobuf: %q", text)
	}
	if err := envelope.Unmarshal(text[4:]); err != nil {
		t.Fatal(err)
	}
	if err := list.Unmarshal(envelope.Raw); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 4 || envelope.Kind != "APIGroupDiscoveryList" || envelope.APIVersion != "apidiscovery.k8s.io/v2" {
		t.Errorf("%s %s with %d groups", envelope.APIVersion, envelope.Kind, len(list.Items))
	}
}

// Servers of other versions offer other versions of the document.
func TestAggregatedVersions(t *testing.T) {
	for server, want := range map[string][2]int{
		"v1.26.4": {406, 406}, "v1.28.0": {406, 200}, "v1.31.2": {200, 200}, "v1.33.0": {200, 406}, "v1.36.3": {200, 406}, "": {200, 406},
	} {
		h := handler(t, func(o *discovery.Options) { o.ServerVersion = server })
		got := [2]int{ask(h, http.MethodGet, "/apis", aggregated).Code, ask(h, http.MethodGet, "/apis", aggregatedBeta).Code}
		if got != want {
			t.Errorf("%q: v2 and v2beta1 are answered with %v, want %v", server, got, want)
		}
	}
	h := handler(t, func(o *discovery.Options) { o.ServerVersion = "v1.28.0" })
	if got := body(h, "/apis", aggregatedBeta+","+aggregated); !strings.Contains(got, `"apiVersion":"apidiscovery.k8s.io/v2beta1"`) {
		t.Errorf("v2beta1 is asked for and answered with %.100s", got)
	}
}
