package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Difference is one place at which two answers aren't alike.
type Difference struct {
	Place      string // status, header NAME, or body.PATH with [] for any place in an array
	Want, Got  string // of the real server, of ours
	Everything bool   // the answers have nothing in common: other differences weren't looked for
}

// String returns what [Known] matches: `status: want 404, got 200`.
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
	for _, name := range union(want.Header, got.Header) {
		w, g := strings.Join(want.Header[name], " | "), strings.Join(got.Header[name], " | ")
		if slices.Contains(opaque, name) {
			w, g = strconv.FormatBool(w != ""), strconv.FormatBool(g != "")
		}
		if w != g && !slices.Contains(unlooked, name) {
			all = append(all, Difference{Place: "header " + name, Want: strconv.Quote(w), Got: strconv.Quote(g)})
		}
	}
	c := comparison{newest: newest, late: want.Now.Sub(got.Now), took: max(want.Took, got.Took), discovery: strings.Contains(want.Header.Get("Content-Type"), "APIGroupDiscoveryList")}
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

// tell is a status with the message of the Status after it.
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

// contents is the table of contents of an OpenAPI document: package openapi's own tests compare what is in it.
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
				for _, n := range slices.Sorted(maps.Keys(part)) {
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
