package crd

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// result is what a schema says of a value. matched counts the checks that a value passed, by which the best of some
// alternatives is found (k8s.io/kube-openapi/pkg/validation/validate/result.go).
type result struct {
	errs    field.ErrorList
	matched int
}

func (r *result) merge(of result) {
	r.errs = append(r.errs, of.errs...)
	r.matched += of.matched
}

func (r *result) add(e *field.Error) {
	if e != nil {
		r.errs = append(r.errs, e)
	}
}

// check finds what is wrong with a value, in the words and the order of
// k8s.io/kube-openapi/pkg/validation/validate/schema.go.
func (s *schema) check(at string, v any) (r result) {
	if v == nil {
		r.merge(s.checkType(at, v))
		if e := s.checkEnum(at, v); e != nil {
			r.add(e)
		}
		return r
	}
	r.merge(s.checkType(at, v))
	r.matched++
	r.merge(s.checkLogic(at, v))
	r.matched++
	switch v := v.(type) {
	case string:
		r.add(s.checkText(at, v))
		r.matched++
		if s.format != "" {
			r.add(s.checkFormat(at, v))
			r.matched++
		}
	case int64, float64:
		r.errs = append(r.errs, s.checkNumber(at, v)...)
		r.matched += 2
	case []any:
		r.merge(s.checkItems(at, v))
		r.matched++
	}
	r.add(s.checkEnum(at, v))
	r.matched++
	if v, is := v.(map[string]any); is {
		r.merge(s.checkMembers(at, v))
		r.matched++
	}
	r.matched++
	return r
}

// pathOf is where a value is, as field errors say it. A name that has dots isn't told from a path.
func pathOf(at string) *field.Path {
	at = strings.TrimPrefix(at, ".")
	if at == "" {
		return nil
	}
	return field.NewPath(at)
}

func invalid(at string, v any, format string, args ...any) *field.Error {
	return field.Invalid(pathOf(at), v, fmt.Sprintf("%s in body ", at)+fmt.Sprintf(format, args...))
}

// general is an error that has no place of its own.
func general(format string, args ...any) *field.Error {
	return field.Invalid(nil, "", fmt.Sprintf(format, args...))
}

func (s *schema) has(t string) bool {
	for _, is := range s.types {
		if is == t {
			return true
		}
	}
	return false
}

// typeOf is the type and format of a JSON value.
func typeOf(v any) (kind, format string) {
	switch v.(type) {
	case nil:
		return "null", ""
	case bool:
		return "boolean", ""
	case string:
		return "string", ""
	case int64:
		return "integer", "int64"
	case float64:
		return "number", "float64"
	case []any:
		return "array", ""
	}
	return "object", ""
}

func (s *schema) checkType(at string, v any) (r result) {
	wrong := func(want, is string) result {
		return result{errs: field.ErrorList{field.TypeInvalid(pathOf(at), is, fmt.Sprintf("%s in body must be of type %s: %q", at, want, is))}}
	}
	if v == nil {
		if len(s.types) > 0 && !s.Nullable {
			return wrong(strings.Join(s.types, ","), "null")
		}
		return result{matched: 1}
	}
	if len(s.types) == 0 && s.format == "" {
		return result{}
	}
	kind, format := typeOf(v)
	f, _ := v.(float64)
	whole := kind == "number" && f == math.Trunc(f) && s.has("integer") || kind == "integer" && s.has("number")
	_, isText := v.(string)
	_, isList := v.([]any)
	if !isText && !isList && s.format != "" && !s.has(kind) && format != s.format && !whole {
		return wrong(s.format, format)
	}
	if !s.has("number") && !s.has("integer") && s.format != "" && (isText || isList) {
		return result{matched: 1}
	}
	if !s.has(kind) && !whole {
		return wrong(strings.Join(s.types, ","), kind)
	}
	return result{matched: 1}
}

func (s *schema) checkEnum(at string, v any) *field.Error {
	if len(s.enum) == 0 {
		return nil
	}
	var names []string
	for _, e := range s.enum {
		if equal(v, e) {
			return nil
		}
		if text, is := e.(string); is {
			names = append(names, text)
			continue
		}
		raw, _ := json.Marshal(e) // it was JSON
		names = append(names, string(raw))
	}
	return field.NotSupported(pathOf(at), v, names)
}

func equal(a, b any) bool {
	if i, is := a.(int64); is {
		if f, of := b.(float64); of {
			return float64(i) == f
		}
	}
	if f, is := a.(float64); is {
		if i, of := b.(int64); of {
			return float64(i) == f
		}
	}
	return reflect.DeepEqual(a, b)
}

func (s *schema) checkText(at, v string) *field.Error {
	n := int64(utf8.RuneCountInString(v))
	switch {
	case s.MaxLength != nil && n > *s.MaxLength:
		return field.TooLong(pathOf(at), "", int(*s.MaxLength))
	case s.MinLength != nil && n < *s.MinLength:
		return invalid(at, v, "should be at least %d chars long", *s.MinLength)
	case s.badPattern != nil:
		return invalid(at, v, "should match '%s, but pattern is invalid: %s'", s.Pattern, s.badPattern)
	case s.pattern != nil && !s.pattern.MatchString(v):
		return invalid(at, v, "should match '%s'", s.Pattern)
	}
	return nil
}

func (s *schema) checkNumber(at string, v any) (errs field.ErrorList) {
	f, isFloat := v.(float64)
	i, isInt := v.(int64)
	if isInt {
		f = float64(i)
	}
	add := func(e *field.Error) { errs = append(errs, e) }
	if !s.holds(f, isFloat) {
		format := "(default format)"
		if s.format != "" {
			format = "with format " + s.format
		}
		add(general("Checked value must be of type %s %s in %s", s.Type, format, at))
	}
	if m := s.MultipleOf; m != nil {
		switch q := f / *m; {
		case isInt && int64(*m) <= 0:
			add(field.Invalid(pathOf(at), int64(*m), fmt.Sprintf("factor MultipleOf declared for %s must be positive: %v", at, int64(*m))))
		case isInt && i%int64(*m) != 0, isFloat && math.Abs(q-math.Round(q)) > 1e-9:
			add(invalid(at, v, "should be a multiple of %v", *m))
		}
	}
	bound := func(b float64) any {
		if isInt {
			return int64(b)
		}
		return b
	}
	if m := s.Minimum; m != nil && (f < *m || s.ExclusiveMinimum && f == *m) {
		add(invalid(at, v, "should be greater than %v", word(s.ExclusiveMinimum, bound(*m))))
	}
	if m := s.Maximum; m != nil && (f > *m || s.ExclusiveMaximum && f == *m) {
		add(invalid(at, v, "should be less than %v", word(s.ExclusiveMaximum, bound(*m))))
	}
	return errs
}

// holds reports whether the type and format of a number are large enough for it.
func (s *schema) holds(f float64, isFloat bool) bool {
	switch {
	case s.Type == "integer" && isFloat && (f != math.Trunc(f) || math.Abs(f) >= math.MaxInt64):
		return false
	case s.Type == "integer" && s.format == "int32":
		return f <= math.MaxInt32 && f >= math.MinInt32
	case s.Type == "number" && s.format == "float":
		return math.Abs(f) <= math.MaxFloat32
	}
	return true
}

// word is a bound, and whether a value may be equal to it.
func word(exclusive bool, bound any) string {
	if exclusive {
		return fmt.Sprint(bound)
	}
	return fmt.Sprint("or equal to ", bound)
}

func (s *schema) checkItems(at string, v []any) (r result) {
	if s.items != nil {
		for i, item := range v {
			r.merge(s.items.check(at+"["+strconv.Itoa(i)+"]", item))
		}
	}
	n := int64(len(v))
	if s.MinItems != nil && n < *s.MinItems {
		r.add(invalid(at, n, "should have at least %d items", *s.MinItems))
	}
	if s.MaxItems != nil && n > *s.MaxItems {
		r.add(field.TooMany(pathOf(at), int(n), int(*s.MaxItems)))
	}
	return r
}

func (s *schema) checkMembers(at string, v map[string]any) (r result) {
	n := int64(len(v))
	if s.MinProperties != nil && n < *s.MinProperties {
		r.add(invalid(at, n, "should have at least %d properties", *s.MinProperties))
	}
	if s.MaxProperties != nil && n > *s.MaxProperties {
		r.add(field.TooMany(pathOf(at), int(n), int(*s.MaxProperties)))
	}
	a := s.AdditionalProperties
	for _, name := range sorted(v) {
		of, known := s.properties[name]
		switch {
		case known && at == "":
			r.merge(of.check(name, v[name]))
		case known:
			r.merge(of.check(at+"."+name, v[name]))
		case s.additional != nil:
			r.merge(s.additional.check(at+"."+name, v[name]))
		case a != nil && !a.Allows:
			r.add(field.Invalid(pathOf(at), name, fmt.Sprintf("%s.%s in body is a forbidden property", at, name)))
		}
	}
	for _, name := range s.Required {
		if _, there := v[name]; !there {
			r.add(field.Required(pathOf(at+"."+name), ""))
		}
	}
	return r
}

// checkLogic is about alternatives (schema_props.go there).
func (s *schema) checkLogic(at string, v any) (r result) {
	var best *result
	better := func(of result) {
		if best == nil || of.matched > best.matched {
			best = &of
		}
	}
	if len(s.anyOf) > 0 {
		valid := false
		for _, of := range s.anyOf {
			one := of.check(at, v)
			if valid = len(one.errs) == 0; valid {
				best = &one
				break
			}
			better(one)
		}
		if !valid {
			r.add(general("%q must validate at least one schema (anyOf)", at))
		}
		r.merge(*best)
	}
	if len(s.one) > 0 {
		valid := 0
		best = nil
		for _, of := range s.one {
			one := of.check(at, v)
			switch {
			case len(one.errs) > 0 && valid == 0:
				better(one)
			case len(one.errs) == 0:
				if valid++; valid == 1 {
					best = &one
				}
			}
		}
		switch {
		case valid == 0:
			r.add(general("%q must validate one and only one schema (oneOf). Found none valid", at))
			r.merge(*best)
		case valid > 1:
			r.add(general("%q must validate one and only one schema (oneOf). Found %d valid alternatives", at, valid))
		default:
			r.merge(*best)
		}
	}
	if len(s.allOf) > 0 {
		valid := 0
		for _, of := range s.allOf {
			one := of.check(at, v)
			if len(one.errs) == 0 {
				valid++
			}
			r.merge(one)
		}
		if valid == 0 {
			r.add(general("%q must validate all the schemas (allOf). None validated", at))
		} else if valid < len(s.allOf) {
			r.add(general("%q must validate all the schemas (allOf)", at))
		}
	}
	if s.not != nil && len(s.not.check(at, v).errs) == 0 {
		r.add(general("%q must not validate the schema (not)", at))
	}
	r.matched++
	return r
}
