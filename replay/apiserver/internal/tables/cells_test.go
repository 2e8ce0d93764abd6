package tables

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nodesim/nodesim/timeline"
)

// check returns what holds for the cells of any object: one per column, each of a type that the package names.
func check(r timeline.Resource, p *Printer, raw []byte) error {
	before := slices.Clone(raw)
	cells, _, err := p.Cells(raw, now)
	if string(raw) != string(before) {
		return fmt.Errorf("%s: found %q changed to %q", r, before, raw)
	}
	if err != nil {
		if json.Valid(raw) && strings.HasPrefix(strings.TrimLeft(string(raw), " \t\r\n"), "{") {
			return fmt.Errorf("%s: %q: found %w, want a row", r, raw, err)
		}
		return nil
	}
	want := len(p.Columns())
	if r.Resource == "ipaddresses" && len(cells) == want+1 {
		want++ // the age without a column
	}
	if len(cells) != want {
		return fmt.Errorf("%s: %q: found %d cells, want %d", r, raw, len(cells), want)
	}
	for i, cell := range cells {
		switch cell.(type) {
		case string, int64, float64, bool, nil:
		default:
			return fmt.Errorf("%s: %q: cell %d: found %T, want a string, int64, float64, bool or nil", r, raw, i, cell)
		}
	}
	return nil
}

// TestAnyObject prints as every kind what is no good object of it.
func TestAnyObject(t *testing.T) {
	for _, r := range append(builtins(), timeline.Resource{Group: "autoscaling", Version: "v1", Resource: "horizontalpodautoscalers"}, widgets("v1")) {
		p := For(r, definitionObject)
		for _, raw := range []string{
			`{}`, ` {"metadata":{}}`, `{"metadata":null,"spec":null,"status":null}`, `{"metadata":7}`, `{"metadata":{"name":7}}`,
			`{"metadata":{"name":"a","creationTimestamp":"soon"}}`, `{"metadata":{"name":"a"},"spec":[],"status":[]}`,
			`{"spec":{"template":null,"selector":null,"metrics":[{"type":"Object"},{"type":"Pods"}]},"status":{"conditions":[null]}}`,
			`{"spec":{"metrics":[{"type":"External"},{"type":"Resource"}],"selector":{"matchExpressions":[{"operator":"?"}]}}}`,
			`{"spec":{"metrics":[{"type":"ContainerResource"}]},"subsets":[null],"endpoints":[null],"involvedObject":null}`,
		} {
			if err := check(r, p, []byte(raw)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestNoObject is about bytes that are no JSON object.
func TestNoObject(t *testing.T) {
	for raw, want := range map[string]string{
		``:                      `table row: found nothing, want a JSON object`,
		"null":                  `table row: found "null", want a JSON object`,
		` ["a"]`:                `table row: found "[\"a\"]", want a JSON object`,
		`{"metadata":{"name"`:   `table row: found "{\"metadata\":{\"name\"", want a JSON object: unexpected end of JSON input`,
		strings.Repeat("x", 50): `table row: found "` + strings.Repeat("x", 40) + `"…, want a JSON object`,
	} {
		for _, r := range []timeline.Resource{{Version: "v1", Resource: "pods"}, widgets("v1")} {
			cells, conditions, err := For(r, nil).Cells([]byte(raw), now)
			if err == nil || err.Error() != want || cells != nil || conditions != nil {
				t.Errorf("%s: %q: found %v, %v, error %v, want error %s", r, raw, cells, conditions, err, want)
			}
		}
	}
}

// TestUnreadable is about an object that isn't of its kind: the columns that any object has are told all the same.
func TestUnreadable(t *testing.T) {
	odd := []byte(`{"metadata":{"name":"odd","creationTimestamp":"2026-11-20T11:00:00Z","labels":7},"spec":"none"}`)
	for plural, want := range map[string]string{
		"limitranges": "[odd 2026-11-20T11:00:00Z]",
		"namespaces":  "[odd <unknown> 60m]",
		"events":      "[<unknown> <unknown> <unknown> <unknown> <unknown> <unknown> <unknown> <unknown> <unknown> odd]",
	} {
		cells, _, err := For(timeline.Resource{Version: "v1", Resource: plural}, nil).Cells(odd, now)
		if found := fmt.Sprint(cells); err != nil || found != want {
			t.Errorf("%s: found %s, error %v, want %s", plural, found, err, want)
		}
	}
}

// TestConcurrent prints with one printer from many goroutines.
func TestConcurrent(t *testing.T) {
	p := For(widgets("v1"), definitionObject)
	want, _, err := p.Cells(widgetObjects[0], now)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				cells, _, err := p.Cells(widgetObjects[0], now)
				if err != nil || !slices.Equal(cells, want) {
					t.Errorf("found %v, error %v, want %v", cells, err, want)
				}
			}
		})
	}
	all.Wait()
}
