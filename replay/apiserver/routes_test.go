package apiserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A client that asks for what a kubelet would answer is told that there is none.
func TestLogsAreRefusedWithTheReason(t *testing.T) {
	s, _ := demo(t)
	for path, want := range map[string]string{
		"/api/v1/namespaces/shop/pods/web-1/log":   `get log of pods is not allowed: this is a replay of tape \"demo\": no containers run in it`,
		"/api/v1/nodes/ip-10-0-1-44/proxy/metrics": "the server could not find the requested resource",
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %d %s, want %s", path, w.Code, w.Body, want)
		}
	}
}
