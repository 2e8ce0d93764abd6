package timeline_test

import (
	"bytes"
	"testing"
)

func TestBodies(t *testing.T) {
	w := lineWriter(t, &bytes.Buffer{})
	node, _ := w.Header().Lookup("nodes")
	for object, want := range map[string]string{
		`{"spec":{"a" : 1.0},"kind":"Node","apiVersion":"v1","metadata":{"name":"n","uid":"u","labels":{"a":"\u003c"},"resourceVersion":"7"}}`: `{"metadata":{"labels":{"a":"<"}},"spec":{"a":1.0}}`,
		`{"kind":"Machine","metadata":{"name":"n"}}`: `{"metadata":{},"kind":"Machine"}`,
		`{}`:                      `{"metadata":{}}`,
		`[]`:                      "",
		`{"metadata":{"name":1}}`: "",
		`{`:                       "",
	} {
		got, err := w.Body([]byte(object), node)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", object, got, err)
		}
	}
}
