package route

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
)

var theirs = request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// same compares with kube-apiserver's own.
func same(t *testing.T, method, path, query string) (verb string) {
	t.Helper()
	req := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}}
	want, wantErr := theirs.NewRequestInfo(req)
	got, err := Of(req)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%s %s?%s: found error %v: want %v", method, path, query, err, wantErr)
	}
	is := Info{
		IsResourceRequest: want.IsResourceRequest, Verb: want.Verb, APIGroup: want.APIGroup, APIVersion: want.APIVersion,
		Namespace: want.Namespace, Resource: want.Resource, Name: want.Name, Subresource: want.Subresource, Parts: want.Parts,
	}
	if diff := cmp.Diff(&is, got); diff != "" {
		t.Errorf("%s %s?%s (-kube-apiserver +ours):\n%s", method, path, query, diff)
	}
	return got.Verb
}

var (
	methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "get", ""}
	words   = []string{"api", "apis", "v1", "apps", "namespaces", "watch", "proxy", "status", "finalize", "nodes", "pods", "a", "", "default", "%", "log"}
	queries = []string{
		"", "watch=true", "watch=1", "watch=0", "watch=false", "watch=", "watch=what", "watch=True&limit=x", "watch=0&limit=x", "limit=x",
		"fieldSelector=metadata.name%3Da", "fieldSelector=metadata.name%3D..", "fieldSelector=metadata.name%3Da,spec.x%3Db&watch=1",
		"fieldSelector=metadata.name!%3Da", "fieldSelector=%3D%3D%3D&watch=1", "labelSelector=a%3Db", "labelSelector=((&watch=true", "%zz",
	}
)

// TestOf compares what many requests ask for with what kube-apiserver takes them for.
func TestOf(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 37))
	seen := map[string]int{}
	for range 20_000 {
		var path strings.Builder
		for range r.IntN(9) {
			path.WriteString("/" + words[r.IntN(len(words))])
		}
		where := path.String()
		if r.IntN(2) == 0 {
			where = []string{"/api/v1", "/apis/apps/v1"}[r.IntN(2)] + where
		}
		seen[same(t, methods[r.IntN(len(methods))], where, queries[r.IntN(len(queries))])]++
		if t.Failed() {
			return
		}
	}
	for _, verb := range []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy", ""} {
		if seen[verb] < 20 {
			t.Errorf("verb %q: found %d requests that ask for it: want 20 at least", verb, seen[verb])
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("GET", "/api/v1/namespaces/default/pods/a/log", "watch=1")
	f.Fuzz(func(t *testing.T, method, path, query string) { same(t, method, path, query) })
}
