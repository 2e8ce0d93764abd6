package crd

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func words(s string) []string { return strings.Fields(s) }

// checkStructural finds what keeps a schema from being structural: what a value is has to be said outside of
// alternatives (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/validation.go and complete.go).
func checkStructural(s *schema, at *field.Path) field.ErrorList {
	c := structural{}
	c.invariants(s, "root", at)
	c.complete(s, s, at, at)
	slices.SortFunc(c.errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return c.errs
}

type structural struct{ errs field.ErrorList }

// mostErrors is how many errors of one schema are said. A server says all, and the
// path of each is as long as the schema is deep.
const mostErrors = 200

func (c *structural) say(err func() *field.Error) {
	if len(c.errs) < mostErrors {
		c.errs = append(c.errs, err())
	}
}

func (c *structural) required(at *field.Path, said string) {
	c.say(func() *field.Error { return field.Required(at, said) })
}

func (c *structural) forbidden(at *field.Path, said string) {
	c.say(func() *field.Error { return field.Forbidden(at, said) })
}

func (c *structural) invalid(at *field.Path, v any, said string) {
	c.say(func() *field.Error { return field.Invalid(at, v, said) })
}

// level is where a schema is: "root", "item" or "field".
func (c *structural) invariants(s *schema, level string, at *field.Path) {
	if s == nil {
		return
	}
	if s.Type == "array" && s.items == nil {
		c.required(at.Child("items"), "must be specified")
	}
	c.invariants(s.items, "item", at.Child("items"))
	for _, name := range sorted(s.properties) {
		c.invariants(s.properties[name], "field", at.Child("properties").Key(name))
	}
	if s.AdditionalProperties != nil && level == "root" {
		c.forbidden(at.Child("additionalProperties"), "must not be used at the root")
	}
	c.invariants(s.additional, "field", at.Child("additionalProperties"))
	if s.XIntOrString && s.open() {
		c.invalid(at.Child("x-kubernetes-preserve-unknown-fields"), true, "must be false if x-kubernetes-int-or-string is true")
	}
	if s.XIntOrString && s.XEmbeddedResource {
		c.invalid(at.Child("x-kubernetes-embedded-resource"), true, "must be false if x-kubernetes-int-or-string is true")
	}
	c.alternatives(s, at)
	c.typed(s, level, at)
	c.meta(s, level, at)
	if s.XEmbeddedResource && !s.open() && len(s.properties) == 0 {
		c.required(at.Child("properties"), "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields")
	}
}

// typed is about the type.
func (c *structural) typed(s *schema, level string, at *field.Path) {
	const embedded = "must be object if x-kubernetes-embedded-resource is true"
	said := map[string]string{
		"root": "must not be empty at the root", "item": "must not be empty for specified array items", "field": "must not be empty for specified object fields",
	}
	switch {
	case s.XEmbeddedResource && s.Type == "":
		c.required(at.Child("type"), embedded)
	case s.XEmbeddedResource && s.Type != "object":
		c.invalid(at.Child("type"), s.Type, embedded)
	case s.Type == "" && !s.XIntOrString && !s.open():
		c.required(at.Child("type"), said[level])
	}
	if s.XEmbeddedResource && s.AdditionalProperties != nil {
		c.forbidden(at.Child("additionalProperties"), "must not be used if x-kubernetes-embedded-resource is set")
	}
	if level == "root" && s.Type != "" && s.Type != "object" {
		c.invalid(at.Child("type"), s.Type, "must be object at the root")
	}
}

// meta is about kind, apiVersion and metadata of whole objects.
func (c *structural) meta(s *schema, level string, at *field.Path) {
	whole := level == "root" || s.XEmbeddedResource
	for _, name := range []string{"kind", "apiVersion"} {
		if of := s.properties[name]; of != nil && whole && of.Type != "string" {
			c.invalid(at.Child("properties").Key(name).Child("type"), of.Type, "must be string")
		}
	}
	m := s.properties["metadata"]
	if m == nil {
		return
	}
	here := at.Child("properties").Key("metadata")
	if whole && m.Type != "object" {
		c.invalid(here.Child("type"), m.Type, "must be object")
	}
	if level != "root" {
		return
	}
	rest := *m.JSONSchemaProps
	rest.Type, rest.Default = "", nil
	named := 0
	for _, name := range []string{"name", "generateName"} {
		if _, is := rest.Properties[name]; is {
			named++
		}
	}
	if named == len(rest.Properties) {
		rest.Properties = nil
	}
	if !equality.Semantic.DeepEqual(rest, apiextensionsv1.JSONSchemaProps{}) {
		c.forbidden(here, "must not specify anything other than name and generateName, but metadata is implicitly specified")
	}
}

// intOrString reports whether alternatives are those that say of a value that it is an integer or a string.
func intOrString(of []*schema) bool {
	return len(of) == 2 && equality.Semantic.DeepEqual(*of[0].JSONSchemaProps, apiextensionsv1.JSONSchemaProps{Type: "integer"}) &&
		equality.Semantic.DeepEqual(*of[1].JSONSchemaProps, apiextensionsv1.JSONSchemaProps{Type: "string"})
}

// alternatives looks at what is inside of allOf, anyOf, oneOf and not.
func (c *structural) alternatives(s *schema, at *field.Path) {
	c.junctors(s, at, intOrString(s.anyOf), len(s.allOf) > 0 && intOrString(s.allOf[0].anyOf))
}

// junctors leaves out an anyOf that says what an integer or string is, or that of the first allOf.
func (c *structural) junctors(s *schema, at *field.Path, any, firstAny bool) {
	if !any {
		for i, of := range s.anyOf {
			c.nested(of, at.Child("anyOf").Index(i), false)
		}
	}
	for i, of := range s.allOf {
		c.nested(of, at.Child("allOf").Index(i), firstAny && i == 0)
	}
	for i, of := range s.one {
		c.nested(of, at.Child("oneOf").Index(i), false)
	}
	c.nested(s.not, at.Child("not"), false)
	if s.badPattern != nil {
		c.invalid(at.Child("pattern"), s.Pattern, fmt.Sprintf("must be a valid regular expression, but isn't: %v", s.badPattern))
	}
}

func (c *structural) nested(s *schema, at *field.Path, any bool) {
	if s == nil {
		return
	}
	c.junctors(s, at, any, false)
	c.nested(s.items, at.Child("items"), false)
	for _, name := range sorted(s.properties) {
		c.nested(s.properties[name], at.Child("properties").Key(name), false)
	}
	for _, f := range []struct {
		name, be string
		is       bool
	}{
		{"type", "empty", s.Type != ""}, {"additionalProperties", "undefined", s.AdditionalProperties != nil},
		{"default", "undefined", s.Default != nil}, {"title", "empty", s.Title != ""}, {"description", "empty", s.Description != ""},
		{"nullable", "false", s.Nullable}, {"x-kubernetes-preserve-unknown-fields", "false", s.open()},
		{"x-kubernetes-embedded-resource", "false", s.XEmbeddedResource}, {"x-kubernetes-int-or-string", "false", s.XIntOrString},
		{"x-kubernetes-list-map-keys", "empty", len(s.XListMapKeys) > 0}, {"x-kubernetes-list-type", "undefined", s.XListType != nil},
		{"x-kubernetes-map-type", "undefined", s.XMapType != nil}, {"x-kubernetes-validations", "empty", len(s.XValidations) > 0},
	} {
		if f.is {
			c.forbidden(at.Child(f.name), "must be "+f.be+" to be structural")
		}
	}
	if s.properties["metadata"] != nil {
		c.forbidden(at.Child("properties").Key("metadata"), "must not be specified in a nested context")
	}
}

// complete says which fields are only spoken of inside of alternatives. A server looks at those of the root.
func (c *structural) complete(v, s *schema, here, of *field.Path) {
	one := func(v *schema, of *field.Path) {
		if v != nil {
			c.specified(v, s, here, of)
		}
	}
	one(v.not, of.Child("not"))
	for i := range v.allOf {
		one(v.allOf[i], of.Child("allOf").Index(i))
	}
	for i := range v.anyOf {
		one(v.anyOf[i], of.Child("anyOf").Index(i))
	}
	for i := range v.one {
		one(v.one[i], of.Child("oneOf").Index(i))
	}
}

func (c *structural) specified(v, s *schema, here, of *field.Path) {
	if s == nil {
		c.required(here, "because it is defined in "+of.String())
		return
	}
	c.complete(v, s, here, of)
	if v.items != nil {
		c.specified(v.items, s.items, here.Child("items"), of.Child("items"))
	}
	for _, name := range sorted(v.properties) {
		in, from := here.Child("properties").Key(name), of.Child("properties").Key(name)
		c.specified(v.properties[name], s.properties[name], in, from)
	}
}
