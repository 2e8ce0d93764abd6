package openapi

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/nodesim/nodesim/timeline"
)

// TestServesAsKubeOpenAPI compares answers with those of kube-openapi's handlers over the same documents.
func TestServesAsKubeOpenAPI(t *testing.T) {
	o := Options{ServerVersion: "v1.36.3", Resources: []timeline.Resource{
		{Version: "v1", Kind: "Node", Resource: "nodes"},
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
	}}
	theirs := http.NewServeMux()
	handler.NewOpenAPIServiceLazy(cached.Func(func() (*spec.Swagger, string, error) { return o.v2(), "", nil })).
		RegisterOpenAPIVersionedService("/openapi/v2", prefixes{theirs})
	v3 := handler3.NewOpenAPIService()
	for _, gv := range groupVersions(o.Resources) {
		v3.UpdateGroupVersionLazy(gv.path(), cached.Func(func() (*spec3.OpenAPI, string, error) { return o.v3(gv), "", nil }))
	}
	if err := v3.RegisterOpenAPIV3VersionedService("/openapi/v3", prefixes{theirs}); err != nil {
		t.Fatal(err)
	}
	ours := o.services()
	tag := ask(ours, "/openapi/v3/api/v1", "", "").Header().Get("ETag")
	const v2, last = "application/com.github.proto-openapi.spec.v2", ".v1.0+protobuf"
	for _, path := range []string{"/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/policy/v1", "/openapi/v3/api/v1?hash=0", "/openapi/v3/api/v1?hash=" + tag[1:len(tag)-1]} {
		for _, accept := range []string{
			"", "*/*", "application/*", "application/json", "text/html", "text/html, application/json;q=0.5", "application/json;q=0.1," + v2 + last,
			v2 + last, v2 + "@v1.0+protobuf", "application/com.github.proto-openapi.spec.v3" + last,
			"application/com.github.proto-openapi.spec.v3@v1.0+protobuf, application/json",
		} {
			for _, encoding := range []string{"", "gzip"} {
				t.Run(fmt.Sprintf("%s %q %s", path, accept, encoding), func(t *testing.T) {
					got, want := ask(ours, path, accept, encoding), ask(theirs, path, accept, encoding)
					if got.Code != want.Code {
						t.Fatalf("found status %d, want %d", got.Code, want.Code)
					}
					for _, name := range []string{"Content-Type", "ETag", "Location", "Cache-Control", "Content-Encoding"} {
						if got, want := got.Header().Get(name), want.Header().Get(name); got != want {
							t.Errorf("%s: found %q, want %q", name, got, want)
						}
					}
					if got, want := body(t, got), body(t, want); got != want {
						t.Errorf("found another text of %d bytes, want %d", len(got), len(want))
					}
				})
			}
		}
	}
	// What a client has already isn't sent again.
	r := httptest.NewRequest(http.MethodGet, "/openapi/v3/api/v1", nil)
	r.Header.Set("If-None-Match", tag)
	w := httptest.NewRecorder()
	if ours.ServeHTTP(w, r); w.Code != http.StatusNotModified {
		t.Errorf("found status %d with the tag that there is, want 304", w.Code)
	}
}

// body is the text of an answer, decompressed.
func body(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var r io.Reader = w.Body
	if w.Header().Get("Content-Encoding") == "gzip" {
		var err error
		if r, err = gzip.NewReader(r); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// prefixes holds what kube-openapi registers its handlers with.
type prefixes struct{ *http.ServeMux }

// HandlePrefix implements common.PathHandlerByGroupVersion.
func (m prefixes) HandlePrefix(path string, h http.Handler) { m.Handle(path, h) }

func ask(h http.Handler, path, accept, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if encoding != "" {
		r.Header.Set("Accept-Encoding", encoding)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
