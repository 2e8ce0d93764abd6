package openapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// A library collects the schemas of Go types and of all types that they refer to.
type library struct {
	v3      bool
	markers markers
	schemas map[string]spec.Schema // by model name
}

func newLibrary(v3 bool, m markers) *library {
	return &library{v3: v3, markers: m, schemas: map[string]spec.Schema{}}
}

// ref points to a schema of the library, and in v3 to one of another document of the same shape.
func (l *library) ref(name string) spec.Ref {
	if l.v3 {
		return spec.MustCreateRef("#/components/schemas/" + name)
	}
	return spec.MustCreateRef("#/definitions/" + name)
}

// add adds a struct type with all that it refers to and returns its name.
func (l *library) add(t reflect.Type) string {
	name := modelName(t)
	if _, ok := l.schemas[name]; ok {
		return name
	}
	l.schemas[name] = spec.Schema{} // ends the recursion of types that hold themselves
	s, ok := special(t, l.v3)
	doc := docOf(t)
	if !ok {
		s.Type = spec.StringOrArray{"object"}
		s.Properties = map[string]spec.Schema{}
		l.fields(&s, name, t)
		if len(s.Properties) == 0 {
			s.Properties = nil
		}
		if l.markers.atomic(name) {
			s.AddExtension("x-kubernetes-map-type", "atomic")
		}
	}
	s.Description = doc[""]
	if d, ok := descriptions[name]; ok {
		s.Description = d
	}
	l.schemas[name] = s
	if kind, ok := builtinKinds()[t]; ok {
		l.mark(name, kind)
	}
	return name
}

// fields adds the properties of a struct, those of inlined structs among them.
func (l *library) fields(s *spec.Schema, name string, t reflect.Type) {
	doc := docOf(t)
	for i := range t.NumField() {
		f := t.Field(i)
		property, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if property == "-" || !f.IsExported() {
			continue
		}
		if property == "" {
			if inner := deref(f.Type); f.Anonymous && inner.Kind() == reflect.Struct {
				l.fields(s, name, inner)
			}
			continue
		}
		omitted := slices.Contains(strings.Split(options, ","), "omitempty") || slices.Contains(strings.Split(options, ","), "omitzero")
		p := l.property(f.Type, omitted)
		p.Description = doc[property]
		if strategy := f.Tag.Get("patchStrategy"); strategy != "" {
			p.AddExtension("x-kubernetes-patch-strategy", strategy)
		}
		if key := f.Tag.Get("patchMergeKey"); key != "" {
			p.AddExtension("x-kubernetes-patch-merge-key", key)
		}
		l.markers.apply(&p, name, property, l.v3)
		s.Properties[property] = p
		if !omitted && !notRequired[name+"."+property] || alwaysRequired[name+"."+property] {
			s.Required = append(s.Required, property)
		}
	}
}

// property is the schema of a value of a type; omitted is whether its zero value is left out, so that it can't be the
// default (k8s.io/kube-openapi, pkg/generators/openapi.go, mustEnforceDefault).
func (l *library) property(t reflect.Type, omitted bool) (s spec.Schema) {
	pointer := t.Kind() == reflect.Pointer
	t = deref(t)
	switch {
	case t == reflect.TypeFor[[]byte]():
		s.Type, s.Format = spec.StringOrArray{"string"}, "byte"
	case t.Kind() == reflect.Struct || isTyped(t):
		s.Ref = l.ref(l.add(t))
		if l.v3 && !pointer && !unmarshals(t) {
			s.Default = map[string]any{}
		}
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		items := l.property(t.Elem(), false)
		s.Type, s.Items = spec.StringOrArray{"array"}, &spec.SchemaOrArray{Schema: &items}
	case t.Kind() == reflect.Map:
		values := l.property(t.Elem(), false)
		s.Type, s.AdditionalProperties = spec.StringOrArray{"object"}, &spec.SchemaOrBool{Allows: true, Schema: &values}
	case t.Kind() == reflect.Interface:
		s.Type = spec.StringOrArray{"object"}
	default:
		kind, format := common.OpenAPITypeFormat(t.Kind().String())
		s.Type, s.Format, s.Enum = spec.StringOrArray{kind}, format, enums[strings.TrimPrefix(t.PkgPath(), "k8s.io/api/")+"."+t.Name()]
		if zero, ok := common.OpenAPIZeroValue(t.Kind().String()); ok && l.v3 && !pointer && !omitted {
			s.Default = zero
		}
	}
	return s
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func isTyped(t reflect.Type) bool { return reflect.PointerTo(t).Implements(reflect.TypeFor[typed]()) }

// unmarshals reports whether a type reads its own JSON: null is its zero value then.
func unmarshals(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// modelName is the name of a type in all documents: io.k8s.api.core.v1.Node.
func modelName(t reflect.Type) string {
	if n, ok := reflect.New(t).Interface().(named); ok {
		return n.OpenAPIModelName()
	}
	// As k8s.io/kube-openapi, pkg/util, ToRESTFriendlyName does: the host backwards, the rest by dots.
	host, rest, _ := strings.Cut(t.PkgPath(), "/")
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}

// docOf are the descriptions of a type's fields by their JSON name, and its own as "".
func docOf(t reflect.Type) map[string]string {
	if d, ok := reflect.New(t).Interface().(doced); ok {
		return d.SwaggerDoc()
	}
	return nil
}
