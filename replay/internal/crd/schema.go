package crd

import (
	"fmt"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"
)

// deepest bounds how deep schemas may be nested; encoding/json reads no deeper.
const deepest = 10_000

// schema is an OpenAPI schema whose values are read and whose pattern is compiled.
type schema struct {
	*apiextensionsv1.JSONSchemaProps
	types             []string
	format            string // "" where it isn't one that is known
	fallback          any    // its default
	enum              []any
	pattern           *regexp.Regexp
	badPattern        error
	properties        map[string]*schema
	additional        *schema
	items             *schema
	allOf, anyOf, one []*schema
	not               *schema
}

// open reports whether unknown fields stay.
func (s *schema) open() bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

func (s *schema) listType() string {
	if s.XListType == nil {
		return ""
	}
	return *s.XListType
}

func compile(p *apiextensionsv1.JSONSchemaProps) (*schema, error) { return compileAt(p, 0) }

func compileAt(p *apiextensionsv1.JSONSchemaProps, depth int) (s *schema, err error) {
	if p == nil {
		return nil, nil
	}
	if depth > deepest {
		return nil, fmt.Errorf("found schemas nested deeper than %d: want fewer", deepest)
	}
	depth++
	s = &schema{JSONSchemaProps: p}
	switch {
	case p.XIntOrString:
		s.types = []string{"integer", "string"}
	case p.Type != "":
		s.types = []string{p.Type}
	}
	s.format = knownFormat(p)
	if p.Default != nil {
		if err := json.Unmarshal(p.Default.Raw, &s.fallback); err != nil {
			return nil, fmt.Errorf("default: %w", err)
		}
	}
	for _, e := range p.Enum {
		var v any
		if err := json.Unmarshal(e.Raw, &v); err != nil {
			return nil, fmt.Errorf("enum: %w", err)
		}
		s.enum = append(s.enum, v)
	}
	if p.Pattern != "" {
		s.pattern, s.badPattern = regexp.Compile(p.Pattern)
	}
	if len(p.Properties) > 0 {
		s.properties = make(map[string]*schema, len(p.Properties))
	}
	for name := range p.Properties {
		of := p.Properties[name]
		if s.properties[name], err = compileAt(&of, depth); err != nil {
			return nil, err
		}
	}
	if a := p.AdditionalProperties; a != nil {
		if s.additional, err = compileAt(a.Schema, depth); err != nil {
			return nil, err
		}
	}
	if p.Items != nil {
		if s.items, err = compileAt(p.Items.Schema, depth); err != nil {
			return nil, err
		}
	}
	for _, of := range []struct {
		from []apiextensionsv1.JSONSchemaProps
		to   *[]*schema
	}{{p.AllOf, &s.allOf}, {p.AnyOf, &s.anyOf}, {p.OneOf, &s.one}} {
		for i := range of.from {
			one, err := compileAt(&of.from[i], depth)
			if err != nil {
				return nil, err
			}
			*of.to = append(*of.to, one)
		}
	}
	s.not, err = compileAt(p.Not, depth)
	return s, err
}

// ruled reports whether there are CEL rules in it.
func (s *schema) ruled() bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || s.additional.ruled() || s.items.ruled() {
		return true
	}
	for _, p := range s.properties {
		if p.ruled() {
			return true
		}
	}
	return false
}

// formats are those that a server knows of strings (k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go),
// without their dashes.
const formats = " bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn " +
	"hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname "

// plain is a format's name without dashes.
func plain(format string) string { return strings.ReplaceAll(format, "-", "") }

// knownFormat is the format that values are checked for.
func knownFormat(p *apiextensionsv1.JSONSchemaProps) string {
	switch p.Type {
	case "", "string":
		if p.Format == "" || !strings.Contains(formats, " "+plain(p.Format)+" ") || p.XIntOrString {
			return ""
		}
	case "integer":
		if p.Format != "int32" && p.Format != "int64" {
			return ""
		}
	case "number":
		if p.Format != "float" && p.Format != "double" {
			return ""
		}
	default:
		return ""
	}
	return p.Format
}
