package spec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Bare returns the file of a cluster that has groups of nodes and nothing else, from Go values: what is zero has the
// default of a key that a file leaves out. Errors are those of [Document.Resolve], which name no line.
func Bare(m Metadata, c Cluster, groups []Group) (*File, error) {
	root := &node{line: 1, kind: isMapping}
	root.set("apiVersion", &node{line: 1, kind: isText, text: APIVersion})
	root.set("kind", &node{line: 1, kind: isText, text: FileKind})
	root.set("metadata", encode(reflect.ValueOf(m)))
	root.set("cluster", encode(reflect.ValueOf(c)))
	list := &node{line: 1, kind: isList}
	for _, g := range groups {
		one := encode(reflect.ValueOf(g))
		one.set("nodes", encode(reflect.ValueOf(g.Nodes))) // where there are none as well
		list.items = append(list.items, one)
	}
	root.set("groups", list)
	d := &Document{Metadata: m, file: m.Name, root: root}
	f, err := d.Resolve(nil, nil)
	return f, lineless(err)
}

// lineless is an error of values that were never lines of a file.
func lineless(err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Line = 0
	}
	return err
}

// set adds a key, or gives it another value.
func (n *node) set(key string, value *node) {
	if i := slices.Index(n.keys, key); i >= 0 {
		n.items[i] = value
		return
	}
	n.keys, n.items = append(n.keys, key), append(n.items, value)
}

// encode is the node of a value, as if all of it stood on one line, without the keys whose values are zero. Of what has a form of its own it knows
// durations and quantities.
func encode(v reflect.Value) *node {
	switch is := v.Interface().(type) {
	case time.Duration:
		return &node{line: 1, kind: isText, text: is.String()}
	case resource.Quantity:
		return &node{line: 1, kind: isText, text: is.String()}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return encode(v.Elem())
	case reflect.String:
		return &node{line: 1, kind: isText, text: v.String()}
	case reflect.Bool:
		return &node{line: 1, kind: isBool, text: strconv.FormatBool(v.Bool())}
	case reflect.Struct:
		n := &node{line: 1, kind: isMapping}
		for _, f := range fieldsOf(v.Type()) {
			if value := v.FieldByIndex(f.index); !zero(value) {
				n.set(f.key, encode(value))
			}
		}
		return n
	case reflect.Slice:
		n := &node{line: 1, kind: isList}
		for i := range v.Len() {
			n.items = append(n.items, encode(v.Index(i)))
		}
		return n
	case reflect.Map:
		n := &node{line: 1, kind: isMapping}
		for _, key := range v.MapKeys() {
			n.set(key.String(), encode(v.MapIndex(key)))
		}
		return n
	}
	return &node{line: 1, kind: isNumber, text: fmt.Sprint(v.Interface())}
}

// zero reports whether a value says nothing. A quantity that was read from a text that says nothing has a format.
func zero(v reflect.Value) bool {
	if q, is := v.Interface().(resource.Quantity); is {
		return q.IsZero()
	}
	return v.IsZero()
}
