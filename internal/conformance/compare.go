package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Difference is one place at which two answers aren't alike.
type Difference struct {
	Place      string // status, header NAME, or body.PATH with [] for any place in an array
	Want, Got  string // of the real server, of ours
	Everything bool   // the answers have nothing in common: other differences weren't looked for
}

// String is what [Known] matches: `status: want 404, got 200`.
func (d Difference) String() string { return d.Place + ": want " + d.Want + ", got " + d.Got }

// unlooked are the headers that no client acts on, or that can't be alike.
var unlooked = []string{
	"Date", "Content-Length", // the body is compared decoded
	"Audit-Id", "X-Kubernetes-Pf-Flowschema-Uid", "X-Kubernetes-Pf-Prioritylevel-Uid", // for who runs the server
}

// opaque are the headers of which a client looks at no more than whether they change.
var opaque = []string{"Etag", "Last-Modified"}

// Compare says how our answer to a request differs from the real one. newest is the last version of the resource that
// was asked for, 0 where that means nothing.
func Compare(r Request, want, got *Answer, newest uint64) (all []Difference) {
	if want.Status != got.Status {
		return []Difference{{Place: "status", Want: tell(want), Got: tell(got), Everything: true}}
	}
	names := map[string]bool{}
	for name := range want.Header {
		names[name] = true
	}
	for name := range got.Header {
		names[name] = true
	}
	for _, name := range sorted(names) {
		w, g := strings.Join(want.Header[name], " | "), strings.Join(got.Header[name], " | ")
		if slices.Contains(opaque, name) {
			w, g = strconv.FormatBool(w != ""), strconv.FormatBool(g != "")
		}
		if w != g && !slices.Contains(unlooked, name) {
			all = append(all, Difference{Place: "header " + name, Want: strconv.Quote(w), Got: strconv.Quote(g)})
		}
	}
	c := comparison{newest: newest, late: want.Now.Sub(got.Now), discovery: strings.Contains(want.Header.Get("Content-Type"), "APIGroupDiscoveryList")}
	if want.Stream != got.Stream {
		return append(all, Difference{Place: "body", Want: "a stream: " + strconv.FormatBool(want.Stream), Got: strconv.FormatBool(got.Stream), Everything: true})
	}
	w, g := want.Bodies, got.Bodies
	if want.Stream {
		w, g = withoutBookmarks(w), withoutBookmarks(g)
	}
	if strings.HasPrefix(r.Path, "/openapi") {
		w, g = contents(w), contents(g)
	}
	switch {
	case len(w) == 1 && len(g) == 1:
		c.values("body", "", w[0], g[0])
	default:
		c.array("body", "", w, g)
	}
	return append(all, c.found...)
}

// tell is a status with the message of the Status behind it.
func tell(a *Answer) string {
	s := fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))
	if a.Status < 400 || len(a.Bodies) == 0 {
		return s
	}
	switch b := a.Bodies[0].(type) {
	case map[string]any:
		return fmt.Sprintf("%s %.200q", s, fmt.Sprint(b["message"]))
	default:
		return fmt.Sprintf("%s %.60q", s, fmt.Sprint(b))
	}
}

// contents is the table of contents of an OpenAPI document: package openapi's own tests compare what stands in it.
func contents(documents []any) (all []any) {
	for _, d := range documents {
		document, ok := d.(map[string]any)
		if !ok {
			return documents
		}
		brief := map[string]any{}
		for name, value := range document {
			if part, ok := value.(map[string]any); ok && name != "info" {
				var names []any
				for _, n := range sorted(members(part)) {
					names = append(names, n)
				}
				value = names
			}
			brief[name] = value
		}
		all = append(all, brief)
	}
	return all
}

func withoutBookmarks(events []any) []any {
	return slices.DeleteFunc(slices.Clone(events), func(e any) bool {
		event, _ := e.(map[string]any)
		object, _ := event["object"].(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		return event["type"] == "BOOKMARK" && metadata["annotations"] == nil && !tableBookmarkEnds(object)
	})
}

// tableBookmarkEnds reports whether a bookmark as a Table has a row that ends the initial events.
func tableBookmarkEnds(table map[string]any) bool {
	rows, _ := table["rows"].([]any)
	for _, r := range rows {
		row, _ := r.(map[string]any)
		object, _ := row["object"].(map[string]any)
		metadata, _ := object["metadata"].(map[string]any)
		if metadata["annotations"] != nil {
			return true
		}
	}
	return false
}

// comparison walks two bodies at once.
type comparison struct {
	newest    uint64
	discovery bool          // items are groups, which have names
	late      time.Duration // by which the real server's clock is ahead of ours
	found     []Difference
}

func (c *comparison) differ(place string, want, got string) {
	c.found = append(c.found, Difference{Place: place, Want: want, Got: got})
}

// values compares what stands at a place. parent is the place without the last member.
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
	names := map[string]bool{}
	for name := range want {
		names[name] = true
	}
	for name := range got {
		names[name] = true
	}
	metadata := strings.HasSuffix(place, ".metadata")
	for _, name := range sorted(names) {
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
		if next := slices.Index(order, name); next < i {
			c.differ(at, "it in another place", "it behind "+order[i])
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
		return sameAge(want, got, c.late)
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

func sorted(names map[string]bool) []string {
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

// brief is a value for people.
func brief(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.160q", v)
	case map[string]any:
		return fmt.Sprintf("{%.100s}", strings.Join(sorted(members(v)), " "))
	case []any:
		return fmt.Sprintf("[%d]", len(v))
	}
	return fmt.Sprint(v)
}

func members(v map[string]any) map[string]bool {
	all := map[string]bool{}
	for name := range v {
		all[name] = true
	}
	return all
}
