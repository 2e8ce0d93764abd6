package discovery

import (
	"net"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nodesim/nodesim/replay/apiserver/internal/negotiation"
)

// split cuts "/apis/policy/v1/" into "apis", "policy" and "v1".
func split(path string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
}

// ServeHTTP answers requests for the paths of the package comment, with or without a slash at the end, and 404 for any
// other, as NotFound does.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, private") // k8s.io/apiserver, pkg/endpoints/filters/cachecontrol.go
	path := r.URL.Path
	if endpoint, rest, ok := healthPath(path); ok {
		h.serveHealth(w, r, endpoint, rest)
		return
	}
	if path == "/" {
		writeJSON(w, http.StatusOK, h.paths)
		return
	}
	parts := split(path)
	switch {
	case path == "/version" || path == "/version/":
		if routed(w, r, jsonOnly) {
			writeJSON(w, http.StatusOK, h.info)
		}
	case len(parts) == 1 && parts[0] == "api":
		h.serveRoot(w, r, true)
	case len(parts) == 1 && parts[0] == "apis":
		h.serveRoot(w, r, false)
	case len(parts) == 2 && parts[0] == "api":
		h.serveVersion(w, r, "", parts[1])
	case len(parts) == 2 && parts[0] == "apis":
		h.serveGroup(w, r, parts[1])
	case len(parts) == 3 && parts[0] == "apis":
		h.serveVersion(w, r, parts[1], parts[2])
	default:
		h.NotFound(w, r)
	}
}

// serveRoot answers /api and /apis. Only the first goes through the real server's router.
func (h *Handler) serveRoot(w http.ResponseWriter, r *http.Request, core bool) {
	if core && !routed(w, r, mediaTypes...) {
		return
	}
	// A client that accepts aggregated discovery at all gets it, even where it names the plain one first
	// (k8s.io/apiserver, pkg/endpoints/discovery/aggregated/wrapper.go).
	// With a slash at the end /apis has the plain form only (its own route in kube-aggregator, pkg/apiserver/apiserver.go).
	forms := restrictions(h.isAggregated)
	if r.URL.Path == "/apis/" {
		forms = plain
	}
	terms, _ := negotiation.NegotiateMediaTypeOptions(r.Header.Get("Accept"), codecs.SupportedMediaTypes(), forms)
	switch {
	case terms.Convert != nil && core:
		writeAggregate(w, r, h.core, terms)
	case terms.Convert != nil:
		writeAggregate(w, r, h.others, terms)
	case core:
		write(w, r, http.StatusOK, apiVersions(r))
	default:
		write(w, r, http.StatusOK, h.groupList)
	}
}

// apiVersions is /api. Its serverAddress is where the client has reached this server.
func apiVersions(r *http.Request) runtime.Object {
	address := r.Host
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		address = local.String()
	}
	return &metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, // without apiVersion since release 1.1
		Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
			{ClientCIDR: "0.0.0.0/0", ServerAddress: address},
		},
	}
}

// serveGroup answers /apis/GROUP, with any method, like the real one (kube-aggregator, pkg/apiserver/handler_apis.go).
func (h *Handler) serveGroup(w http.ResponseWriter, r *http.Request, name string) {
	g := h.groups[name]
	if g == nil || name == "" {
		h.NotFound(w, r)
		return
	}
	a := g.apiGroup()
	a.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	write(w, r, http.StatusOK, &a)
}

// serveVersion answers /api/v1 and /apis/GROUP/VERSION. Custom groups don't go through the real server's router
// (k8s.io/apiextensions-apiserver, pkg/apiserver/customresource_discovery.go).
func (h *Handler) serveVersion(w http.ResponseWriter, r *http.Request, name, version string) {
	g := h.groups[name]
	if g == nil || name == "" && strings.HasPrefix(r.URL.Path, "/apis/") {
		h.NotFound(w, r)
		return
	}
	for _, v := range g.versions {
		if v.version != version {
			continue
		}
		if !builtinGroup(name) || routed(w, r, mediaTypes...) {
			write(w, r, http.StatusOK, v.resourceList())
		}
		return
	}
	h.NotFound(w, r)
}

// NotFound answers 404 in the form that the real server has for this path: a Status below /api and below the
// built-in groups that are there, whose router takes the path and finds nothing, and plain text for all else.
func (h *Handler) NotFound(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache, private")
	parts := split(r.URL.Path)
	routed := parts[0] == "api" && strings.HasPrefix(r.URL.Path, "/api")
	if parts[0] == "apis" && len(parts) > 2 {
		routed = parts[1] != "" && builtinGroup(parts[1]) && h.groups[parts[1]] != nil
	}
	if routed {
		writeFailure(w, r, http.StatusNotFound, "404: Page Not Found")
		return
	}
	http.Error(w, "404 page not found", http.StatusNotFound)
}
