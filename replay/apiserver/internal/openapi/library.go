package openapi

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/schemamutation"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// refs are the references to schemas, in v2 and v3.
const (
	refV2 = "#/definitions/"
	refV3 = "#/components/schemas/"
)

// meta is the package of the types that come with every document.
const meta = "io.k8s.apimachinery.pkg.apis.meta.v1."

// A library collects captured schemas and all those that they refer to, in the form of v2 or v3.
type library struct {
	v3      bool
	schemas map[string]spec.Schema // by model
}

func newLibrary(v3 bool) *library { return &library{v3: v3, schemas: map[string]spec.Schema{}} }

// add adds a captured schema, if there is one of that name.
func (l *library) add(name string) {
	raw, captured := captured().Schemas[name]
	if _, has := l.schemas[name]; has || !captured {
		return
	}
	l.schemas[name] = spec.Schema{} // ends the recursion of types that hold themselves
	var s spec.Schema
	_ = json.Unmarshal(raw, &s) // the captured schemas are the server's: a test reads each of them
	l.schemas[name] = l.convert(s)
}

// convert makes a schema in v3's form one of the library's, and adds those that it refers to.
func (l *library) convert(s spec.Schema) spec.Schema {
	w := schemamutation.Walker{SchemaCallback: schemamutation.SchemaCallBackNoop, RefCallback: func(ref *spec.Ref) *spec.Ref {
		name, ok := strings.CutPrefix(ref.String(), refV3)
		if !ok {
			return ref
		}
		l.add(name)
		if l.v3 {
			return ref
		}
		older := spec.MustCreateRef(refV2 + name)
		return &older
	}}
	if !l.v3 {
		w.SchemaCallback = older
	}
	return *w.WalkSchema(&s)
}

// older makes v2's form of a captured schema: without defaults and alternatives, and with references that nothing wraps.
func older(s *spec.Schema) *spec.Schema {
	c := *s
	c.Default = nil
	if len(c.AllOf) == 1 && c.AllOf[0].Ref.String() != "" {
		c.Ref, c.AllOf = c.AllOf[0].Ref, nil
	}
	if len(c.OneOf) > 0 {
		c.OneOf, c.Type = nil, spec.StringOrArray{"string"}
	}
	return &c
}

// kindsKey is the extension that says which kinds a schema is of. Clients find schemas by it.
const kindsKey = "x-kubernetes-group-version-kind"

// mark says which kind a schema is of; a schema can be of several.
func (l *library) mark(name string, kind schema.GroupVersionKind) {
	mark := map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
	s := l.schemas[name]
	marks, _ := s.Extensions[kindsKey].([]any)
	for _, m := range marks {
		if reflect.DeepEqual(m, mark) {
			return
		}
	}
	if s.Extensions == nil {
		s.Extensions = spec.Extensions{}
	}
	s.Extensions[kindsKey] = append(marks, mark)
	l.schemas[name] = s
}
