package spec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// A Document is a scenario file that has been read and is sound with its
// parameters' defaults. It is never changed, so it may be shared.
type Document struct {
	// Metadata of the scenario.
	Metadata Metadata
	// Parameters that it declares, in its order.
	Parameters []Parameter

	file string
	text string
	root *node
	idle *Error // about the first parameter that is not used
}

// Text is the file as it was given.
func (d *Document) Text() string { return d.text }

// Parse reads a scenario file: one strict YAML document of at most [MaxFile] bytes. name is the file's label in
// errors, which are of type *[Error] and name the line, the key's path, what was found and what is wanted. A file
// that can't be simulated with its parameters' defaults is refused.
func Parse(name string, data []byte) (*Document, error) {
	d, bad := parse(name, data)
	if bad != nil {
		return nil, bad
	}
	if _, err := d.Resolve(nil, nil); err != nil {
		return nil, err
	}
	if d.idle != nil { // last, since a key that is wrong may have lost its reference
		return nil, d.idle
	}
	return d, nil
}

func parse(name string, data []byte) (*Document, *Error) {
	root, err := parseTree(name, data)
	if err != nil {
		return nil, err
	}
	if root.kind != isMapping {
		return nil, &Error{File: name, Line: root.line, Found: root.String(), Wanted: "the keys of a scenario"}
	}
	d := &Document{file: name, text: string(data), root: root}
	return d, d.declarations()
}

// declarations reads what is needed before parameters have values.
func (d *Document) declarations() *Error {
	head := newDecoder(d.file)
	var f File
	for _, field := range fieldsOf(reflect.TypeFor[File]()) {
		if !slices.Contains(fixedParts, field.key) {
			continue
		}
		if err := head.key(d.root, field, reflect.ValueOf(&f).Elem().FieldByIndex(field.index), field.key); err != nil {
			return err
		}
	}
	d.Metadata, d.Parameters = f.Metadata, f.Parameters
	seen := map[string]bool{}
	for i := range d.Parameters {
		if err := d.declaration(head, i, seen); err != nil {
			return err
		}
	}
	used, err := references(d.file, d.root, d.Parameters)
	if err != nil {
		return err
	}
	for i, p := range d.Parameters {
		if path := fmt.Sprintf("parameters[%d].name", i); !used[p.Name] && d.idle == nil {
			d.idle = &Error{
				File: d.file, Line: head.lines[path], Path: path, Found: fmt.Sprintf("%q is not used", p.Name),
				Wanted: "$(" + p.Name + ") somewhere",
			}
		}
	}
	return nil
}

// declaration checks one declared parameter.
func (d *Document) declaration(head *decoder, i int, seen map[string]bool) *Error {
	p := &d.Parameters[i]
	bad := func(key, found, wanted string) *Error {
		path := fmt.Sprintf("parameters[%d]", i)
		line, ok := head.lines[under(path, key)]
		if !ok {
			line = head.lines[path]
		}
		return &Error{File: d.file, Line: line, Path: under(path, key), Found: found, Wanted: wanted}
	}
	if seen[p.Name] {
		return bad("name", fmt.Sprintf("%q for the second time", p.Name), "another name")
	}
	seen[p.Name] = true
	switch {
	case p.Type == TypeEnum && len(p.Values) == 0:
		return bad("values", "none", "the values of the type enum")
	case p.Type != TypeEnum && len(p.Values) > 0:
		return bad("values", list(p.Values), fmt.Sprintf("none for the type %s", p.Type))
	}
	for _, end := range []struct {
		key string
		Scalar
	}{{"min", p.Min}, {"max", p.Max}} {
		switch {
		case end.Scalar == "":
		case !p.Type.ordered():
			return bad(end.key, fmt.Sprintf("%q", end.Scalar), fmt.Sprintf("none for the type %s", p.Type))
		case !p.Type.fits(string(end.Scalar)):
			return bad(end.key, fmt.Sprintf("%q", end.Scalar), p.Type.wanted(""))
		}
	}
	if p.Min != "" && p.Max != "" && p.Type.compare(string(p.Min), string(p.Max)) > 0 {
		return bad("max", fmt.Sprintf("%q", p.Max), fmt.Sprintf("at least the min, %s", p.Min))
	}
	if wanted := p.check(string(p.Default)); wanted != "" {
		return bad("default", fmt.Sprintf("%.80q", p.Default), wanted)
	}
	return nil
}

// ParseSetting reads name=value, as --set takes it.
func ParseSetting(text string) (Setting, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || !parameterForm.MatchString(name) {
		return Setting{}, errors.New(phrase.Escaped(fmt.Sprintf("--set %.80q: want name=value", text)))
	}
	return Setting{Name: name, Value: value}, nil
}

// Resolve gives the parameters their values, fills in every default and checks
// the whole. Of two settings of a parameter the last one holds; seed, where it
// isn't nil, takes the place of the file's. Errors are of type *[Error].
func (d *Document) Resolve(set []Setting, seed *uint64) (*File, error) {
	settings, bad := d.settings(set)
	if bad != nil {
		return nil, bad
	}
	root := substitute(d.root, func(name string, line int) *node {
		i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })
		if i < 0 { // only what can't refer to parameters still does
			return &node{kind: isText, line: line, text: "$(" + name + ")"}
		}
		return d.Parameters[i].node(settings[i].Value, line)
	})
	f := &File{}
	in := newDecoder(d.file)
	if err := in.mapping(root, reflect.ValueOf(f).Elem(), ""); err != nil {
		return nil, err
	}
	f.Settings = settings
	if seed != nil {
		f.Seed = *seed
	}
	c := &checker{file: d.file, lines: in.lines, f: f}
	if err := c.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// settings are the values of all parameters, in their order.
func (d *Document) settings(set []Setting) ([]Setting, *Error) {
	var settings []Setting
	var names []string
	for _, p := range d.Parameters {
		settings = append(settings, Setting{p.Name, string(p.Default)})
		names = append(names, p.Name)
	}
	for _, s := range set {
		i := slices.Index(names, s.Name)
		if i < 0 {
			e := &Error{File: d.file, Path: "--set " + s.Name, Found: "no such parameter", Wanted: list(names)}
			if len(names) == 0 {
				e.Wanted = "no --set, since the scenario declares no parameters"
			}
			if e.Remedy = didYouMean(phrase.Closest(s.Name, names)); e.Remedy != "" {
				e.Wanted = ""
			}
			return nil, e
		}
		if wanted := d.Parameters[i].check(s.Value); wanted != "" {
			return nil, &Error{File: d.file, Path: "--set " + s.Name, Found: fmt.Sprintf("%.80q", s.Value), Wanted: wanted}
		}
		settings[i].Value = s.Value
	}
	return settings, nil
}
