package crd

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Prune removes what a version doesn't know of an object, and nulls that it doesn't take, and returns the paths of
// what it didn't know (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning and .../defaulting/prunenulls.go).
func (v *Version) Prune(object map[string]any) (unknown []string) {
	if v == nil || v.open {
		return nil
	}
	p := pruner{}
	p.metadata(object, "")
	root := v.schema
	if root == nil {
		root = &schema{JSONSchemaProps: &apiextensionsv1.JSONSchemaProps{}}
	}
	p.object(object, root, "", true)
	dropNulls(object, v.schema)
	slices.Sort(p.unknown)
	return p.unknown
}

type pruner struct{ unknown []string }

// meta are the fields of each object that no schema says.
func meta(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

func (p *pruner) value(x any, s *schema, at string) {
	if s != nil && s.open() {
		p.keep(x, s, at)
		return
	}
	switch x := x.(type) {
	case map[string]any:
		if s == nil {
			for name := range x {
				p.drop(x, at, name)
			}
			return
		}
		p.object(x, s, at, s.XEmbeddedResource)
	case []any:
		for i, item := range x {
			p.value(item, s.item(), fmt.Sprintf("%s[%d]", at, i))
		}
	}
}

// keep prunes below what is known, and nothing else.
func (p *pruner) keep(x any, s *schema, at string) {
	switch x := x.(type) {
	case map[string]any:
		p.object(x, s, at, s.XEmbeddedResource)
	case []any:
		for i, item := range x {
			if s.items != nil {
				p.keep(item, s.items, fmt.Sprintf("%s[%d]", at, i))
			}
		}
	}
}

func (p *pruner) object(x map[string]any, s *schema, at string, whole bool) {
	for name, v := range x {
		of, known := s.properties[name]
		switch {
		case whole && meta(name):
			if name == "metadata" && at != "" {
				p.metadata(x, at)
			}
		case known:
			p.value(v, of, join(at, name))
		case s.AdditionalProperties != nil:
			p.value(v, s.additional, join(at, name))
		case !s.open():
			p.drop(x, at, name)
		}
	}
}

// metadata drops what isn't metadata (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/coerce.go).
func (p *pruner) metadata(x map[string]any, at string) {
	m, is := x["metadata"].(map[string]any)
	if !is {
		return
	}
	for name := range m {
		if !slices.ContainsFunc(reflect.VisibleFields(reflect.TypeFor[metav1.ObjectMeta]()), func(f reflect.StructField) bool {
			own, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return own == name
		}) {
			p.unknown = append(p.unknown, join(join(at, "metadata"), name))
			delete(m, name)
		}
	}
}

func (p *pruner) drop(x map[string]any, at, name string) {
	if !meta(name) || at != "" {
		p.unknown = append(p.unknown, join(at, name))
	}
	delete(x, name)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// field is the schema of a member; nil where there is none.
func (s *schema) field(name string) *schema {
	if s == nil {
		return nil
	}
	if of, known := s.properties[name]; known {
		return of
	}
	return s.additional
}

func (s *schema) item() *schema {
	if s == nil {
		return nil
	}
	return s.items
}

// dropNulls removes nulls that can be neither kept nor defaulted.
func dropNulls(x any, s *schema) {
	switch x := x.(type) {
	case map[string]any:
		for name, v := range x {
			of := s.field(name)
			if v == nil && of != nil && !of.Nullable && of.fallback == nil {
				delete(x, name)
			} else {
				dropNulls(v, of)
			}
		}
	case []any:
		for _, v := range x {
			dropNulls(v, s.item())
		}
	}
}

// Default fills in what an object doesn't say (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go).
func (v *Version) Default(object map[string]any) {
	if v != nil {
		fill(object, v.schema)
	}
}

func fill(x any, s *schema) {
	if s == nil {
		return
	}
	absent := func(v any, of *schema) bool { return v == nil && of != nil && !of.Nullable }
	switch x := x.(type) {
	case map[string]any:
		for name, of := range s.properties {
			if v, there := x[name]; of.fallback != nil && (!there || absent(v, of)) {
				x[name] = runtime.DeepCopyJSONValue(of.fallback)
			}
		}
		for name := range x {
			of := s.field(name)
			if _, known := s.properties[name]; !known && absent(x[name], of) {
				x[name] = runtime.DeepCopyJSONValue(of.fallback)
			}
			fill(x[name], of)
		}
	case []any:
		for i := range x {
			if absent(x[i], s.items) {
				x[i] = runtime.DeepCopyJSONValue(s.items.fallback)
			}
			fill(x[i], s.items)
		}
	}
}
