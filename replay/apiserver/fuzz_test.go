package apiserver_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/replay/apiserver"
)

// most is more than the demo's largest answer, its OpenAPI document.
const most = 16 << 20

// Whatever a client sends, it is answered: without a panic, without an error of
// the server's but 504, the refusal of a version from the future, and
// within bounds.
func FuzzServeHTTP(f *testing.F) {
	for _, seed := range [][4]string{
		{"GET", "/api/v1/nodes?watch=true&resourceVersion=0", "application/json;as=Table;v=v1;g=meta.k8s.io", ""},
		{"GET", "/api/v1/namespaces/shop/pods?labelSelector=a in (b&limit=-1", "application/vnd.kubernetes.protobuf", ""},
		{"GET", "/api/v1/pods?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLyJ9&fieldSelector=spec.nodeName!=", "*/*;q=x", ""},
		{"GET", "/api/v1/nodes?sendInitialEvents=1&resourceVersionMatch=NotOlderThan&resourceVersion=99999999999999999999&watch", "", ""},
		{"POST", "/api/v1/namespaces/shop/pods/web/eviction", "", `{"kind":"Eviction","apiVersion":"policy/v1"}`},
		{"PATCH", "/api/v1/nodes/ip-10-0-1-12/status?dryRun=All", "application/yaml", `[{"op":"remove","path":"/spec"}]`},
		{"PUT", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web", "text/html", "\x00k8s"},
		{"DELETE", "/api/v1/nodes?labelSelector==", ",;,", "null"},
		{"OPTIONS", "//..%2f/apis/../watch/%00", "application/json;as=;g=;v=", ""},
		{"GET", "/openapi/v3/apis//v1?hash=1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf", ""},
		{"GET", "/apis", "application/json;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList;v=v2", ""},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	f.Fuzz(func(t *testing.T, method, target, accept, body string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") || method == "" || strings.ContainsAny(method, " \r\n\t") {
			return // net/http answers these
		}
		for _, opts := range [][]apiserver.Option{nil, {apiserver.RecordWrites(func(apiserver.Write) {})}} {
			s, _ := demo(t, opts...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if method == http.MethodGet {
				cancel() // a watch ends where it would wait
			}
			req := (&http.Request{
				Method: method, URL: u, RequestURI: target, Host: "localhost", ProtoMajor: 1, ProtoMinor: 1,
				Header: http.Header{"Accept": {accept}, "Content-Type": {accept}}, Body: http.NoBody,
			}).WithContext(ctx)
			if body != "" {
				req.Body = readCloser{strings.NewReader(body)}
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, req)
			if w.Code >= 500 && w.Code != http.StatusGatewayTimeout {
				t.Fatalf("%s %s: %d\n%.500s", method, target, w.Code, w.Body)
			}
			if w.Body.Len() > most {
				t.Fatalf("%s %s: %d bytes", method, target, w.Body.Len())
			}
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
