package openapi

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/cached"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/nodesim/nodesim/timeline"
)

// Options say what is described.
type Options struct {
	// Resources are those of the tape.
	Resources []timeline.Resource

	// Definitions returns the CustomResourceDefinition (apiextensions.k8s.io/v1, as JSON) of a custom resource, or nil
	// where the tape has none. It is called at requests, and must be safe for concurrent use. It may be nil.
	Definitions func(timeline.Resource) []byte

	// Subresources returns those of a resource ("status", "scale", "binding", "eviction"); nil is none at all.
	Subresources func(timeline.Resource) []string

	// Verbs returns what can be done with a resource, as discovery lists it; nil is everything.
	Verbs func(timeline.Resource) []string

	// ServerVersion is the version of the recorded server, such as v1.36.3, for the title of the documents.
	ServerVersion string

	// Writes describes the operations that write, too. kubectl asks them for dryRun and fieldValidation.
	Writes bool
}

// A Handler serves the documents. It is safe for concurrent use.
type Handler struct {
	options Options
	build   func() http.Handler
}

// New returns a handler that has built nothing yet: the first request for a document builds it, and reads what is
// common to all of them.
func New(opts Options) *Handler {
	h := &Handler{options: opts}
	h.build = sync.OnceValue(h.services)
	return h
}

// Serves reports whether a path is one of OpenAPI, so that ServeHTTP has the answer to it, even if that is 404.
func (h *Handler) Serves(path string) bool {
	return path == "/openapi/v2" || path == "/openapi/v3" || strings.HasPrefix(path, "/openapi/v3/")
}

// ServeHTTP answers with a document, in the encoding that the client asks for. It answers any method, as the real
// server does.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, private") // k8s.io/apiserver, pkg/endpoints/filters/cachecontrol.go
	if !h.Serves(r.URL.Path) {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/openapi/v3/"); ok && !h.described(name) {
		w.WriteHeader(http.StatusNotFound) // with nothing in it, as the real one; kube-openapi's own answer is 200
		return
	}
	h.build().ServeHTTP(w, r)
}

// described reports whether there is a document of this name: "apis/policy/v1".
func (h *Handler) described(name string) bool {
	return slices.ContainsFunc(groupVersions(h.options.Resources), func(gv *groupVersion) bool { return gv.path() == name })
}

// services are kube-openapi's, each document of which is made when it is first asked for, and kept.
func (h *Handler) services() http.Handler {
	mux := prefixMux{http.NewServeMux()}
	v2 := handler.NewOpenAPIServiceLazy(cached.Once(cached.Func(func() (*spec.Swagger, string, error) {
		return h.options.v2(), "", nil
	})))
	v2.RegisterOpenAPIVersionedService("/openapi/v2", mux)

	v3 := handler3.NewOpenAPIService()
	for _, gv := range groupVersions(h.options.Resources) {
		v3.UpdateGroupVersionLazy(gv.path(), cached.Once(cached.Func(func() (*spec3.OpenAPI, string, error) {
			return h.options.v3(gv), "", nil
		})))
	}
	_ = v3.RegisterOpenAPIV3VersionedService("/openapi/v3", mux) // it has no error to return
	return mux
}

// prefixMux holds what kube-openapi registers its handlers with.
type prefixMux struct{ *http.ServeMux }

// HandlePrefix implements common.PathHandlerByGroupVersion.
func (m prefixMux) HandlePrefix(path string, h http.Handler) { m.Handle(path, h) }
