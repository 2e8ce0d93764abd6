package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/nodesim/nodesim/replay/analysis"
)

// goTypes declares the types of an analysis to CEL: each struct by its Go name, its fields by their JSON names, those of
// embedded structs as its own. cel-go's ext.NativeTypes isn't used since it reads a nil pointer as null, and embeds nothing.
type goTypes struct {
	types.Adapter
	types.Provider
	structs map[string]*structType
	// unknown is the last field that was asked for and isn't there, and series says that one was that only an analysis made
	// with Series has. Both are for the loader, which asks in one goroutine.
	unknown struct{ of, field string }
	series  bool
}

type structType struct {
	name   string
	cel    *cel.Type
	fields []structField
}

type structField struct {
	name  string
	index []int
	cel   *cel.Type
	form  *types.FieldType
	// omitted says that the analysis leaves the field out where it is empty.
	omitted bool
	pointer bool
	owner   reflect.Type // the struct that declares it
}

// absentError is that of a field that the analysis doesn't have.
type absentError struct{ of, field string }

func (e *absentError) Error() string { return "no " + e.field }

var (
	durations = reflect.TypeFor[time.Duration]()
	times     = reflect.TypeFor[time.Time]()
)

func newTypes(adapter types.Adapter, provider types.Provider) *goTypes {
	t := &goTypes{Adapter: adapter, Provider: provider, structs: map[string]*structType{}}
	t.declare(reflect.TypeFor[analysis.Analysis]())
	return t
}

// declare returns the CEL type of a Go type.
func (t *goTypes) declare(g reflect.Type) *cel.Type {
	switch g {
	case durations:
		return cel.DurationType
	case times:
		return cel.TimestampType
	}
	switch g.Kind() {
	case reflect.Pointer:
		return t.declare(g.Elem())
	case reflect.Slice:
		return cel.ListType(t.declare(g.Elem()))
	case reflect.Struct:
		return t.structOf(g).cel
	case reflect.String:
		return cel.StringType
	case reflect.Bool:
		return cel.BoolType
	case reflect.Int, reflect.Int64:
		return cel.IntType
	case reflect.Float64:
		return cel.DoubleType
	}
	panic(fmt.Sprintf("policy: type %v of package analysis has no form in CEL", g)) // a test declares them all
}

func (t *goTypes) structOf(g reflect.Type) *structType {
	if s := t.structs[g.Name()]; s != nil {
		return s
	}
	s := &structType{name: g.Name(), cel: cel.ObjectType(g.Name())}
	t.structs[s.name] = s
	s.fields = t.fields(g, nil)
	return s
}

func (t *goTypes) fields(g reflect.Type, index []int) []structField {
	var all []structField
	for i := range g.NumField() {
		f := g.Field(i)
		at := append(slices.Clone(index), i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			all = append(all, t.fields(f.Type, at)...)
		case f.IsExported() && tag != "" && tag != "-":
			field := structField{name: tag, index: at, cel: t.declare(f.Type), omitted: strings.Contains(options, "omitempty"), pointer: f.Type.Kind() == reflect.Pointer, owner: g}
			field.form = &types.FieldType{Type: field.cel, IsSet: field.isSet, GetFrom: t.getter(g.Name(), field)}
			all = append(all, field)
		}
	}
	return all
}

// of is the field of an object, which CEL hands over as it got it.
func (f structField) of(obj any) reflect.Value {
	v, ok := obj.(*object)
	if ok {
		return v.value.FieldByIndex(f.index)
	}
	return reflect.Indirect(reflect.ValueOf(obj)).FieldByIndex(f.index)
}

// isSet is what has() says: that a pointer is there, and that what is left out when empty isn't.
func (f structField) isSet(obj any) bool {
	v := f.of(obj)
	return v.Kind() != reflect.Pointer && !f.omitted || !v.IsZero()
}

func (t *goTypes) getter(of string, f structField) func(any) (any, error) {
	return func(obj any) (any, error) {
		v := f.of(obj)
		if v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, &absentError{of, f.name}
		}
		return t.value(v), nil
	}
}

// value is a Go value as CEL's.
func (t *goTypes) value(v reflect.Value) ref.Val {
	switch v.Kind() {
	case reflect.Pointer:
		return t.value(v.Elem())
	case reflect.String:
		return types.String(v.String())
	case reflect.Bool:
		return types.Bool(v.Bool())
	case reflect.Int, reflect.Int64:
		if v.Type() == durations {
			return types.Duration{Duration: time.Duration(v.Int())}
		}
		return types.Int(v.Int())
	case reflect.Float64:
		return types.Double(v.Float())
	case reflect.Slice:
		return types.NewDynamicList(t, v.Interface())
	case reflect.Struct:
		if at, ok := v.Interface().(time.Time); ok {
			return types.Timestamp{Time: at}
		}
		return &object{types: t, form: t.structOf(v.Type()), value: v}
	}
	return types.UnsupportedRefValConversionErr(v.Interface())
}

// NativeToValue makes a CEL value of what a variable or a list holds.
func (t *goTypes) NativeToValue(x any) ref.Val {
	if v, ok := x.(ref.Val); ok {
		return v
	}
	switch v := reflect.ValueOf(x); {
	case !v.IsValid():
		return types.NullValue
	case t.structs[reflect.Indirect(v).Type().Name()] != nil, v.Kind() == reflect.String, v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		return t.value(v)
	}
	return t.Adapter.NativeToValue(x)
}

// FindStructType implements types.Provider.
func (t *goTypes) FindStructType(name string) (*types.Type, bool) {
	if s := t.structs[name]; s != nil {
		return types.NewTypeTypeWithParam(s.cel), true
	}
	return t.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (t *goTypes) FindStructFieldNames(name string) ([]string, bool) {
	if s := t.structs[name]; s != nil {
		return s.names(), true
	}
	return t.Provider.FindStructFieldNames(name)
}

func (s *structType) names() []string {
	var all []string
	for _, f := range s.fields {
		all = append(all, f.name)
	}
	return all
}

func (s *structType) field(name string) *structField {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

// seriesFields are those that an analysis has where Options.Series asked for them.
var seriesFields = []string{"Analysis.pods", "Node.spans", "Workload.available", "Budget.allowed", "Budget.healthy", "Budget.desired"}

// FindStructFieldType implements types.Provider.
func (t *goTypes) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	s := t.structs[name]
	if s == nil {
		return t.Provider.FindStructFieldType(name, field)
	}
	f := s.field(field)
	if f == nil {
		t.unknown.of, t.unknown.field = name, field
		return nil, false
	}
	return f.form, true
}

// NewValue implements types.Provider: a rule looks at an analysis and makes none.
func (t *goTypes) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if t.structs[name] != nil {
		return types.NewErr("%s can't be made in an expression", name)
	}
	return t.Provider.NewValue(name, fields)
}
