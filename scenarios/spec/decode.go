package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// A decoder fills the types of a file from its nodes, by their tags. Keys that
// a type doesn't have are refused; what isn't there gets its default.
type decoder struct {
	file string
	// lines are those of every key and item of the file, by their paths.
	lines map[string]int

	fields   map[reflect.Type][]field
	defaults map[string]*node
}

func newDecoder(file string) *decoder {
	return &decoder{file: file, lines: map[string]int{}, fields: map[reflect.Type][]field{}, defaults: map[string]*node{}}
}

// A field is one key of a mapping, as the tags of its Go field describe it.
type field struct {
	index []int
	key   string
	need  bool
	rules rules
}

// rules are the constraints that the tags of a field put on its value.
type rules struct{ fallback, min, max, form string }

func fieldsOf(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		key, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case key == "-":
		case option == "inline":
			for _, in := range fieldsOf(f.Type) {
				in.index = append([]int{i}, in.index...)
				all = append(all, in)
			}
		default:
			all = append(all, field{
				index: []int{i}, key: key, need: f.Tag.Get("need") == "true",
				rules: rules{fallback: f.Tag.Get("default"), min: f.Tag.Get("min"), max: f.Tag.Get("max"), form: f.Tag.Get("form")},
			})
		}
	}
	return all
}

// at is an Error at a node.
func (d *decoder) at(n *node, path, found, wanted string) *Error {
	return &Error{File: d.file, Line: n.line, Path: path, Found: found, Wanted: wanted}
}

// decode fills v, which can be set, from n.
func (d *decoder) decode(n *node, v reflect.Value, path string, r rules) *Error {
	if path != "" {
		d.lines[path] = n.line
	}
	if done, err := d.value(n, v, path, r); done || err != nil {
		return err
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.decode(n, v.Elem(), path, r)
	case reflect.Struct:
		if n.kind != isMapping {
			return d.at(n, path, n.String(), "a mapping")
		}
		return d.mapping(n, v, path)
	case reflect.Slice:
		if n.kind != isList {
			return d.at(n, path, n.String(), "a list")
		}
		for i, item := range n.items {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			if err := d.decode(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i), r); err != nil {
				return err
			}
		}
		return nil
	case reflect.Map:
		return d.words(n, v, path)
	}
	return d.at(n, path, n.String(), "nothing here")
}

// mapping fills a struct.
func (d *decoder) mapping(n *node, v reflect.Value, path string) *Error {
	fields, ok := d.fields[v.Type()]
	if !ok {
		fields = fieldsOf(v.Type())
		d.fields[v.Type()] = fields
	}
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	for i, key := range n.keys {
		if !slices.Contains(keys, key) {
			e := d.at(n.items[i], under(path, key), "unknown key", list(keys))
			if e.Remedy = didYouMean(phrase.Closest(key, keys)); e.Remedy != "" {
				e.Wanted = ""
			}
			return e
		}
	}
	for _, f := range fields {
		if err := d.key(n, f, v.FieldByIndex(f.index), under(path, f.key)); err != nil {
			return err
		}
	}
	return nil
}

// key fills a field, or gives it its default.
func (d *decoder) key(n *node, f field, v reflect.Value, path string) *Error {
	if value := n.get(f.key); value != nil {
		return d.decode(value, v, path, f.rules)
	}
	switch {
	case f.need:
		parent, _, _ := cutLast(path)
		return d.at(n, parent, fmt.Sprintf("no %q", f.key), "it")
	case f.rules.fallback != "":
		fallback := d.fallback(f.rules.fallback)
		// The key isn't in the file, so it has no line of its own.
		err := d.decode(fallback, v, path, f.rules)
		delete(d.lines, path)
		return err
	case v.Kind() == reflect.Struct && d.plain(v):
		return d.absent(n, v, path)
	}
	return nil
}

// absent fills a mapping that isn't there with the defaults of its keys.
func (d *decoder) absent(n *node, v reflect.Value, path string) *Error {
	return d.mapping(&node{kind: isMapping, line: n.line}, v, path)
}

// fallback is the node of a default.
func (d *decoder) fallback(text string) *node {
	if n := d.defaults[text]; n != nil {
		return n
	}
	n, err := parseTree("default", []byte(text))
	if err != nil {
		n = &node{kind: isText, text: text}
	}
	d.defaults[text] = n
	return n
}

// words fills a map from words to words.
func (d *decoder) words(n *node, v reflect.Value, path string) *Error {
	if n.kind != isMapping {
		return d.at(n, path, n.String(), "a mapping")
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i, key := range n.keys {
		at := under(path, key)
		if err := d.form(&node{kind: isText, line: n.items[i].line, text: key}, path, "key"); err != nil {
			return err
		}
		if n.items[i].kind != isText {
			return d.notText(n.items[i], at)
		}
		if err := d.form(n.items[i], at, "value"); err != nil {
			return err
		}
		d.lines[at] = n.items[i].line
		v.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(n.items[i].text))
	}
	return nil
}

// cutLast cuts a path before its last key.
func cutLast(path string) (parent, key string, ok bool) {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:], true
	}
	return "", path, false
}
