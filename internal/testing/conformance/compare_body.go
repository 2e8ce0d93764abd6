package conformance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// comparison walks two bodies at once.
type comparison struct {
	newest    uint64
	discovery bool          // items are groups, which have names
	late      time.Duration // by which the real server's clock is ahead of ours
	took      time.Duration // by which an age may differ besides
	found     []Difference
}

func (c *comparison) differ(place string, want, got string) {
	c.found = append(c.found, Difference{Place: place, Want: want, Got: got})
}

// values compares what is at a place. parent is the place without the last member.
func (c *comparison) values(place, member string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			c.object(place, w, g)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			c.array(place, member, w, g)
			return
		}
	case string:
		if g, ok := got.(string); ok && (w == g || c.same(place, member, w, g)) {
			return
		}
	default:
		if want == got {
			return
		}
	}
	c.differ(place, brief(want), brief(got))
}

func (c *comparison) object(place string, want, got map[string]any) {
	metadata := strings.HasSuffix(place, ".metadata")
	for _, name := range union(want, got) {
		if metadata && name == "managedFields" {
			continue
		}
		at := place + "." + name
		w, inWant := want[name]
		g, inGot := got[name]
		switch {
		case inWant && inGot:
			c.values(at, name, w, g)
		case inWant:
			c.differ(at, brief(w), "nothing")
		default:
			c.differ(at, "nothing", brief(g))
		}
	}
}

func (c *comparison) array(place, member string, want, got []any) {
	if named[member] || member == "items" && c.discovery {
		c.set(place, want, got)
		return
	}
	if len(want) != len(got) {
		c.differ(place, fmt.Sprintf("%d of them", len(want)), fmt.Sprintf("%d", len(got)))
	}
	for i := range min(len(want), len(got)) {
		c.values(place+"[]", member, want[i], got[i])
	}
}

// named are the arrays of discovery, whose elements have names: what one server doesn't have is one difference, and says
// nothing about the others.
var named = map[string]bool{
	"groups": true, "versions": true, "resources": true, "subresources": true, "verbs": true, "paths": true, "shortNames": true, "categories": true,
	"definitions": true, "components": true, // of an OpenAPI document
}

// set compares elements by their names, and the order of those that both have.
func (c *comparison) set(place string, want, got []any) {
	ours := map[string]any{}
	var order []string
	for _, g := range got {
		ours[identity(g)] = g
		order = append(order, identity(g))
	}
	i := -1
	for _, w := range want {
		name := identity(w)
		at := place + "[" + name + "]"
		g, ok := ours[name]
		if !ok {
			c.differ(at, brief(w), "nothing")
			continue
		}
		delete(ours, name)
		// The resources of one group's CustomResourceDefinitions are in no order: the
		// API server lists them from a cache (apiextensions-apiserver,
		// pkg/apiserver/customresource_discovery_controller.go, sync).
		if next := slices.Index(order, name); next < i && place != "body.resources" {
			c.differ(at, "it in another place", "it after "+order[i])
		} else {
			i = next
		}
		if _, object := w.(map[string]any); object {
			c.values(at, "", w, g)
		}
	}
	for _, name := range order {
		if g, ok := ours[name]; ok {
			c.differ(place+"["+name+"]", "nothing", brief(g))
		}
	}
}

// identity is the name of an element: of a group, a version, a resource or a subresource, or the text that it is.
func identity(v any) string {
	o, ok := v.(map[string]any)
	if !ok {
		return fmt.Sprint(v)
	}
	for _, name := range []string{"name", "groupVersion", "resource", "subresource", "version"} {
		if s, ok := o[name].(string); ok {
			return s
		}
	}
	metadata, _ := o["metadata"].(map[string]any)
	return fmt.Sprint(metadata["name"])
}

// same compares texts that mean the same in other words.
func (c *comparison) same(place, member, want, got string) bool {
	switch member {
	case "resourceVersion":
		w, err1 := strconv.ParseUint(want, 10, 64)
		g, err2 := strconv.ParseUint(got, 10, 64)
		return err1 == nil && err2 == nil && c.newest > 0 && w >= c.newest && g >= c.newest
	case "continue":
		return want != "" && got != ""
	case "message":
		return c.sameMoment(want, got)
	case "cells":
		return sameAge(want, got, c.late, c.took)
	}
	return false
}

// current is the present version in a message: storage.NewTooLargeResourceVersionError of k8s.io/apiserver.
var current = regexp.MustCompile(`^(Timeout: Too large resource version: [0-9]+, current: )([0-9]+)$`)

// sameMoment reports whether two messages differ in nothing but the version of the present.
func (c *comparison) sameMoment(want, got string) bool {
	w, g := current.FindStringSubmatch(want), current.FindStringSubmatch(got)
	return w != nil && g != nil && w[1] == g[1] && c.same("", "resourceVersion", w[2], g[2])
}

// union are the names that either has, in order.
func union[M ~map[string]V, V any](a, b M) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// brief is a value for people.
func brief(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.160q", v)
	case map[string]any:
		return fmt.Sprintf("{%.100s}", strings.Join(slices.Sorted(maps.Keys(v)), " "))
	case []any:
		return fmt.Sprintf("[%d]", len(v))
	}
	return fmt.Sprint(v)
}
