package kubedefaults

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FillObject is [Fill] of an object as its Go type.
func FillObject(gvk schema.GroupVersionKind, object runtime.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	Fill(gvk.Group, gvk.Version, gvk.Kind, content)
	return runtime.DefaultUnstructuredConverter.FromUnstructured(content, object)
}

// Fill fills in the defaults of a kind. A kind that has none stays as it is.
func Fill(group, version, kind string, object map[string]any) {
	name := kind
	if group != "" {
		name += "." + group
	}
	if version != "v1" {
		name += "/" + version
	}
	fill(table()[name], object)
}

func fill(rules []rule, object map[string]any) {
	for i := range rules {
		if r := &rules[i]; r.holds(object) {
			r.apply(object, object, r.path)
		}
	}
}

// apply does what the rule says at the rest of its path, below at.
func (r *rule) apply(root, at map[string]any, rest []segment) {
	if len(rest) == 0 {
		r.inside(at)
		return
	}
	s := rest[0]
	if len(rest) == 1 && !s.each && !r.enters() {
		if v, has := at[s.name]; has && v != nil && v != "" {
			return
		}
		if v := r.wanted(root); v != nil {
			at[s.name] = v
		}
		return
	}
	switch v := at[s.name].(type) {
	case map[string]any:
		r.apply(root, v, rest[1:])
	case []any:
		for _, item := range v {
			if item, is := item.(map[string]any); is && s.each {
				r.apply(root, item, rest[1:])
			}
		}
	case nil:
		if s.make {
			made := map[string]any{}
			at[s.name] = made
			r.apply(root, made, rest[1:])
		}
	}
}

// enters reports whether the rule is about what is in the object at its path.
func (r *rule) enters() bool { return r.of != "" || r.code != nil }

// inside applies the rule to the object at its path.
func (r *rule) inside(at map[string]any) {
	if r.code != nil {
		r.code(at)
		return
	}
	fill(table()[r.of], at)
}

// wanted is the default, nil for none.
func (r *rule) wanted(root map[string]any) any {
	if r.from == nil {
		return runtime.DeepCopyJSONValue(r.value)
	}
	v := get(root, r.from)
	if v == "" {
		return nil
	}
	return runtime.DeepCopyJSONValue(v)
}

// holds reports whether the rule's conditions hold.
func (r *rule) holds(object map[string]any) bool {
	for _, c := range r.when {
		if !c.holds(get(object, c.path)) {
			return false
		}
	}
	return true
}

func (c *condition) holds(v any) bool {
	there := v != nil && v != "" && v != false
	if list, is := v.([]any); is {
		there = len(list) > 0
	}
	switch {
	case c.not:
		return !there
	case c.values == nil:
		return there
	}
	for _, want := range c.values {
		if v == want {
			return true
		}
	}
	return false
}

func get(object map[string]any, path []string) any {
	var v any = object
	for _, name := range path {
		m, is := v.(map[string]any)
		if !is {
			return nil
		}
		v = m[name]
	}
	return v
}
