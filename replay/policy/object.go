package policy

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// object is a struct of an analysis as a value of CEL.
type object struct {
	types *goTypes
	form  *structType
	value reflect.Value
}

var (
	_ traits.Indexer     = (*object)(nil)
	_ traits.FieldTester = (*object)(nil)
)

// ConvertToNative implements ref.Val.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("%s can't become a %v", o.form.name, t)
}

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(t ref.Type) ref.Val {
	if t == types.TypeType {
		return o.form.cel
	}
	return types.NewErr("%s can't become a %s", o.form.name, t.TypeName())
}

// Equal implements ref.Val.
func (o *object) Equal(other ref.Val) ref.Val {
	p, ok := other.(*object)
	return types.Bool(ok && o.form == p.form && reflect.DeepEqual(o.value.Interface(), p.value.Interface()))
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return o.form.cel }

// Value implements ref.Val: what a field's getter is handed.
func (o *object) Value() any { return o }

// Get implements traits.Indexer, for values whose type the checker doesn't know.
func (o *object) Get(name ref.Val) ref.Val {
	f := o.named(name)
	if f == nil {
		return types.NewErr("no such field: %v", name)
	}
	v, err := f.form.GetFrom(o)
	if err != nil {
		return types.WrapErr(err)
	}
	return o.types.NativeToValue(v)
}

// IsSet implements traits.FieldTester.
func (o *object) IsSet(name ref.Val) ref.Val {
	f := o.named(name)
	if f == nil {
		return types.NewErr("no such field: %v", name)
	}
	return types.Bool(f.isSet(o))
}

func (o *object) named(name ref.Val) *structField {
	text, ok := name.(types.String)
	if !ok {
		return nil
	}
	return o.form.field(string(text))
}
