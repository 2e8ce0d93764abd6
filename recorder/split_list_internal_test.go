package recorder

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/client-go/rest"
)

// page reads one page with this body, and returns its items.
func page(t *testing.T, body string) (l *lister, items []string, version, next string, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
	defer server.Close()
	c, err := newClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	l = &lister{client: c, res: timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}, item: func(item []byte) error {
		items = append(items, string(item))
		return nil
	}}
	next, err = l.page(t.Context(), url.Values{}, &version)
	return l, items, version, next, err
}

// TestPage reads pages in each form in which servers write them.
func TestPage(t *testing.T) {
	for name, body := range map[string]string{
		"of a Go type":         `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x"},"items":[{"a":"]},\"{"},{"b":[1,{"c":null}]}]}` + "\n",
		"of a custom resource": `{"apiVersion":"v1","items":[{"a":"]},\"{"},{"b":[1,{"c":null}]}],"kind":"NodeList","metadata":{"continue":"x","resourceVersion":"7"}}`,
		"indented": "{ \"items\" : [\n  {\"a\": \"]},\\\"{\"} ,\n {\"b\": [1, {\"c\" :null}]}\n ] , \"kind\":\"NodeList\", \"n\" : -1.5e3 , \"t\": true,\n" +
			" \"e\": {}, \"f\": [ ], \"\\u006detadata\" : {\"continue\":\"x\",\"resourceVersion\":\"7\"} }",
	} {
		t.Run(name, func(t *testing.T) {
			_, items, version, next, err := page(t, body)
			want := []string{`{"kind":"Node","apiVersion":"v1","a":"]},\"{"}`, `{"kind":"Node","apiVersion":"v1","b":[1,{"c":null}]}`}
			if err != nil || version != "7" || next != "x" || !slices.Equal(items, want) {
				t.Errorf("found %q, version %q, continuation %q, error %v: want %q", items, version, next, err, want)
			}
		})
	}
	for _, body := range []string{`{"items":[],"metadata":{}}`, `{"items":null,"metadata":{}}`, `{"metadata":{}}`} {
		if _, items, _, _, err := page(t, body); err != nil || len(items) > 0 {
			t.Errorf("%s: found %q, error %v: want nothing", body, items, err)
		}
	}
}

// TestPageSaysWhatIsWrong proves that what is no list isn't taken for an empty one.
func TestPageSaysWhatIsWrong(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                                  "found no metadata, want a list of Node",
		`[]`:                                  "found '[', want '{'",
		`{"metadata":{}`:                      "unexpected EOF",
		`{"metadata":{},"items":[{"a":1},`:    "unexpected EOF",
		`{"metadata":{},"items":[{"a":1}{}]}`: "found '{', want ','",
		`{"metadata":{},"items":[{"a" 1}]}`:   "want",
		`{"metadata":{},"items":[}`:           "want a value",
		`{metadata:{}}`:                       "want",
		`{"metadata" {}}`:                     "found '{', want ':'",
	} {
		if _, _, _, _, err := page(t, body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found error %v, want %s", body, err, want)
		}
	}
}

// TestPageIsNotHeld proves that a long page is read item by item.
func TestPageIsNotHeld(t *testing.T) {
	item := fmt.Sprintf(`{"a":"%s"}`, strings.Repeat("x", 4<<10))
	l, items, _, _, err := page(t, `{"metadata":{},"items":[`+strings.Repeat(item+",", 999)+item+`]}`)
	if err != nil || len(items) != 1000 {
		t.Fatalf("found %d items, error %v: want 1000", len(items), err)
	}
	if held := cap(l.buf) + cap(l.compact) + cap(l.object); held > 256<<10 {
		t.Errorf("found buffers of %d bytes for items of %d: want no more than 256 KiB", held, len(item))
	}
}
