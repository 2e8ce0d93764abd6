package openapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/replay/apiserver/internal/openapi"
	"github.com/nodesim/nodesim/timeline"
)

// tape holds what a recording holds by default.
var tape = []timeline.Resource{
	{Version: "v1", Kind: "Node", Resource: "nodes"},
	{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
	{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
}

func handler(change ...func(*openapi.Options)) *openapi.Handler {
	o := openapi.Options{Resources: tape, Subresources: discovery.Subresources, Verbs: discovery.Verbs, ServerVersion: "v1.36.3", Writes: true}
	for _, c := range change {
		c(&o)
	}
	return openapi.New(o)
}

func ask(h http.Handler, path, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// BenchmarkFirstIndex measures what the first client waits for: the index needs the hash of every document.
func BenchmarkFirstIndex(b *testing.B) {
	for b.Loop() {
		if w := ask(handler(), "/openapi/v3", ""); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

// BenchmarkFirstV2 measures what a client waits for that knows version 2 alone.
func BenchmarkFirstV2(b *testing.B) {
	for b.Loop() {
		if w := ask(handler(), "/openapi/v2", ""); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}

func TestIndexLeadsToTheDocuments(t *testing.T) {
	h := handler()
	var index struct {
		Paths map[string]struct {
			ServerRelativeURL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(ask(h, "/openapi/v3", "").Body.Bytes(), &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Paths) != 2 {
		t.Errorf("want api/v1 and apis/policy/v1, got %v", index.Paths)
	}
	for name, entry := range index.Paths {
		w := ask(h, entry.ServerRelativeURL, "application/json")
		path, hash, _ := strings.Cut(entry.ServerRelativeURL, "?hash=")
		if path != "/openapi/v3/"+name || w.Code != http.StatusOK || w.Header().Get("ETag") != strconv.Quote(hash) {
			t.Errorf("%s: %s answers %d with the ETag %s", name, entry.ServerRelativeURL, w.Code, w.Header().Get("ETag"))
		}
		if again := ask(handler(), "/openapi/v3/"+name, "application/json"); again.Header().Get("ETag") != w.Header().Get("ETag") {
			t.Errorf("%s: two handlers over one tape make different documents", name)
		}
		if old := ask(h, path+"?hash=0", "application/json"); old.Code != http.StatusMovedPermanently || old.Header().Get("Location") != entry.ServerRelativeURL {
			t.Errorf("%s: an old hash leads to %d %s", name, old.Code, old.Header().Get("Location"))
		}
	}
}

func TestProtobuf(t *testing.T) {
	h := handler()
	var v3 openapi_v3.Document
	w := ask(h, "/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf")
	if err := proto.Unmarshal(w.Body.Bytes(), &v3); err != nil || v3.GetInfo().GetVersion() != "1.36" {
		t.Errorf("v3: %v, %v", err, v3.GetInfo())
	}
	var v2 openapi_v2.Document
	w = ask(h, "/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
	if err := proto.Unmarshal(w.Body.Bytes(), &v2); err != nil || len(v2.GetDefinitions().GetAdditionalProperties()) < 100 {
		t.Errorf("v2: %v, %d definitions", err, len(v2.GetDefinitions().GetAdditionalProperties()))
	}
}

func TestServes(t *testing.T) {
	h := handler()
	for path, want := range map[string]int{
		"/openapi/v2": 200, "/openapi/v3": 200, "/openapi/v3/api/v1": 200, "/openapi/v3/apis/policy/v1": 200,
		"/openapi/v3/apis/apps/v1": 404, "/openapi/v3/": 404,
		"/openapi": 0, "/openapi/v4": 0, "/openapi/v2/api": 0, "/api/v1": 0,
	} {
		w := ask(h, path, "")
		if h.Serves(path) != (want != 0) || want != 0 && w.Code != want || want == 0 && w.Code != 404 {
			t.Errorf("%s: served %v, answered %d, want %d", path, h.Serves(path), w.Code, want)
		}
	}
	if w := ask(h, "/openapi/v2", "text/html"); w.Code != http.StatusNotAcceptable {
		t.Errorf("HTML is answered with %d", w.Code)
	}
}

// Nothing is read before the first request.
func TestNewIsLazy(t *testing.T) {
	var asked atomic.Int64 // one document is made beside the other
	h := handler(func(o *openapi.Options) {
		o.Resources = customs
		o.Definitions = func(timeline.Resource) []byte { asked.Add(1); return nil }
	})
	if asked.Load() != 0 {
		t.Error("New has asked for definitions")
	}
	if ask(h, "/openapi/v3", ""); asked.Load() == 0 {
		t.Error("the index was made without definitions")
	}
}
