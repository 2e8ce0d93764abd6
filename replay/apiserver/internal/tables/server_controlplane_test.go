//go:build controlplane

package tables

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// TestAgainstServer checks the tables of everything that a real kube-apiserver serves against what this package
// makes of the same objects: of those of testdata, each created with its status, and of those that the server has of
// its own.
func TestAgainstServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	s := newServer(ctx, t)
	s.createAll(definitionObject)
	s.establish("widgets.example.com")
	s.createAll(widgetObjects...)
	var objects [][]byte
	for _, file := range filesOfObjects(t, "testdata/*.yaml") {
		objects = append(objects, objectsOf(t, file)...)
	}
	s.createAll(objects...)
	compared := map[string]int{}
	for _, r := range s.resources() {
		compared[r.String()] += s.compare(r)
	}
	for resource := range builtin().resources {
		if compared[resource.String()] == 0 && resource.Resource != "podcertificaterequests" { // which want a signed key
			t.Errorf("%s: found no object on the server, want its rows compared", resource)
		}
	}
	if want := 2 * len(widgetObjects); compared["widgets.example.com"] != want { // in two versions
		t.Errorf("widgets: found %d rows on the server, want %d", compared["widgets.example.com"], want)
	}
}

// compare checks the table of all objects of a resource against this package's, and returns how many there are.
func (s *server) compare(r timeline.Resource) int {
	s.t.Helper()
	var table struct {
		ColumnDefinitions []metav1.TableColumnDefinition `json:"columnDefinitions"`
		Rows              []struct {
			Cells      json.RawMessage            `json:"cells"`
			Conditions []metav1.TableRowCondition `json:"conditions"`
			Object     json.RawMessage            `json:"object"`
		} `json:"rows"`
	}
	from := time.Now()
	s.decode(s.do(http.MethodGet, path(r, "")+"?includeObject=Object", asTable, nil), &table)
	to := time.Now()

	p := For(r, s.definitions[r.String()])
	if diff := cmp.Diff(table.ColumnDefinitions, p.Columns()); diff != "" {
		s.t.Errorf("%s of %s: columns: server (-), found (+):\n%s", r.Resource, r.APIVersion(), diff)
	}
	for _, row := range table.Rows {
		conditions, err := json.Marshal(row.Conditions)
		if err != nil {
			s.t.Fatal(err)
		}
		// The server told the ages at some moment between the two.
		want := string(row.Cells) + string(conditions)
		if found := s.row(p, row.Object, from); found != want && s.row(p, row.Object, to) != want {
			s.t.Errorf("%s of %s:\nserver: %s\nfound:  %s", r.Resource, r.APIVersion(), want, found)
		}
	}
	return len(table.Rows)
}

// row is a row as JSON.
func (s *server) row(p *Printer, raw []byte, now time.Time) string {
	s.t.Helper()
	cells, conditions, err := p.Cells(raw, now)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := json.Marshal(cells)
	if err != nil {
		s.t.Fatal(err)
	}
	d, err := json.Marshal(conditions)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(c) + string(d)
}
