package discovery

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"

	"github.com/nodesim/nodesim/timeline"
)

// Options say what is to be discovered.
type Options struct {
	// Resources are those of the tape. Each group, version and plural may stand once.
	Resources []timeline.Resource

	// Definitions returns the CustomResourceDefinition (apiextensions.k8s.io/v1, as JSON) of a custom resource, or nil
	// where the tape has none. It is called in New alone, once for each resource that isn't built in, and may be nil.
	Definitions func(timeline.Resource) []byte

	// ServerVersion is the version of the recorded server, such as v1.36.3. Where it is missing or can't be read, it
	// is that of the Kubernetes release whose built-in resources this package knows.
	ServerVersion string

	// Writes lists the verbs that write, too.
	Writes bool

	// Ready is asked at each /readyz; an error is "not ready". It may be nil, and must be safe for concurrent use.
	Ready func() error
}

// A Handler serves discovery. It never changes, and is safe for concurrent use.
type Handler struct {
	facts              map[timeline.Resource]facts
	info               apiversion.Info
	aggregatedVersions []string
	checks             map[string][]check
	paths              metav1.RootPaths

	groups    map[string]*group // by name
	groupList *metav1.APIGroupList
	core      aggregate // /api
	others    aggregate // /apis
}

// New builds the documents. It fails where a resource has no version, plural or kind, stands twice, or has a
// definition that is no JSON object of that kind.
func New(opts Options) (*Handler, error) {
	h := &Handler{facts: map[timeline.Resource]facts{}, groups: map[string]*group{}, checks: checks(opts.Ready)}
	if err := h.learn(opts); err != nil {
		return nil, err
	}
	var minor int
	h.info, minor = serverVersion(opts.ServerVersion)
	h.aggregatedVersions = aggregatedVersions(minor)

	all := groups(opts.Resources, func(r timeline.Resource) facts { return h.facts[r] }, opts.Writes)
	var core, others []*group
	for _, g := range all {
		h.groups[g.name] = g
		if g.name == "" {
			core = append(core, g)
		} else {
			others = append(others, g)
		}
	}
	h.groupList = groupList(all)
	h.paths = rootPaths(all, h.checks)
	var errs [2]error
	h.core, errs[0] = aggregateOf(core)
	h.others, errs[1] = aggregateOf(others)
	return h, errors.Join(errs[:]...)
}

// learn collects the facts of each resource.
func (h *Handler) learn(opts Options) error {
	seen := map[string]bool{}
	for _, r := range opts.Resources {
		if r.Version == "" || r.Resource == "" || r.Kind == "" {
			return fmt.Errorf("discovery: resource %+v: want a version, a plural and a kind", r)
		}
		if key := r.APIVersion() + "/" + r.Resource; seen[key] {
			return fmt.Errorf("discovery: resource %s stands twice; want each group, version and plural once", key)
		} else {
			seen[key] = true
		}
		var d *definition
		if opts.Definitions != nil && !builtinGroup(r.Group) {
			var err error
			if d, err = readDefinition(r, opts.Definitions(r)); err != nil {
				return err
			}
		}
		h.facts[r] = factsOf(r, d)
	}
	return nil
}

// Subresources returns the subresources that a resource has, by its definition where it is a custom one. The
// caller must not change the slice.
func (h *Handler) Subresources(r timeline.Resource) []string {
	if f, ok := h.facts[r]; ok {
		return f.sub
	}
	return Subresources(r)
}

// Serves reports whether a path is one of discovery, so that ServeHTTP has the answer to it, even if that is 404:
// the paths of the package comment, with or without a slash at the end, whatever group or version they name.
func (h *Handler) Serves(path string) bool {
	switch path {
	case "/", "/version", "/version/":
		return true
	}
	if _, _, ok := healthPath(path); ok {
		return true
	}
	parts := split(path)
	switch parts[0] {
	case "api":
		return len(parts) <= 2
	case "apis":
		return len(parts) <= 3
	}
	return false
}

// split cuts "/apis/policy/v1/" into "apis", "policy" and "v1".
func split(path string) []string {
	return strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
}

// ServeHTTP answers requests for the paths that Serves tells, and 404 for any other, as NotFound does.
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
