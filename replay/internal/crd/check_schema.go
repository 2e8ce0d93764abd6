package crd

import (
	"fmt"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// besideStatus are the fields of a schema's root that a status of its own allows (allowedFieldsAtRootSchema of
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go).
const besideStatus = "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems " +
	"MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations"

// checkSchema finds what is wrong with the schema of a version.
func checkSchema(v *apiextensionsv1.CustomResourceValidation, status bool, at *field.Path) (errs field.ErrorList) {
	if v == nil || v.OpenAPIV3Schema == nil {
		return nil
	}
	p, here := v.OpenAPIV3Schema, at.Child("openAPIV3Schema")
	s, err := compile(p)
	if err != nil {
		return field.ErrorList{field.Invalid(here, "", err.Error())}
	}
	if status {
		errs = append(errs, checkRoot(p, at)...)
	}
	if p.Nullable {
		errs = append(errs, field.Forbidden(at.Child("openAPIV3Schema.nullable"), "nullable cannot be true at the root"))
	}
	forbidden := (&keywords{}).check(s, here, where{root: true, defaults: true})
	structural := checkStructural(s, here)
	if len(structural) == 0 {
		structural = checkDefaults(s, here, true)
	}
	if len(forbidden) > 0 && s.foreign() {
		return append(errs, forbidden...) // it can't be read as a structural schema at all
	}
	return append(append(errs, structural...), forbidden...)
}

// checkRoot is about what the root may say where the status is a subresource.
func checkRoot(p *apiextensionsv1.JSONSchemaProps, at *field.Path) field.ErrorList {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch {
		case v.Field(i).IsZero():
		case name == "Type" && p.Type != "object":
			return field.ErrorList{field.Invalid(at.Child("openAPIV3Schema.type"), p.Type, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)}
		case !slices.Contains(words(besideStatus), name):
			return field.ErrorList{field.Invalid(at.Child("openAPIV3Schema"), *p, fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled", words(besideStatus)))}
		}
	}
	return nil
}

// foreign reports whether there are keywords in it that no structural schema has.
func (s *schema) foreign() (is bool) {
	s.walk(func(s *schema) {
		is = is || s.ID != "" || s.Schema != "" || s.Ref != nil || s.AdditionalItems != nil || len(s.PatternProperties) > 0 ||
			len(s.Definitions) > 0 || s.Dependencies != nil || s.Items != nil && len(s.Items.JSONSchemas) > 0
	})
	return is
}

func (s *schema) walk(f func(*schema)) {
	if s == nil {
		return
	}
	f(s)
	for _, name := range sorted(s.properties) {
		s.properties[name].walk(f)
	}
	s.additional.walk(f)
	s.items.walk(f)
	for _, of := range slices.Concat(s.allOf, s.anyOf, s.one) {
		of.walk(f)
	}
	s.not.walk(f)
}

// where is what the place of a schema says about it.
type where struct {
	root     bool
	defaults bool
	why      string // there may be no defaults
	meta     bool   // inside of kind or metadata
}

// keywords finds those that may not be there
// (ValidateCustomResourceDefinitionOpenAPISchema and specStandardValidatorV3).
type keywords struct{ errs field.ErrorList }

func (k *keywords) add(e *field.Error) { k.errs = append(k.errs, e) }

func (k *keywords) check(s *schema, at *field.Path, in where) field.ErrorList {
	if s == nil {
		return k.errs
	}
	k.unknown(s, at, in)
	if s.UniqueItems {
		k.add(field.Forbidden(at.Child("uniqueItems"), "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"))
	}
	below := in
	below.root = false
	if a := s.AdditionalProperties; a != nil {
		if len(s.properties) > 0 && (!a.Allows || a.Schema != nil) {
			k.add(field.Forbidden(at.Child("additionalProperties"), "additionalProperties and properties are mutual exclusive"))
		}
		of := below
		if in.meta {
			of.defaults, of.why = false, "inside additionalProperties applying to object metadata"
		}
		k.check(s.additional, at.Child("additionalProperties"), of)
	}
	for _, name := range sorted(s.properties) {
		of := below
		if (in.root || s.XEmbeddedResource) && meta(name) {
			of.meta = true
			if in.root {
				of.defaults, of.why = false, "in top-level "+name
			}
		}
		k.check(s.properties[name], at.Child("properties").Key(name), of)
	}
	k.check(s.not, at.Child("not"), below)
	for i, of := range s.allOf {
		k.check(of, at.Child("allOf").Index(i), below)
	}
	for i, of := range s.one {
		k.check(of, at.Child("oneOf").Index(i), below)
	}
	for i, of := range s.anyOf {
		k.check(of, at.Child("anyOf").Index(i), below)
	}
	k.check(s.items, at.Child("items"), below)
	k.lists(s, at)
	return k.errs
}

func (k *keywords) unknown(s *schema, at *field.Path, in where) {
	types := []string{"array", "boolean", "integer", "number", "object", "string"}
	if s.Type != "" && !slices.Contains(types, s.Type) {
		k.add(field.NotSupported(at.Child("type"), s.Type, types))
	}
	if s.Default != nil && !in.defaults {
		k.add(field.Forbidden(at.Child("default"), "must not be set "+in.why))
	}
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"id", s.ID != ""}, {"additionalItems", s.AdditionalItems != nil}, {"patternProperties", len(s.PatternProperties) > 0},
		{"definitions", len(s.Definitions) > 0}, {"dependencies", s.Dependencies != nil}, {"$ref", s.Ref != nil},
	} {
		if f.is {
			k.add(field.Forbidden(at.Child(f.name), f.name+" is not supported"))
		}
	}
	if s.Type == "null" {
		k.add(field.Forbidden(at.Child("type"), "type cannot be set to null, use nullable as an alternative"))
	}
	if s.Items != nil && len(s.Items.JSONSchemas) > 0 {
		k.add(field.Forbidden(at.Child("items"), "items must be a schema object and not an array"))
	}
	if in.meta && s.XEmbeddedResource {
		k.add(field.Forbidden(at.Child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta"))
	}
}

// lists is about the extensions for lists and maps.
func (k *keywords) lists(s *schema, at *field.Path) {
	needs := func(t, extension string) {
		said := fmt.Sprintf("must be %s if %s is specified", t, extension)
		switch s.Type {
		case t:
		case "":
			k.add(field.Required(at.Child("type"), said))
		default:
			k.add(field.Invalid(at.Child("type"), s.Type, said))
		}
	}
	if s.XPreserveUnknownFields != nil && !*s.XPreserveUnknownFields {
		k.add(field.Invalid(at.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined"))
	}
	if s.XMapType != nil {
		needs("object", "x-kubernetes-map-type")
		if kinds := []string{"atomic", "granular"}; !slices.Contains(kinds, *s.XMapType) {
			k.add(field.NotSupported(at.Child("x-kubernetes-map-type"), *s.XMapType, kinds))
		}
	}
	kind, listType := s.listType(), at.Child("x-kubernetes-list-type")
	if s.XListType != nil {
		needs("array", "x-kubernetes-list-type")
		if kinds := []string{"atomic", "set", "map"}; !slices.Contains(kinds, kind) {
			k.add(field.NotSupported(listType, kind, kinds))
		}
	}
	if kind == "set" && s.Type == "array" && s.items != nil {
		const said = "must be atomic as item of a list with x-kubernetes-list-type=set"
		switch is := s.items; {
		case is.Type == "array" && is.XListType != nil && *is.XListType != "atomic":
			k.add(field.Invalid(at.Child("items", "x-kubernetes-list-type"), is.XListType, said))
		case is.Type == "object" && (is.XMapType == nil || *is.XMapType != "atomic"):
			k.add(field.Invalid(at.Child("items", "x-kubernetes-map-type"), is.XListType, said))
		}
	}
	if len(s.XListMapKeys) > 0 && kind != "map" {
		if s.XListType == nil {
			k.add(field.Required(listType, "must be map if x-kubernetes-list-map-keys is non-empty"))
		} else {
			k.add(field.Invalid(listType, kind, "must be map if x-kubernetes-list-map-keys is non-empty"))
		}
	}
	if kind == "map" {
		k.keys(s, at)
	}
	if (kind == "map" || kind == "set") && s.items != nil && s.items.Nullable {
		k.add(field.Forbidden(at.Child("items", "nullable"), "cannot be nullable when x-kubernetes-list-type is "+kind))
	}
}

// keys is about lists that are maps.
func (k *keywords) keys(s *schema, at *field.Path) {
	names := at.Child("x-kubernetes-list-map-keys")
	if len(s.XListMapKeys) == 0 {
		k.add(field.Required(names, "must not be empty if x-kubernetes-list-type is map"))
	}
	if s.items == nil {
		k.add(field.Required(at.Child("items"), "must have a schema if x-kubernetes-list-type is map"))
		return
	}
	if s.items.Type != "object" {
		k.add(field.Invalid(at.Child("items", "type"), s.items.Type, "must be object if parent array's x-kubernetes-list-type is map"))
	}
	seen := map[string]bool{}
	for i, name := range s.XListMapKeys {
		of, here := s.items.properties[name], at.Child("items", "properties").Key(name)
		switch {
		case of == nil:
			k.add(field.Invalid(names.Index(i), name, "entries must all be names of item properties"))
			continue
		case of.Type == "array" || of.Type == "object":
			k.add(field.Invalid(here.Child("type"), of.Type, "must be a scalar type if parent array's x-kubernetes-list-type is map"))
		}
		if seen[name] {
			k.add(field.Invalid(names.Index(i), s.XListMapKeys, "entries must be unique"))
		}
		seen[name] = true
		if !slices.Contains(s.items.Required, name) && of.Default == nil {
			k.add(field.Required(here.Child("default"), "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
		if of.Nullable {
			k.add(field.Forbidden(here.Child("nullable"), "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"))
		}
	}
}

// checkDefaults finds defaults that their own schema doesn't take
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go).
func checkDefaults(s *schema, at *field.Path, root bool) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	if s.fallback != nil {
		here := at.Child("default")
		pruned := runtime.DeepCopyJSONValue(s.fallback)
		(&pruner{}).value(pruned, s, ".")
		if !reflect.DeepEqual(pruned, s.fallback) {
			errs = append(errs, field.Invalid(here, s.fallback, "must not have unknown fields"))
		} else {
			for _, e := range s.check("", s.fallback).errs {
				where := here
				if e.Field != "" && e.Field != "<nil>" {
					where = here.Child(e.Field)
				}
				e.Field = where.String()
				errs = append(errs, e)
			}
			errs = append(errs, lists(here, s, s.fallback)...)
		}
	}
	for _, name := range sorted(s.properties) {
		if !root || !meta(name) {
			errs = append(errs, checkDefaults(s.properties[name], at.Child("properties").Key(name), false)...)
		}
	}
	errs = append(errs, checkDefaults(s.additional, at.Child("additionalProperties"), false)...)
	return append(errs, checkDefaults(s.items, at.Child("items"), false)...)
}
