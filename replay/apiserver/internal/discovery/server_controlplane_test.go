//go:build controlplane

package discovery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay/apiserver/internal/discovery"
	"github.com/nodesim/nodesim/timeline"
)

const aggregatedJSON = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// unserved are subresources of the real server that a tape has nothing to say to.
var unserved = []string{"approval", "attach", "ephemeralcontainers", "exec", "finalize", "log", "portforward", "proxy", "resize", "token"}

// A realServer is kube-apiserver with a custom resource.
type realServer struct {
	t      *testing.T
	client *http.Client
	host   string
}

func realOne(t *testing.T) realServer {
	t.Helper()
	client, url := testcluster.Shared(t).HTTP(t)
	s := realServer{t: t, client: client, host: url}
	if code, _, _ := s.ask(http.MethodGet, definitionPath, "", ""); code == http.StatusNotFound {
		code, _, text := s.ask(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", definedWidgets)
		if code != http.StatusCreated {
			t.Fatalf("create the definition: %d %s", code, text)
		}
	}
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) {
		_, _, text := s.ask(http.MethodGet, "/apis", aggregatedJSON, "")
		code, _, _ := s.ask(http.MethodGet, "/apis/example.dev/v1beta1", "", "")
		return strings.Contains(text, "example.dev") && code == http.StatusOK, nil
	})
	if err != nil {
		t.Fatalf("the custom resource isn't discovered: %v", err)
	}
	return s
}

const definitionPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.dev"

const definedWidgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.dev"},"spec":{
"group":"example.dev","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget","shortNames":["wd"],"categories":["all","toys"]},"versions":[
{"name":"v1beta1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
 "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}},
{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

func (s realServer) ask(method, path, accept, body string) (int, http.Header, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.host+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

func (s realServer) read(path, accept string, into any) {
	s.t.Helper()
	code, _, text := s.ask(http.MethodGet, path, accept, "")
	if code != http.StatusOK {
		s.t.Fatalf("%s: %d %s", path, code, text)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		s.t.Fatal(err)
	}
}

// ours is a handler for every resource with objects that the real server has.
func (s realServer) ours() *discovery.Handler {
	s.t.Helper()
	var all []timeline.Resource
	for _, root := range []string{"/api", "/apis"} {
		var list apidiscovery.APIGroupDiscoveryList
		s.read(root, aggregatedJSON, &list)
		for _, g := range list.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					if slices.Contains(r.Verbs, "list") {
						all = append(all, timeline.Resource{Group: g.Name, Version: v.Version, Kind: r.ResponseKind.Kind, Resource: r.Resource, Namespaced: r.Scope == apidiscovery.ScopeNamespace})
					}
				}
			}
		}
	}
	_, _, definition := s.ask(http.MethodGet, definitionPath, "", "")
	h, err := discovery.New(discovery.Options{
		Resources: all, Writes: true, ServerVersion: "v1.36.3",
		Definitions: func(timeline.Resource) []byte { return []byte(definition) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

// served leaves the entries that a replay has.
func served(list []metav1.APIResource) []metav1.APIResource {
	return slices.DeleteFunc(list, func(r metav1.APIResource) bool {
		_, sub, isSub := strings.Cut(r.Name, "/")
		return isSub && slices.Contains(unserved, sub) || !isSub && !slices.Contains(r.Verbs, "list")
	})
}

// Every entry of every list of resources is the real server's, in all fields and in its order, in both forms.
func TestDocumentsAreTheServers(t *testing.T) {
	s := realOne(t)
	h := s.ours()
	var theirs, ours metav1.APIGroupList
	s.read("/apis", "", &theirs)
	unmarshal(t, body(h, "/apis", ""), &ours)
	theirs.Groups = slices.DeleteFunc(theirs.Groups, func(g metav1.APIGroup) bool {
		return g.Name == "authentication.k8s.io" || g.Name == "authorization.k8s.io" // they have no objects
	})
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("/apis (-server +replay):\n%s", diff)
	}
	paths, entries := []string{"/api/v1"}, 0
	for _, g := range theirs.Groups {
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+v.GroupVersion)
		}
	}
	for _, path := range paths {
		var theirs, ours metav1.APIResourceList
		s.read(path, "", &theirs)
		unmarshal(t, body(h, path, ""), &ours)
		theirs.APIResources = served(theirs.APIResources)
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s (-server +replay):\n%s", path, diff)
		}
		entries += len(ours.APIResources)
	}
	if entries < 90 {
		t.Errorf("only %d entries were compared", entries)
	}
	for _, root := range []string{"/api", "/apis"} {
		var theirs, ours apidiscovery.APIGroupDiscoveryList
		s.read(root, aggregatedJSON, &theirs)
		unmarshal(t, body(h, root, aggregatedJSON), &ours)
		theirs.Items = slices.DeleteFunc(theirs.Items, func(g apidiscovery.APIGroupDiscovery) bool {
			return g.Name == "authentication.k8s.io" || g.Name == "authorization.k8s.io"
		})
		for i := range theirs.Items {
			for j := range theirs.Items[i].Versions {
				v := &theirs.Items[i].Versions[j]
				v.Resources = slices.DeleteFunc(v.Resources, func(r apidiscovery.APIResourceDiscovery) bool { return !slices.Contains(r.Verbs, "list") })
				for k := range v.Resources {
					subs := slices.DeleteFunc(v.Resources[k].Subresources, func(r apidiscovery.APISubresourceDiscovery) bool { return slices.Contains(unserved, r.Subresource) })
					if len(subs) == 0 {
						subs = nil
					}
					v.Resources[k].Subresources = subs
				}
			}
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s, aggregated (-server +replay):\n%s", root, diff)
		}
	}
}

func unmarshal(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// Refusals, headers and encodings are the real server's.
func TestAnswersAreTheServers(t *testing.T) {
	s := realOne(t)
	h := s.ours()
	count := 0
	for _, path := range []string{
		"/", "/api", "/api/", "/apis", "/apis/", "/api/v1", "/api/v1/", "/api/v2", "/apis/policy", "/apis/policy/", "/apis/policy/v1", "/apis/policy/v1/", "/apis/policy/v9",
		"/apis/nope", "/apis/nope/v1", "/apis/example.dev", "/apis/example.dev/v1", "/apis/example.dev/v1/", "/apis/example.dev/v9",
		"/version", "/version/", "/nope", "/api/v2/nodes", "/apis/policy/v9/x", "/apis/policy/v1/x", "/apis/nope/v1/x", "/apis/example.dev/v1/x",
		"/healthz", "/healthz/", "/livez", "/readyz", "/healthz/ping", "/livez/ping", "/readyz/ping", "/livez/nope", "/readyz?exclude=ping",
	} {
		for _, c := range []struct{ method, accept string }{
			{http.MethodGet, ""}, {http.MethodGet, "*/*"}, {http.MethodGet, "application/yaml"}, {http.MethodGet, "application/vnd.kubernetes.protobuf"},
			{http.MethodGet, "text/html"}, {http.MethodGet, "application/cbor"}, {http.MethodGet, "application/json;as=Table;v=v1;g=meta.k8s.io"},
			{http.MethodGet, aggregatedJSON}, {http.MethodGet, strings.Replace(aggregatedJSON, "json", "vnd.kubernetes.protobuf", 1)},
			{http.MethodGet, "application/json," + aggregatedJSON}, {http.MethodGet, strings.Replace(aggregatedJSON, "v2", "v2beta1", 1)},
			{http.MethodGet, strings.Replace(aggregatedJSON, "v2", "v2beta1", 1) + ",application/json"}, {http.MethodGet, "application/json;profile=x,*/*;q=0.1"},
			{http.MethodHead, ""}, {http.MethodPost, ""}, {http.MethodPut, "application/vnd.kubernetes.protobuf"}, {http.MethodDelete, ""}, {http.MethodOptions, ""}, {http.MethodPatch, "text/html"},
		} {
			count++
			if reason := different(s, h, c.method, path, c.accept); reason != "" {
				t.Errorf("%s %s, Accept %q: %s", c.method, path, c.accept, reason)
			}
		}
	}
	if count < 600 {
		t.Errorf("only %d requests were compared", count)
	}
}

// different says how a replay's answer isn't the server's. What a success says is the business of another test, since
// a replay has fewer resources.
func different(s realServer, h http.Handler, method, path, accept string) string {
	code, header, text := s.ask(method, path, accept, "")
	w := askOnWire(s.t, h, method, path, accept)
	defer func() { _ = w.Body.Close() }()
	ours, _ := io.ReadAll(w.Body)
	if code != w.StatusCode {
		return fmt.Sprintf("the server answers %d %.200q, a replay %d %.200q", code, text, w.StatusCode, ours)
	}
	for _, name := range []string{"Content-Type", "Cache-Control", "Vary", "X-Content-Type-Options", "Allow"} {
		if diff := cmp.Diff(header.Get(name), w.Header.Get(name)); diff != "" {
			return name + ":\n" + diff
		}
	}
	if (header.Get("ETag") == "") != (w.Header.Get("ETag") == "") {
		return "ETag: " + header.Get("ETag") + " and " + w.Header.Get("ETag")
	}
	if code >= http.StatusBadRequest || !strings.HasPrefix(path, "/api") && !strings.HasPrefix(path, "/version") && path != "/" {
		return cmp.Diff(text, string(ours))
	}
	return ""
}

// askOnWire asks through a socket: net/http drops the body of a HEAD and sniffs types there.
func askOnWire(t *testing.T, h http.Handler, method, path, accept string) *http.Response {
	server := httptest.NewServer(h)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}
