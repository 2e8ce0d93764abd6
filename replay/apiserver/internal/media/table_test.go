package media

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/replay"
)

// What kubectl asks for can be read as a Table: of a list, of an object, of
// events, with the columns told once.
func TestTables(t *testing.T) {
	eachResource(t, func(t *testing.T, w *wire, c *rest.Config) {
		ask := func(query string) *json.Decoder {
			req := asks(kubectlGet, query)
			req.URL.Path = "/" + w.resource.Resource
			if query == "one" {
				req.URL.Path += "/" + w.events[0].Object.Name()
			}
			r, err := w.RoundTrip(req)
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatal(err, r)
			}
			return json.NewDecoder(r.Body)
		}
		read := func(d *json.Decoder, into any) {
			t.Helper()
			if err := d.Decode(into); err != nil {
				t.Fatal(err)
			}
		}
		check := func(got metav1.Table, header bool, objects ...*replay.Object) {
			t.Helper()
			if got.Kind != "Table" || len(got.ColumnDefinitions) == 2 != header || len(got.Rows) != len(objects) {
				t.Fatalf("%+v", got)
			}
			for i, row := range got.Rows {
				var p metav1.PartialObjectMetadata
				if err := json.Unmarshal(row.Object.Raw, &p); err != nil {
					t.Fatal(err)
				}
				if p.Kind != "PartialObjectMetadata" || p.Name != objects[i].Name() || row.Cells[0] != p.Name {
					t.Fatalf("row %d: %s", i, row.Object.Raw)
				}
			}
		}
		var one, list metav1.Table
		read(ask("one"), &one)
		check(one, true, w.events[0].Object)
		read(ask(""), &list)
		check(list, true, w.end.Items...)
		d := ask("watch=1")
		for i, want := range w.events {
			var frame struct {
				Type   watch.EventType
				Object metav1.Table
			}
			read(d, &frame)
			if frame.Type != want.Type {
				t.Fatalf("event %d is %s, want %s", i, frame.Type, want.Type)
			}
			check(frame.Object, i == 0, want.Object)
		}
		var last struct {
			Type   watch.EventType
			Object metav1.Status
		}
		read(d, &last)
		if last.Type != watch.Error || last.Object.Code != gone.Code || d.Decode(new(any)) != io.EOF {
			t.Errorf("at the end: %+v", last)
		}
	})
}
