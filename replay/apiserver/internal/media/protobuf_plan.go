package media

import (
	textcoding "encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// layout is how a value of a Go type is written as protobuf.
type layout int

const (
	layoutUnknown layout = iota // not by an encoder: the object has to be decoded
	layoutNone                  // not at all: a string that is in JSON alone, kind or apiVersion
	layoutString
	layoutInt // a signed integer
	layoutBool
	layoutMessage // a struct whose fields have tags
	layoutTime    // a metav1.Time
	layoutOwn     // a message that reads and writes itself, such as a Quantity
)

// valueForm is how one value is written.
type valueForm struct {
	layout
	bits    int // of a layoutInt
	message *messagePlan
	typ     reflect.Type // of a layoutOwn
}

// messagePlan is what a Go type's tags say about its JSON and its protobuf.
type messagePlan struct {
	members map[string]int // JSON's names, and where an encoder keeps their values
	fields  []fieldPlan    // by number
	odd     bool           // it has a field that is like none of those here
}

// fieldPlan is a field of a message. The code that k8s.io/code-generator makes (go-to-protobuf) writes a pointer, list or map only where it
// has something, and all else always.
type fieldPlan struct {
	valueForm
	tag        []byte
	member     int         // where its value is
	list, dict bool        // of such values
	inline     []fieldPlan // of a message whose fields are members of the JSON object around it
	absent     []byte      // what is written where the JSON has no such member
}

var plans = struct {
	sync.Mutex
	of map[reflect.Type]*messagePlan
}{of: map[reflect.Type]*messagePlan{}}

// planOf returns the plan of a struct's type.
func planOf(t reflect.Type) *messagePlan {
	plans.Lock()
	defer plans.Unlock()
	return planned(t)
}

// planned is called with plans locked. A type may have itself in it.
func planned(t reflect.Type) *messagePlan {
	if p := plans.of[t]; p != nil {
		return p
	}
	p := &messagePlan{members: map[string]int{}}
	plans.of[t] = p
	p.fields = p.fieldsOf(t)
	return p
}

func (p *messagePlan) fieldsOf(t reflect.Type) []fieldPlan {
	type numbered struct {
		int
		fieldPlan
	}
	var all []numbered
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		_, rest, tagged := strings.Cut(f.Tag.Get("protobuf"), ",")
		digits, _, _ := strings.Cut(rest, ",")
		number, err := strconv.Atoi(digits)
		one := fieldPlan{}
		switch {
		case name == "-" || !f.IsExported():
			continue
		case name == "" && (f.Type.Kind() != reflect.Struct || !f.Anonymous):
			p.odd = true
			continue
		case name == "":
			if one.inline = p.fieldsOf(f.Type); !tagged {
				for _, part := range one.inline { // kind and apiVersion
					p.odd = p.odd || part.layout != layoutString
					all = append(all, numbered{0, fieldPlan{valueForm: valueForm{layout: layoutNone}, member: part.member}})
				}
				continue
			}
		default:
			one.member = len(p.members)
			p.members[name] = one.member
			one.takes(f.Type)
		}
		if tagged {
			var known bool
			one.tag = tagOf(number, one.layout)
			one.absent, known = absent(f.Type, one.tag)
			p.odd = p.odd || err != nil || !known
		} else {
			p.odd = true
		}
		all = append(all, numbered{number, one})
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return a.int - b.int })
	fields := make([]fieldPlan, len(all))
	for i, f := range all {
		fields[i] = f.fieldPlan
	}
	return fields
}

// tagOf returns a field's tag. The wire type is that of the Go type: some struct tags name another.
func tagOf(number int, of layout) []byte {
	kind := 2 // a length, and so many bytes
	if of == layoutInt || of == layoutBool {
		kind = 0
	}
	return appendLength(nil, number<<3|kind)
}

// absent is what is written of a field that isn't there.
func absent(t reflect.Type, tag []byte) (b []byte, known bool) {
	tag = slices.Clip(tag)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return nil, true
	case reflect.Struct:
		m, is := reflect.New(t).Interface().(message)
		if !is {
			return nil, false
		}
		body, err := m.Marshal()
		return append(appendLength(tag, len(body)), body...), err == nil
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return append(tag, 0), true // a zero, or the length of a string
	}
	return nil, false
}

func appendLength(dst []byte, n int) []byte {
	for ; n >= 0x80; n >>= 7 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}

// takes finds how values of a field's type are written.
func (f *fieldPlan) takes(t reflect.Type) {
	f.valueForm = formOf(t)
	if f.layout != layoutUnknown {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		f.valueForm = formOf(t.Elem())
	case reflect.Slice:
		if _, is := reflect.New(t).Interface().(message); !is {
			f.valueForm, f.list = formOf(t.Elem()), true
		}
	case reflect.Map:
		if _, is := reflect.New(t).Interface().(message); !is && t.Key().Kind() == reflect.String {
			f.valueForm, f.dict = formOf(t.Elem()), true
		}
		if f.layout == layoutInt || f.layout == layoutBool { // of which there are none
			f.layout = layoutUnknown
		}
	}
}

// formOf is that of a value by itself: no list, map or pointer.
func formOf(t reflect.Type) valueForm {
	pointer := reflect.New(t).Interface()
	_, decodes := pointer.(json.Unmarshaler)
	_, reads := pointer.(textcoding.TextUnmarshaler)
	_, writes := pointer.(message)
	switch {
	case t == reflect.TypeFor[metav1.Time]():
		return valueForm{layout: layoutTime}
	case decodes && writes:
		return valueForm{layout: layoutOwn, typ: t}
	case decodes || reads:
		return valueForm{}
	}
	switch t.Kind() {
	case reflect.String:
		return valueForm{layout: layoutString}
	case reflect.Bool:
		return valueForm{layout: layoutBool}
	case reflect.Int32, reflect.Int64:
		return valueForm{layout: layoutInt, bits: t.Bits()}
	case reflect.Struct:
		if writes {
			return valueForm{layout: layoutMessage, message: planned(t)}
		}
	}
	return valueForm{}
}
