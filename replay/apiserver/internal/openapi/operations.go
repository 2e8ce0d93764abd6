package openapi

import (
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/nodesim/nodesim/timeline"
)

var (
	produced = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}
	watched  = append(slices.Clone(produced), "application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch")
	patches  = []string{"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"}
)

// An operation is one method of one path, before it is written as v2 and converted to v3.
type operation struct {
	method, action string // "patch", "patch"; "delete", "deletecollection"
	id             string // operationId
	text           string // description
	kind           schema.GroupVersionKind
	parameters     []spec.Parameter
	consumes       []string
	produces       []string
	body, answer   string // models
	optionalBody   bool
	codes          []int // answers beside 200 and 401
}

// A resourcePaths writes the paths of one resource.
type resourcePaths struct {
	l      *library
	r      timeline.Resource
	models models
	tag    string // "core_v1"
	camel  string // "CoreV1"
	custom bool
	paths  map[string]spec.PathItem
	allow  func(verb string) bool
}

// write adds a resource and its subresources.
func (p *resourcePaths) write(subresources []string) {
	root := "/apis/" + p.r.APIVersion() + "/"
	if p.r.Group == "" {
		root = "/api/" + p.r.Version + "/"
	}
	base, scope := root+p.r.Resource, ""
	if p.r.Namespaced {
		base, scope = root+"namespaces/{namespace}/"+p.r.Resource, "Namespaced"
	}
	kind := schema.GroupVersionKind{Group: p.r.Group, Version: p.r.Version, Kind: p.r.Kind}
	p.collection(base, p.camel+scope+p.r.Kind, p.camel+"Collection"+scope+p.r.Kind, kind)
	p.item(base+"/{name}", p.camel+scope+p.r.Kind, kind)
	for _, name := range subresources {
		p.subresource(base+"/{name}/"+name, name, p.camel+scope+p.r.Kind+capital(name), kind)
	}
	if p.r.Namespaced {
		p.add(root+p.r.Resource, p.list("list"+p.camel+p.r.Kind+"ForAllNamespaces", kind))
	}
}

func (p *resourcePaths) list(id string, kind schema.GroupVersionKind) operation {
	return operation{method: "get", action: "list", id: id, text: "list or watch objects of kind " + kind.Kind, kind: kind,
		parameters: listParameters, consumes: []string{"*/*"}, produces: watched, answer: p.models.list}
}

func (p *resourcePaths) collection(path, id, collectionID string, kind schema.GroupVersionKind) {
	p.add(path,
		p.list("list"+id, kind),
		operation{method: "post", action: "post", id: "create" + id, text: article("create", kind.Kind), kind: kind,
			parameters: createParameters, body: p.models.object, answer: p.models.object, codes: []int{201, 202}},
		operation{method: "delete", action: "deletecollection", id: "delete" + collectionID, text: "delete collection of " + kind.Kind, kind: kind,
			parameters: collectionParameters, body: modelName(reflect.TypeFor[metav1.DeleteOptions]()), optionalBody: true, answer: modelName(reflect.TypeFor[metav1.Status]())})
}

// deletedReturned are the resources whose deletion is answered with the object, not with a Status (kubernetes,
// pkg/registry, ReturnDeletedObject).
var deletedReturned = map[schema.GroupResource]bool{
	{Resource: "persistentvolumeclaims"}:                           true,
	{Resource: "persistentvolumes"}:                                true,
	{Resource: "pods"}:                                             true,
	{Resource: "podtemplates"}:                                     true,
	{Resource: "resourcequotas"}:                                   true,
	{Resource: "serviceaccounts"}:                                  true,
	{Resource: "services"}:                                         true,
	{Group: "resource.k8s.io", Resource: "deviceclasses"}:          true,
	{Group: "resource.k8s.io", Resource: "resourceclaims"}:         true,
	{Group: "resource.k8s.io", Resource: "resourceclaimtemplates"}: true,
	{Group: "resource.k8s.io", Resource: "resourceslices"}:         true,
	{Group: "storage.k8s.io", Resource: "csidrivers"}:              true,
	{Group: "storage.k8s.io", Resource: "csinodes"}:                true,
	{Group: "storage.k8s.io", Resource: "storageclasses"}:          true,
	{Group: "storage.k8s.io", Resource: "volumeattachments"}:       true,
	{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}: true,
}

func (p *resourcePaths) item(path, id string, kind schema.GroupVersionKind) {
	answer := modelName(reflect.TypeFor[metav1.Status]())
	if deletedReturned[schema.GroupResource{Group: p.r.Group, Resource: p.r.Resource}] {
		answer = p.models.object
	}
	p.add(path, append(p.readWrite(id, "", kind, p.models.object),
		operation{method: "delete", action: "delete", id: "delete" + id, text: article("delete", kind.Kind), kind: kind,
			parameters: deleteParameters, body: modelName(reflect.TypeFor[metav1.DeleteOptions]()), optionalBody: true, answer: answer, codes: []int{202}})...)
}

// readWrite are get, put and patch of an object or, where sub is "status of ", of a part of it.
func (p *resourcePaths) readWrite(id, sub string, kind schema.GroupVersionKind, model string) []operation {
	consumed := patches
	if p.custom {
		consumed = slices.DeleteFunc(slices.Clone(patches), func(t string) bool { return strings.Contains(t, "strategic") })
	}
	the := sub + "the specified " + p.r.Kind
	return []operation{
		{method: "get", action: "get", id: "read" + id, text: "read " + the, kind: kind, answer: model},
		{method: "put", action: "put", id: "replace" + id, text: "replace " + the, kind: kind,
			parameters: updateParameters, body: model, answer: model, codes: []int{201}},
		{method: "patch", action: "patch", id: "patch" + id, text: "partially update " + the, kind: kind,
			parameters: patchParameters, consumes: consumed, body: modelName(reflect.TypeFor[metav1.Patch]()), answer: model, codes: []int{201}},
	}
}

func (p *resourcePaths) subresource(path, name, id string, kind schema.GroupVersionKind) {
	model := p.models.object
	if s, ok := subresourceTypes[name]; ok {
		kind, model = s.gvk, p.l.add(s.t)
	}
	if name == "binding" || name == "eviction" {
		p.add(path, operation{method: "post", action: "post", id: "create" + id, text: "create " + name + " of a " + p.r.Kind, kind: kind,
			parameters: createParameters, body: model, answer: model, codes: []int{201, 202}})
		return
	}
	p.add(path, p.readWrite(id, name+" of ", kind, model)...)
}

// capital says "Status" for "status".
func capital(name string) string {
	_, first := utf8.DecodeRuneInString(name)
	return strings.ToUpper(name[:first]) + name[first:]
}

// article says "create a Node", "delete an Event", "create Endpoints" (k8s.io/apiserver, pkg/endpoints/installer.go).
func article(verb, kind string) string {
	if strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss") {
		return verb + " " + kind
	}
	if strings.ContainsAny(kind[:min(1, len(kind))], "AEIOU") {
		return verb + " an " + kind
	}
	return verb + " a " + kind
}
