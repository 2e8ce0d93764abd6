package media

import (
	"net/http"
	"testing"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

var (
	nodes   = timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	pods    = timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	widgets = timeline.Resource{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true}
)

// object is one with the text raw.
func object(raw string) *replay.Object {
	return new(replay.Object).With([]byte(raw))
}

// asks is a request with an Accept header.
func asks(accept, query string) *http.Request {
	r, err := http.NewRequest(http.MethodGet, "https://localhost/x?"+query, nil)
	if err != nil {
		panic(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return r
}

// form returns what a request for JSON negotiates, or one with another Accept header.
func form(t testing.TB, r timeline.Resource, what What, accept, query string) Form {
	t.Helper()
	f, err := Negotiate(asks(accept, query), r, what)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
