package openapi

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// The query parameters of each verb are the fields of its options (k8s.io/apiserver, pkg/endpoints/installer.go,
// AddObjectParams).
var (
	listParameters       = queryParameters(reflect.TypeFor[metav1.ListOptions]())
	createParameters     = queryParameters(reflect.TypeFor[metav1.CreateOptions]())
	updateParameters     = queryParameters(reflect.TypeFor[metav1.UpdateOptions]())
	patchParameters      = queryParameters(reflect.TypeFor[metav1.PatchOptions]())
	deleteParameters     = queryParameters(reflect.TypeFor[metav1.DeleteOptions]())
	collectionParameters = queryParameters(reflect.TypeFor[metav1.DeleteOptions](), reflect.TypeFor[metav1.ListOptions]())
)

// queryParameters makes parameters of the fields of options, sorted and each name once. Several options together are
// those of deletecollection, which can't watch.
func queryParameters(options ...reflect.Type) (list []spec.Parameter) {
	for _, t := range options {
		doc := docOf(t)
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			kind := parameterType(t.Field(i).Type)
			if name == "" || kind == "" || len(options) > 1 && (name == "watch" || name == "allowWatchBookmarks") {
				continue
			}
			list = append(list, parameter("query", name, kind, doc[name]))
		}
	}
	slices.SortStableFunc(list, func(a, b spec.Parameter) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b spec.Parameter) bool { return a.Name == b.Name })
}

// parameterType is the type in which a field goes into a query, "" for a struct: it goes into the body alone. Of a
// list each element is a parameter of its own.
func parameterType(t reflect.Type) string {
	switch t = deref(t); t.Kind() {
	case reflect.String, reflect.Slice:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int64:
		return "integer"
	}
	return ""
}

func parameter(in, name, kind, description string) spec.Parameter {
	p := spec.Parameter{}
	p.In, p.Name, p.Type, p.Description, p.UniqueItems = in, name, kind, description, true
	p.Required = in == "path"
	return p
}

// pathParameters are those of a path's items.
func pathParameters(path, kind string) (list []spec.Parameter) {
	if strings.Contains(path, "{name}") {
		list = append(list, parameter("path", "name", "string", "name of the "+kind))
	}
	if strings.Contains(path, "{namespace}") {
		list = append(list, parameter("path", "namespace", "string", "object name and auth scope, such as for teams and projects"))
	}
	return append(list, parameter("query", "pretty", "string",
		"If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget)."))
}
