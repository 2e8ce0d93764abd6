package openapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemamutation"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/nodesim/nodesim/timeline"
)

// addCustom adds a custom kind and its list. A definition that can't be read, or that has no schema for the version,
// is as none.
func (l *library) addCustom(r timeline.Resource, definition []byte) models {
	gv := schema.GroupVersion{Group: r.Group, Version: r.Version}
	labels := strings.Split(r.Group, ".")
	slices.Reverse(labels)
	prefix := strings.Join(labels, ".") + "." + r.Version + "."
	m := models{modelLike(prefix + r.Kind), modelLike(prefix + r.Kind + "List")}

	object, ok := defined(r, definition)
	if !ok {
		object = spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
		object.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	}
	if !l.v3 {
		object = *forV2(&object)
	}
	l.envelope(&object, reflect.TypeFor[metav1.ObjectMeta](), "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata")
	l.schemas[m.object] = object
	l.mark(m.object, gv.WithKind(r.Kind))

	list := spec.Schema{SchemaProps: spec.SchemaProps{
		Description: r.Kind + "List is a list of " + r.Kind, Type: spec.StringOrArray{"object"}, Required: []string{"items"},
	}}
	l.envelope(&list, reflect.TypeFor[metav1.ListMeta](), "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds")
	list.Properties["items"] = spec.Schema{SchemaProps: spec.SchemaProps{
		Description: "List of " + r.Resource + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md",
		Type:        spec.StringOrArray{"array"},
		Items:       &spec.SchemaOrArray{Schema: &spec.Schema{SchemaProps: spec.SchemaProps{Ref: l.ref(m.object)}}},
	}}
	l.schemas[m.list] = list
	l.mark(m.list, gv.WithKind(r.Kind+"List"))
	return m
}

// modelLike replaces what can't be in a reference; the names of real groups and kinds pass as they are.
func modelLike(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
}

// envelope gives a schema the apiVersion, kind and metadata that every object has
// (k8s.io/apiextensions-apiserver, pkg/controller/openapi/builder).
func (l *library) envelope(s *spec.Schema, meta reflect.Type, description string) {
	if s.Properties == nil {
		s.Properties = map[string]spec.Schema{}
	}
	doc := docOf(reflect.TypeFor[metav1.TypeMeta]())
	for _, name := range []string{"apiVersion", "kind"} {
		s.Properties[name] = spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}, Description: doc[name]}}
	}
	s.Properties["metadata"] = spec.Schema{SchemaProps: spec.SchemaProps{Ref: l.ref(l.add(meta)), Description: description}}
}

// defined reads the schema of a version from a CustomResourceDefinition.
func defined(r timeline.Resource, raw []byte) (s spec.Schema, ok bool) {
	var d struct {
		Spec struct {
			Versions []struct {
				Name   string `json:"name"`
				Schema struct {
					OpenAPIV3Schema *spec.Schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &d) != nil {
		return s, false
	}
	for _, v := range d.Spec.Versions {
		if v.Name == r.Version && v.Schema.OpenAPIV3Schema != nil {
			return *v.Schema.OpenAPIV3Schema, true
		}
	}
	return s, false
}

// forV2 leaves out what OpenAPI v2, and clients of the time, don't know (k8s.io/apiextensions-apiserver,
// pkg/controller/openapi/v2/conversion.go).
func forV2(s *spec.Schema) *spec.Schema {
	w := schemamutation.Walker{RefCallback: schemamutation.RefCallbackNoop, SchemaCallback: func(s *spec.Schema) *spec.Schema {
		c := *s
		c.AllOf, c.AnyOf, c.OneOf, c.Not, c.Default = nil, nil, nil, nil, nil
		open, _ := c.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
		either, _ := c.Extensions.GetBool("x-kubernetes-int-or-string")
		if open || either || c.Nullable {
			c.Type, c.Items, c.Properties, c.Nullable = nil, nil, nil, false
		}
		return &c
	}}
	return w.WalkSchema(s)
}
