package discovery_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/version"

	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
)

func TestVersion(t *testing.T) {
	for server, want := range map[string]version.Info{
		"v1.36.3":             {Major: "1", Minor: "36", GitVersion: "v1.36.3"},
		"v1.33.4-eks-1a2b3c":  {Major: "1", Minor: "33+", GitVersion: "v1.33.4-eks-1a2b3c"},
		"v1.31.2-gke.1115000": {Major: "1", Minor: "31+", GitVersion: "v1.31.2-gke.1115000"},
		"v1.32.1+k3s1":        {Major: "1", Minor: "32", GitVersion: "v1.32.1+k3s1"},
		"":                    {Major: "1", Minor: "36", GitVersion: "v1.36.0"},
		"latest":              {Major: "1", Minor: "36", GitVersion: "v1.36.0"},
	} {
		want.BuildDate, want.GoVersion, want.Compiler, want.Platform = "1970-01-01T00:00:00Z", runtime.Version(), runtime.Compiler, runtime.GOOS+"/"+runtime.GOARCH
		var got version.Info
		h := handler(t, func(o *discovery.Options) { o.ServerVersion = server })
		if err := json.Unmarshal([]byte(body(h, "/version", "")), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", server, diff)
		}
	}
}

func TestHealth(t *testing.T) {
	notReady := handler(t, func(o *discovery.Options) { o.Ready = func() error { return errors.New("no tape") } })
	ready := handler(t, func(o *discovery.Options) { o.Ready = func() error { return nil } })
	for _, c := range []struct {
		h    *discovery.Handler
		path string
		code int
		text string
	}{
		{ready, "/healthz", 200, "ok"},
		{ready, "/livez?verbose", 200, "[+]ping ok\nlivez check passed"},
		{ready, "/readyz?verbose=1", 200, "[+]ping ok\n[+]replay ok\nreadyz check passed"},
		{ready, "/readyz/replay", 200, "ok"},
		{ready, "/livez/replay", 404, "404 page not found"},
		{ready, "/readyz?verbose&exclude=ping&exclude=etcd", 200, "[+]ping excluded: ok\n[+]replay ok\nwarn: some health checks cannot be excluded: no matches for \"etcd\"\nreadyz check passed"},
		{notReady, "/readyz", 500, "[+]ping ok\n[-]replay failed: reason withheld\nreadyz check failed"},
		{notReady, "/readyz/replay", 500, "internal server error: no tape"},
		{notReady, "/readyz?exclude=replay", 200, "ok"},
		{notReady, "/livez", 200, "ok"},
	} {
		w := ask(c.h, http.MethodGet, c.path, "")
		if got := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != c.code || got != c.text {
			t.Errorf("%s: %d %q, want %d %q", c.path, w.Code, got, c.code, c.text)
		}
	}
}

func TestRootListsWhatIsServed(t *testing.T) {
	h := handler(t)
	var root struct {
		Paths []string `json:"paths"`
	}
	if err := json.Unmarshal([]byte(body(h, "/", "")), &root); err != nil {
		t.Fatal(err)
	}
	for _, path := range root.Paths {
		if strings.HasPrefix(path, "/openapi/") {
			continue // served by package openapi
		}
		if w := ask(h, http.MethodGet, path, ""); w.Code != http.StatusOK {
			t.Errorf("%s is listed: answered %d", path, w.Code)
		}
	}
	if len(root.Paths) < 20 {
		t.Errorf("paths: %v", root.Paths)
	}
}

func TestPaths(t *testing.T) {
	h := handler(t)
	for path, want := range map[string]int{
		"/": 200, "/api": 200, "/api/": 200, "/api/v1": 200, "/api/v1/": 200, "/apis/policy": 200, "/apis/policy/v1": 200, "/version": 200,
		"/version/": 200, "/livez/ping": 200,
		"/apis/nope": 404, "/apis/nope/v1": 404, "/api/v1/nodes": 404, "/apis/policy/v1/poddisruptionbudgets": 404, "/openapi/v3": 404,
		"/livezzz": 404, "/versions": 404, "/apisx": 404,
	} {
		if w := ask(h, http.MethodGet, path, ""); w.Code != want {
			t.Errorf("%s: answered %d, want %d", path, w.Code, want)
		}
	}
}

// Paths and headers come from anyone; an answer is all that they may lead to.
func FuzzAnswers(f *testing.F) {
	h := handler(f)
	for _, path := range []string{"", "/", "//", "/apis//", "/apis/policy/v1/x/y", "/api/v1/?", "/healthz/ping/x", "api", "/apis/\x00"} {
		f.Add("GET", path, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;q=2,;,=")
	}
	f.Fuzz(func(t *testing.T, method, path, accept string) {
		r := &http.Request{Method: method, Header: http.Header{"Accept": {accept}}, URL: &url.URL{Path: path}}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code < 200 || w.Code > 500 {
			t.Errorf("%q %q with Accept %q: %d", method, path, accept, w.Code)
		}
	})
}
