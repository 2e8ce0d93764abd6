// Package route says what a request to an API server asks for, by its method, path and query, as kube-apiserver reads
// them (k8s.io/apiserver/pkg/endpoints/request, RequestInfo). Up to Kubernetes 1.36 that package brings the feature gates, and
// with them component-base's metrics, Prometheus and OpenTelemetry: 37 packages. A test compares both.
package route

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Info is what a request asks for. Where it is no resource, only Verb is set, the method in small letters.
type Info struct {
	IsResourceRequest    bool
	Verb                 string // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy"; "" for other methods
	APIGroup, APIVersion string
	Namespace            string
	Resource             string
	Name, Subresource    string
	// Parts is the path from the resource on: resource, name, subresource, and what follows.
	Parts []string
}

var verbs = map[string]string{
	http.MethodGet: "get", http.MethodHead: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch",
	http.MethodDelete: "delete",
}

// Of reads a request. It fails where a path ends after /watch or /proxy; what it says then is as far as it got.
func Of(req *http.Request) (*Info, error) {
	i := &Info{Verb: strings.ToLower(req.Method)}
	var parts []string
	if trimmed := strings.Trim(req.URL.Path, "/"); trimmed != "" {
		parts = strings.Split(trimmed, "/")
	}
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[1:]
	case len(parts) >= 4 && parts[0] == "apis":
		i.APIGroup = parts[1]
		parts = parts[2:]
	default:
		return i, nil
	}
	i.IsResourceRequest, i.APIVersion = true, parts[0]
	parts = parts[1:]
	i.Verb = verbs[req.Method]
	if parts[0] == "watch" || parts[0] == "proxy" { // the verb was a part of the path once
		if len(parts) == 1 {
			i.Verb = strings.ToLower(req.Method)
			return i, fmt.Errorf("unable to determine kind and namespace from url, %v", req.URL)
		}
		i.Verb, parts = parts[0], parts[1:]
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		i.Namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" { // those are the namespace's own
			parts = parts[2:]
		}
	}
	i.Parts, i.Resource = parts, parts[0]
	if len(parts) > 1 {
		i.Name = parts[1]
	}
	if len(parts) > 2 && i.Verb != "proxy" {
		i.Subresource = parts[2]
	}
	if i.Name != "" {
		return i, nil
	}
	switch i.Verb {
	case "get":
		i.ofMany(req.URL.Query())
	case "delete":
		i.Verb = "deletecollection"
	}
	return i, nil
}

// ofMany tells a list from a watch. A selector of one name names the object.
func (i *Info) ofMany(query url.Values) {
	var o internalversion.ListOptions
	i.Verb = "list"
	if err := scheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, &o); err != nil {
		// What is wrong is said later; a watch is one even so.
		if watch := query["watch"]; len(watch) > 0 && strings.ToLower(watch[0]) != "false" && watch[0] != "0" {
			i.Verb = "watch"
		}
		return
	}
	if o.Watch {
		i.Verb = "watch"
	}
	if o.FieldSelector == nil {
		return
	}
	if name, ok := o.FieldSelector.RequiresExactMatch("metadata.name"); ok && len(path.IsValidPathSegmentName(name)) == 0 {
		i.Name = name
	}
}
