package recorder

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const (
	aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	coreGroup  = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1","resources":[
		{"resource":"nodes","responseKind":{"group":"","version":"v1","kind":"Node"},"scope":"Cluster","singularResource":"node","verbs":["list","watch"],"shortNames":["no"],
		 "subresources":[{"subresource":"status","responseKind":{"group":"","version":"v1","kind":"Node"},"verbs":["get"]}]},
		{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["list","watch"],"shortNames":["po"]},
		{"resource":"nothing","scope":"Namespaced","singularResource":"","verbs":["list"]}]}]}]}`
	otherGroups = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
		{"metadata":{"name":"autoscaling"},"versions":[
			{"version":"v2","resources":[{"resource":"horizontalpodautoscalers","responseKind":{"group":"","version":"v2","kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","singularResource":"horizontalpodautoscaler","verbs":["list","watch"],"shortNames":["hpa"]}]},
			{"version":"v1","resources":[
				{"resource":"horizontalpodautoscalers","responseKind":{"group":"","version":"v1","kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","singularResource":"horizontalpodautoscaler","verbs":["list"]},
				{"resource":"olds","responseKind":{"group":"","version":"v1","kind":"Old"},"scope":"Cluster","singularResource":"old","verbs":["list"]}]}]},
		{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}`
)

// plain are the answers of a server that lists groups alone.
var plain = map[string]string{
	"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
	"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"nodes","singularName":"node","kind":"Node","verbs":["list","watch"],"shortNames":["no"]},{"name":"nodes/status","kind":"Node","verbs":["get"]},{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["list","watch"],"shortNames":["po"]}]}`,
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[
		{"name":"autoscaling","versions":[{"groupVersion":"autoscaling/v1","version":"v1"},{"groupVersion":"autoscaling/v2","version":"v2"}],"preferredVersion":{"groupVersion":"autoscaling/v2","version":"v2"}},
		{"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}],"preferredVersion":{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}}]}`,
	"/apis/autoscaling/v1": `{"kind":"APIResourceList","groupVersion":"autoscaling/v1","resources":[{"name":"horizontalpodautoscalers","singularName":"horizontalpodautoscaler","namespaced":true,"kind":"HorizontalPodAutoscaler","verbs":["list"]},{"name":"olds","singularName":"old","kind":"Old","verbs":["list"]}]}`,
	"/apis/autoscaling/v2": `{"kind":"APIResourceList","groupVersion":"autoscaling/v2","resources":[{"name":"horizontalpodautoscalers","singularName":"horizontalpodautoscaler","namespaced":true,"kind":"HorizontalPodAutoscaler","verbs":["list","watch"],"shortNames":["hpa"]}]}`,
}

// TestDiscover compares what is found with what client-go's discovery client finds, on servers with and without documents of
// all resources, and with no core group.
func TestDiscover(t *testing.T) {
	whole := map[string]string{"/api": coreGroup, "/apis": otherGroups}
	for _, c := range []struct {
		name    string
		answers map[string]string
		failed  []string
		entries int
	}{
		{"documents", whole, []string{"metrics.k8s.io/v1beta1"}, 4},
		{"lists", plain, []string{"metrics.k8s.io/v1beta1"}, 4},
		{"document and lists", map[string]string{
			"/api": coreGroup, "/apis": plain["/apis"], "/api/v1": plain["/api/v1"],
			"/apis/autoscaling/v1": plain["/apis/autoscaling/v1"], "/apis/autoscaling/v2": plain["/apis/autoscaling/v2"],
		}, []string{"metrics.k8s.io/v1beta1"}, 4},
		{"no core group", map[string]string{"/apis": otherGroups}, []string{"metrics.k8s.io/v1beta1"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := offering(t, c.answers)
			client, err := newClient(config)
			if err != nil {
				t.Fatal(err)
			}
			defer client.close()
			found, err := discover(t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found.failed, c.failed) || len(found.entries) != c.entries {
				t.Errorf("found %d resources, and not available %q: want %d and %q", len(found.entries), found.failed, c.entries, c.failed)
			}
			var got []string
			for _, e := range found.entries {
				got = append(got, spelled(e.APIVersion(), e.Resource.Resource, e.Kind, e.Namespaced, e.verbs, e.also))
			}
			slices.Sort(got)
			if want := theirs(t, config); !slices.Equal(got, want) {
				t.Errorf("found\n%s\nclient-go finds\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestDiscoverNothing proves that a server that has no discovery is an error that says so.
func TestDiscoverNothing(t *testing.T) {
	client, err := newClient(offering(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer client.close()
	_, err = discover(t.Context(), client)
	var s *statusError
	if !errors.As(err, &s) || s.Code != http.StatusNotFound {
		t.Errorf("found error %v, want a 404", err)
	}
}

// offering is the config of a server that has these documents of discovery.
func offering(t *testing.T, answers map[string]string) *rest.Config {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(body, "APIGroupDiscoveryList") {
			if !strings.HasPrefix(r.Header.Get("Accept"), aggregated) {
				t.Errorf("%s: found Accept %q, want a document of all resources first", r.URL, r.Header.Get("Accept"))
			}
			w.Header().Set("Content-Type", aggregated)
		}
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// theirs is what client-go finds.
func theirs(t *testing.T, config *rest.Config) []string {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := client.ServerPreferredResources()
	var partial *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partial) {
		t.Fatal(err)
	}
	var out []string
	for _, list := range lists {
		for _, r := range list.APIResources {
			out = append(out, spelled(list.GroupVersion, r.Name, r.Kind, r.Namespaced, r.Verbs, append([]string{r.SingularName, strings.ToLower(r.Kind)}, r.ShortNames...)))
		}
	}
	slices.Sort(out)
	return out
}

func spelled(version, name, kind string, namespaced bool, verbs metav1.Verbs, also []string) string {
	scope := "cluster"
	if namespaced {
		scope = "namespace"
	}
	return strings.Join(append([]string{version, name, kind, scope, strings.Join(verbs, "+")}, also...), " ")
}
