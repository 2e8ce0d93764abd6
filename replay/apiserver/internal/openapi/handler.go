package openapi

import (
	"net/http"
	"strings"
	"sync"

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
	build func() *services
}

// New returns a handler that has built nothing yet: the first request for a document builds it, and reads what is
// common to all of them.
func New(opts Options) *Handler {
	return &Handler{build: sync.OnceValue(opts.services)}
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
	h.build().ServeHTTP(w, r)
}
