package apply

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// object is a Kubernetes object, or a part of one, as encoding/json decodes it,
// with numbers as they are spelt.
type object = map[string]any

func decode(raw []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var o object
	err := d.Decode(&o)
	return o, err
}

// encode is for what decode has returned, and for what is made here.
func encode(o any) []byte {
	raw, err := json.Marshal(o)
	if err != nil {
		return []byte("{}") // can't be: nothing in here but JSON's own types
	}
	return raw
}

// at is the member at a path, or nil.
func at(o object, path ...string) any {
	for i, name := range path {
		v, ok := o[name]
		if !ok || i == len(path)-1 {
			return v
		}
		if o, ok = v.(object); !ok {
			return nil
		}
	}
	return nil
}

func text(o object, path ...string) string {
	s, _ := at(o, path...).(string)
	return s
}

// part is the object at a member, made where there is none.
func part(o object, name string) object {
	if p, ok := o[name].(object); ok {
		return p
	}
	p := object{}
	o[name] = p
	return p
}

// elements are the objects in a list.
func elements(v any) []object {
	list, _ := v.([]any)
	var out []object
	for _, e := range list {
		if o, ok := e.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

// withoutNulls drops the members that are null: to the API server they are
// absent, to a merge patch they are deletions.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case object:
		maps.DeleteFunc(v, func(_ string, m any) bool { return m == nil })
		for name, m := range v {
			v[name] = withoutNulls(m)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}

// delta is the merge patch (RFC 7386) that gives have everything that want
// says. What want doesn't say stays, or goes where exact is set. It is nil where
// nothing is to do. A server drops what is empty, so empty and absent are alike.
//
// It works on decoded objects, unlike [rawjson.Diff], since it has to tell what
// a server has added from what it has changed.
func delta(have, want object, exact bool) object {
	var patch object
	set := func(name string, v any) {
		if patch == nil {
			patch = object{}
		}
		patch[name] = v
	}
	for name, w := range want {
		h := have[name]
		ho, isObject := h.(object)
		wo, too := w.(object)
		switch {
		case isObject && too:
			if p := delta(ho, wo, exact); p != nil {
				set(name, p)
			}
		case !alike(h, w, exact):
			set(name, w)
		}
	}
	if exact {
		for name, h := range have {
			if _, ok := want[name]; !ok && !empty(h) {
				set(name, nil)
			}
		}
	}
	return patch
}

// alike reports whether two values say the same; where exact isn't set, objects
// in have may say more.
func alike(have, want any, exact bool) bool {
	if empty(have) || empty(want) {
		return empty(have) && empty(want)
	}
	switch w := want.(type) {
	case object:
		h, ok := have.(object)
		return ok && delta(h, w, exact) == nil
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return false
		}
		for i := range w {
			if !alike(h[i], w[i], exact) {
				return false
			}
		}
		return true
	}
	return have == want
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case object:
		for _, m := range v {
			if !empty(m) {
				return false
			}
		}
		return true
	}
	return false
}

// paths names what a patch touches, without places in lists: "spec.taints".
func paths(patch object) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		inner, ok := patch[name].(object)
		if !ok || len(inner) == 0 || name == "labels" || name == "annotations" {
			out = append(out, name)
			continue
		}
		for _, p := range paths(inner) {
			out = append(out, name+"."+p)
		}
	}
	return out
}
