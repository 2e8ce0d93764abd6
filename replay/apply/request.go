package apply

import (
	"context"
	"net/url"
	"strings"

	"github.com/nodesim/nodesim/timeline"
)

// Verb holds what is done, in the words of Kubernetes' authorisation.
type Verb string

// The verbs.
const (
	Get    Verb = "get"
	List   Verb = "list"
	Create Verb = "create"
	Patch  Verb = "patch"
	Delete Verb = "delete"
	// Put replaces; only a namespace that has to be finalized is.
	Put Verb = "update"
)

// request is one request to the API server.
type request struct {
	verb            Verb
	resource        timeline.Resource
	namespace, name string
	sub             string // subresource, such as "status"
	query           url.Values
	body            []byte
	strategic       bool // a strategic merge patch, not a JSON merge patch
	asks            bool // changes nothing, whatever its verb
}

// server answers requests. The errors are those of apimachinery.
type server interface {
	do(ctx context.Context, r request) ([]byte, error)
}

// writes reports whether the request may change something.
func (r request) writes() bool {
	return !r.asks && r.verb != Get && r.verb != List
}

// path is where the resource is, on any API server.
func (r request) path() string {
	var b strings.Builder
	if r.resource.Group == "" {
		b.WriteString("/api/")
	} else {
		b.WriteString("/apis/" + r.resource.Group + "/")
	}
	b.WriteString(r.resource.Version)
	if r.namespace != "" && r.resource.Namespaced {
		b.WriteString("/namespaces/" + url.PathEscape(r.namespace))
	}
	b.WriteString("/" + r.resource.Resource)
	for _, part := range []string{r.name, r.sub} {
		if part != "" {
			b.WriteString("/" + url.PathEscape(part))
		}
	}
	return b.String()
}

// String is the request as an error names it: "patch nodes/status ip-10-0-1-10".
func (r request) String() string {
	s := string(r.verb) + " " + r.resource.String()
	if r.sub != "" {
		s += "/" + r.sub
	}
	switch {
	case r.name == "":
	case r.namespace != "":
		s += " " + r.namespace + "/" + r.name
	default:
		s += " " + r.name
	}
	return s
}

// The resources that a replay needs besides the tape's own.
var (
	namespaces      = timeline.Resource{Version: "v1", Kind: "Namespace", Resource: "namespaces"}
	nodes           = timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	serviceAccounts = timeline.Resource{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts", Namespaced: true}
	leases          = timeline.Resource{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Namespaced: true}
	priorityClasses = timeline.Resource{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass", Resource: "priorityclasses"}
	runtimeClasses  = timeline.Resource{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass", Resource: "runtimeclasses"}
	definitions     = timeline.Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"}
	accessReviews   = timeline.Resource{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews"}
)

func isPod(r timeline.Resource) bool  { return r.Group == "" && r.Resource == "pods" }
func isNode(r timeline.Resource) bool { return r.Group == "" && r.Resource == "nodes" }
func isEvent(r timeline.Resource) bool {
	return r.Resource == "events" && (r.Group == "" || r.Group == "events.k8s.io")
}
