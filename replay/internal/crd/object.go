package crd

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gv "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// Validate finds what is wrong with an object, but for its metadata
// (k8s.io/apiextensions-apiserver/pkg/registry/customresource/strategy.go, Validate).
func (v *Version) Validate(object map[string]any) (errs field.ErrorList) {
	if v == nil {
		return nil
	}
	if v.schema != nil {
		errs = v.schema.check("", object).errs
	}
	errs = append(errs, v.validScale(object, true)...)
	errs = append(errs, embedded(nil, object, v.schema, false)...)
	errs = append(errs, lists(nil, v.schema, object)...)
	return v.unruled(errs)
}

// ValidateStatus finds what is wrong with an object whose status has changed.
func (v *Version) ValidateStatus(object map[string]any) (errs field.ErrorList) {
	if v == nil {
		return nil
	}
	if status, there := object["status"]; there && v.status != nil {
		for _, e := range v.status.check("", status).errs {
			at := field.NewPath("status")
			if e.Field != "" && e.Field != "<nil>" {
				at = at.Child(e.Field)
			}
			e.Field = at.String()
			errs = append(errs, e)
		}
	}
	errs = append(errs, v.validScale(object, false)...)
	errs = append(errs, lists(nil, v.schema, object)...)
	return v.unruled(errs)
}

// unruled says that rules weren't looked at, as a server does where an object isn't what they are about.
func (v *Version) unruled(errs field.ErrorList) field.ErrorList {
	if !v.rules {
		return errs
	}
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return append(errs, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
	}
	return errs
}

// validScale is about the numbers of the subresource scale.
func (v *Version) validScale(object map[string]any, spec bool) (errs field.ErrorList) {
	if v.Scale == nil {
		return nil
	}
	replicas := func(at string) {
		n, _, err := unstructured.NestedInt64(object, Path(at)...)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(field.NewPath(at), n, err.Error()))
		case n < 0:
			errs = append(errs, field.Invalid(field.NewPath(at), n, "should be a non-negative integer"))
		case n > math.MaxInt32:
			errs = append(errs, field.Invalid(field.NewPath(at), n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)))
		}
	}
	if spec {
		replicas(v.Scale.SpecReplicasPath)
	}
	replicas(v.Scale.StatusReplicasPath)
	if at := v.Scale.LabelSelectorPath; at != nil {
		if text, _, err := unstructured.NestedString(object, Path(*at)...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*at), text, err.Error()))
		}
	}
	return errs
}

// lists finds what is there twice in lists that are sets or maps (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype).
func lists(at *field.Path, s *schema, v any) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sorted(v) {
			where := at.Child(name)
			if _, known := s.properties[name]; !known {
				where = at.Key(name)
			}
			errs = append(errs, lists(where, s.field(name), v[name])...)
		}
	case []any:
		switch s.listType() {
		case "set":
			errs = append(errs, twice(at, v, v)...)
		case "map":
			errs = append(errs, s.mapped(at, v)...)
		}
		for i := range v {
			errs = append(errs, lists(at.Index(i), s.items, v[i])...)
		}
	}
	return errs
}

// twice finds the second of each of some keys, and says what it is.
func twice(at *field.Path, keys, shown []any) (errs field.ErrorList) {
	seen := map[string]int{}
	for i, k := range keys {
		raw, err := json.Marshal(k)
		if err != nil {
			return field.ErrorList{field.Invalid(at.Index(i), k, "internal error")}
		}
		if seen[string(raw)]++; seen[string(raw)] == 2 {
			errs = append(errs, field.Duplicate(at.Index(i), shown[i]))
		}
	}
	return errs
}

func (s *schema) mapped(at *field.Path, list []any) field.ErrorList {
	keys := make([]any, len(list))
	for i, x := range list {
		item, is := x.(map[string]any)
		if x != nil && !is {
			return field.ErrorList{field.Invalid(at.Index(i), x, "must be an object for an array of list-type map")}
		}
		key := map[string]any{}
		for _, name := range s.XListMapKeys {
			if v, there := item[name]; there {
				key[name] = v
			}
		}
		keys[i] = key
	}
	return twice(at, keys, keys)
}

// embedded validates the kind and the metadata of objects in objects
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta/validation.go).
func embedded(at *field.Path, v any, s *schema, whole bool) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		if whole {
			errs = embeddedMeta(at, v)
		}
		for _, name := range sorted(v) {
			where := at.Child(name)
			if _, known := s.properties[name]; !known {
				where = at.Key(name)
			}
			if of := s.field(name); of != nil {
				errs = append(errs, embedded(where, v[name], of, of.XEmbeddedResource)...)
			}
		}
	case []any:
		for i := range v {
			if s.items != nil {
				errs = append(errs, embedded(at.Index(i), v[i], s.items, s.items.XEmbeddedResource)...)
			}
		}
	}
	return errs
}

func embeddedMeta(at *field.Path, v map[string]any) (errs field.ErrorList) {
	text := func(name string, wrong func(string) string) {
		x, there := v[name]
		word, is := x.(string)
		where := at.Child(name)
		switch {
		case !there:
			errs = append(errs, field.Required(where, ""))
		case !is:
			errs = append(errs, field.Invalid(where, x, "must be a string"))
		case word == "":
			errs = append(errs, field.Invalid(where, word, "must not be empty"))
		default:
			if said := wrong(word); said != "" {
				errs = append(errs, field.Invalid(where, word, said))
			}
		}
	}
	text("apiVersion", func(s string) string {
		if _, err := gv.ParseGroupVersion(s); err != nil {
			return err.Error()
		}
		return ""
	})
	text("kind", func(s string) string {
		if said := validation.IsDNS1035Label(strings.ToLower(s)); len(said) > 0 {
			return "may have mixed case, but should otherwise match: " + strings.Join(said, ",")
		}
		return ""
	})
	if x, there := v["metadata"]; there {
		m, err := readMeta(x)
		if err != nil {
			return append(errs, field.Invalid(at.Child("metadata"), x, err.Error()))
		}
		if m.Name == "" {
			m.Name = "fakename" // as a server has it
		}
		errs = append(errs, apivalidation.ValidateObjectMeta(m, m.Namespace != "", path.ValidatePathSegmentName, at.Child("metadata"))...)
	}
	return errs
}

func readMeta(x any) (*metav1.ObjectMeta, error) {
	m := &metav1.ObjectMeta{}
	raw, err := json.Marshal(x)
	if err == nil {
		err = json.Unmarshal(raw, m)
	}
	return m, err
}
