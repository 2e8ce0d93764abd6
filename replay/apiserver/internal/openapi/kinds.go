package openapi

import (
	"reflect"
	"strings"
	"sync"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/timeline"
)

// A groupVersion is the subject of one document of v3.
type groupVersion struct {
	schema.GroupVersion
	resources []timeline.Resource
}

// path is the document's place in the index: "api/v1" or "apis/policy/v1".
func (gv groupVersion) path() string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.Group + "/" + gv.Version
}

// groupVersions sorts the resources of a tape by group and version, in the tape's order.
func groupVersions(resources []timeline.Resource) (list []*groupVersion) {
	at := map[schema.GroupVersion]*groupVersion{}
	for _, r := range resources {
		key := schema.GroupVersion{Group: r.Group, Version: r.Version}
		gv := at[key]
		if gv == nil {
			gv = &groupVersion{GroupVersion: key}
			at[key] = gv
			list = append(list, gv)
		}
		gv.resources = append(gv.resources, r)
	}
	return list
}

// models are the names of the schemas that a resource's paths refer to.
type models struct{ object, list string }

// addKinds adds the schemas of a document's kinds, and of what comes with every document: Status, DeleteOptions and
// so on. It returns the models of each kind.
func (l *library) addKinds(gv *groupVersion, definitions func(timeline.Resource) []byte) map[string]models {
	names := map[string]models{}
	for _, r := range gv.resources {
		if _, ok := names[r.Kind]; ok {
			continue
		}
		object, ok := goType(gv.GroupVersion, r.Kind)
		list, listed := goType(gv.GroupVersion, r.Kind+"List")
		if !ok || !listed {
			names[r.Kind] = l.addCustom(r, definition(definitions, r))
			continue
		}
		names[r.Kind] = models{l.add(object), l.add(list)}
	}
	for _, t := range []reflect.Type{reflect.TypeFor[metav1.DeleteOptions](), reflect.TypeFor[metav1.WatchEvent]()} {
		name := l.add(t)
		for _, of := range []schema.GroupVersion{{Version: "v1"}, gv.GroupVersion} {
			l.mark(name, of.WithKind(t.Name()))
		}
	}
	l.mark(l.add(reflect.TypeFor[metav1.Status]()), metav1.Unversioned.WithKind("Status"))
	l.add(reflect.TypeFor[metav1.Patch]())
	l.mark(l.add(reflect.TypeFor[metav1.APIResourceList]()), metav1.Unversioned.WithKind("APIResourceList"))
	return names
}

// goType finds the Go type of a built-in kind.
func goType(gv schema.GroupVersion, kind string) (reflect.Type, bool) {
	t, ok := apischeme.Scheme().AllKnownTypes()[gv.WithKind(kind)]
	return t, ok
}

// builtinKinds are the kinds of the Go types of k8s.io/api. Those of apimachinery, such as DeleteOptions, are of every
// group and not among them.
var builtinKinds = sync.OnceValue(func() map[reflect.Type]schema.GroupVersionKind {
	kinds := map[reflect.Type]schema.GroupVersionKind{}
	for kind, t := range apischeme.Scheme().AllKnownTypes() {
		if strings.HasPrefix(t.PkgPath(), "k8s.io/api/") {
			kinds[t] = kind
		}
	}
	return kinds
})

// subresourceTypes are the kinds of subresources that aren't their resource's own.
var subresourceTypes = map[string]struct {
	gvk schema.GroupVersionKind
	t   reflect.Type
}{
	"binding":  {corev1.SchemeGroupVersion.WithKind("Binding"), reflect.TypeFor[corev1.Binding]()},
	"eviction": {policyv1.SchemeGroupVersion.WithKind("Eviction"), reflect.TypeFor[policyv1.Eviction]()},
	"scale":    {autoscalingv1.SchemeGroupVersion.WithKind("Scale"), reflect.TypeFor[autoscalingv1.Scale]()},
}

// mark says which kind a schema is of; a schema can be of several. Clients find schemas by it.
func (l *library) mark(name string, kind schema.GroupVersionKind) {
	const key = "x-kubernetes-group-version-kind"
	mark := map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
	s := l.schemas[name]
	marks, _ := s.Extensions[key].([]any)
	for _, m := range marks {
		if reflect.DeepEqual(m, mark) {
			return
		}
	}
	if s.Extensions == nil {
		s.Extensions = spec.Extensions{}
	}
	s.Extensions[key] = append(marks, mark)
	l.schemas[name] = s
}

func definition(definitions func(timeline.Resource) []byte, r timeline.Resource) []byte {
	if definitions == nil {
		return nil
	}
	return definitions(r)
}
