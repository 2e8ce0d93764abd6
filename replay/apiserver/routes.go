package apiserver

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/replay/apiserver/internal/route"
	"github.com/nodesim/nodesim/timeline"
)

// elsewhere are subresources that kube-apiserver serves and a replay doesn't: most of them reach kubelets
// (pkg/registry/core/rest/storage_core.go of kubernetes and its like of the other groups).
var elsewhere = map[string][]string{
	"pods":            {"attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward", "proxy", "resize"},
	"nodes":           {"proxy"},
	"services":        {"proxy"},
	"namespaces":      {"finalize"},
	"serviceaccounts": {"token"},
}

// kubelets are those that a kubelet answers, which some clients ask for with POST.
var kubelets = []string{"attach", "exec", "log", "portforward", "proxy"}

// withoutKubelet refuses what a kubelet, or another actor, would do.
func (s *Server) withoutKubelet(r *resource, info *route.Info) error {
	return s.refused(info.Verb+" "+info.Subresource, gvr(r.Resource).GroupResource(), "no containers run in it")
}

// routed says what kube-apiserver's router answers before a handler sees the request; nil where it finds one.
func (s *Server) routed(req *http.Request, r *resource, info *route.Info) error {
	parts, builtin := len(info.Parts), s.builtin(r.Resource)
	switch {
	case strings.HasPrefix(req.URL.Path, "//"),
		!r.Namespaced && info.Namespace != "" && (r.String() != "namespaces" || strings.Contains(req.URL.Path, "/namespaces/"+info.Namespace+"/namespaces")),
		(builtin || info.Verb == "get") && parts > 1 && r.Namespaced && info.Namespace == "",
		!builtin && info.Verb == "" && parts == 1, // a method that means nothing
		builtin && (parts > 3 || info.Verb == "proxy"):
		return unrouted(http.StatusNotFound, "")
	case builtin && req.Method != http.MethodGet:
		return unrouted(http.StatusMethodNotAllowed, "405: Method Not Allowed")
	case info.Subresource != "" && !slices.Contains(s.catalog().subresources(r.Resource), info.Subresource):
		if slices.Contains(elsewhere[r.String()], info.Subresource) {
			return s.withoutKubelet(r, info)
		}
		if !builtin {
			return apierrors.NewNotFound(gvr(r.Resource).GroupResource(), info.Name)
		}
		return unrouted(http.StatusNotFound, "")
	case info.Subresource != "" && info.Subresource != "status" && info.Subresource != "scale":
		return apierrors.NewMethodNotSupported(gvr(r.Resource).GroupResource(), info.Verb)
	}
	if builtin {
		return acceptable(req.Header.Get("Accept"), parts == 1)
	}
	return nil
}

// builtin reports whether go-restful routes what asks for the resource: custom ones have a handler of their own.
func (s *Server) builtin(r timeline.Resource) bool {
	return !strings.Contains(r.Group, ".") || strings.HasSuffix(r.Group, ".k8s.io") && s.definition(r) == nil
}

// produced are the forms that kube-apiserver's routes name, those of a stream where there is one.
var produced = []string{
	"application/json", "application/yaml", "application/vnd.kubernetes.protobuf",
	"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch",
}

// acceptable returns what go-restful's router makes of an Accept header, before the API server looks at it: only a
// whole media type, in the usual letters, or */* will do (its route.go, Route.matchesAccept, and jsr311.go,
// detectRoute).
func acceptable(header string, stream bool) error {
	forms := produced
	if !stream {
		forms = produced[:3]
	}
	if discovery.Accepts(header, forms) {
		return nil
	}
	return unrouted(http.StatusNotAcceptable, "406: Not Acceptable\n\nAvailable representations: "+strings.Join(forms, ", "))
}

// unrouted is the error of a router: it knows neither a verb nor a resource.
func unrouted(code int, message string) error {
	return apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", message, 0, false)
}

// exported refuses the export parameter, which was taken away (endpoints/handlers/get.go of k8s.io/apiserver).
func exported(req *http.Request) error {
	values := req.URL.Query()["export"]
	if len(values) == 0 {
		return nil
	}
	if v, err := strconv.ParseBool(values[0]); err == nil && !v || values[0] == "" {
		return nil
	}
	return apierrors.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
}

// warning is what comes with an answer about a resource, or "" (RFC 7234, 5.5).
func warning(r *resource, write bool) string {
	switch {
	case r == nil:
		return ""
	case r.warning != "":
		return r.warning
	case !write:
		return deprecated[r.String()]
	}
	return ""
}

// deprecated are the warnings about built-in resources, with each answer to a read.
var deprecated = map[string]string{
	"endpoints": "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}
