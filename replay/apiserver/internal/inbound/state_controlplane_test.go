//go:build controlplane

package inbound_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// server is a real API server, asked over HTTP.
type server struct {
	t      testing.TB
	client *http.Client
	host   string
}

func newServer(t testing.TB, config *rest.Config) *server {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &server{t, client, strings.TrimSuffix(config.Host, "/")}
}

func (s *server) ask(c call) (*http.Response, []byte) {
	s.t.Helper()
	req := c.request(s.t, s.host)
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err = firstOf(err, resp.Body.Close()); err != nil {
		s.t.Fatal(err)
	}
	return resp, body
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// must is ask of what has to be accepted.
func (s *server) must(c call) []byte {
	s.t.Helper()
	resp, body := s.ask(c)
	if resp.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %s", c.method, c.path, resp.StatusCode, body)
	}
	return body
}

// put makes an object and then its status, which a create doesn't set.
func (s *server) put(path, object, status string) {
	s.t.Helper()
	made := s.must(call{method: "POST", path: path, body: object})
	if status == "" {
		return
	}
	var u unstructured.Unstructured
	if err := json.Unmarshal(made, &u.Object); err != nil {
		s.t.Fatal(err)
	}
	s.must(call{method: "PATCH", path: path + "/" + u.GetName() + "/status", media: merge, body: `{"status":` + status + `}`})
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// fill makes what the writes are about.
func (s *server) fill(ctx context.Context) {
	s.t.Helper()
	s.put("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition, "")
	s.put("/api/v1/namespaces", `{"metadata":{"name":"team"}}`, "")
	s.put("/api/v1/nodes", `{"metadata":{"name":"old","labels":{"pool":"x"}},"spec":{"providerID":"aws:///old","podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"],
		"taints":[{"key":"team","value":"a","effect":"NoSchedule"}]}}`, `{"conditions":[{"type":"Ready","status":"True"}]}`)
	s.put("/api/v1/nodes", `{"metadata":{"name":"new","finalizers":["example.com/hold"]}}`, "")
	running := `{"phase":"Running","qosClass":"BestEffort","conditions":[{"type":"Ready","status":"True"}]}`
	for name, status := range map[string]string{
		"web": running, "waits": "", "done": `{"phase":"Succeeded"}`, "sick": `{"phase":"Running"}`,
		"guarded": running, "twice": running, "free": running, "behind": running, "dying": running, "always": `{"phase":"Running"}`,
	} {
		on := `"nodeName":"old",`
		if name == "waits" {
			on = ""
		}
		s.put("/api/v1/namespaces/team/pods", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":%q}},"spec":{%s"terminationGracePeriodSeconds":30,
			"containers":[{"name":"main","image":"web:1"}]}}`, name, name, on), status)
	}
	// It has an hour, so that what is asked about it doesn't depend on how long the test has run.
	s.must(call{method: "DELETE", path: "/api/v1/namespaces/team/pods/dying", query: "gracePeriodSeconds=3600"})
	spent := `{"disruptionsAllowed":0,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1,"observedGeneration":1}`
	budget := func(name, app, more, status string) {
		s.put("/apis/policy/v1/namespaces/team/poddisruptionbudgets", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"minAvailable":1,%s"selector":{"matchLabels":{"app":%q}}}}`, name, more, app), status)
	}
	budget("guard", "guarded", "", spent)
	budget("one", "twice", "", spent)
	budget("two", "twice", "", spent)
	budget("free", "free", "", `{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2,"observedGeneration":1}`)
	budget("behind", "behind", "", `{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2,"observedGeneration":0}`)
	budget("sick", "sick", "", `{"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":1,"expectedPods":1,"observedGeneration":1}`)
	budget("always", "always", `"unhealthyPodEvictionPolicy":"AlwaysAllow",`, spent)
	s.put("/apis/apps/v1/namespaces/team/deployments", `{"metadata":{"name":"web"},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"web:1"}]}}}}`, "")
	s.put("/apis/coordination.k8s.io/v1/namespaces/team/leases", `{"metadata":{"name":"lock"},"spec":{"holderIdentity":"me"}}`, "")
	s.put("/api/v1/namespaces/team/configmaps", `{"metadata":{"name":"conf"},"data":{"a":"1"}}`, "")
	s.established(ctx)
	s.put("/apis/example.com/v1/namespaces/team/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}`, "")
}

// established waits until custom resources are served.
func (s *server) established(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if resp, _ := s.ask(call{method: "GET", path: "/apis/example.com/v1/namespaces/team/widgets"}); resp.StatusCode == http.StatusOK {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatal("widgets aren't served: ", ctx.Err())
		}
	}
}

var kinds = []timeline.Resource{
	{Version: "v1", Kind: "Namespace", Resource: "namespaces"},
	{Version: "v1", Kind: "Node", Resource: "nodes"},
	{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
	{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
	{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Namespaced: true},
	{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true},
}

// copied is the same state as a replay, and what represents versions and UIDs
// in the calls.
func (s *server) copied() (timeline.Source, *strings.Replacer) {
	s.t.Helper()
	h := &timeline.Header{Metadata: timeline.Metadata{Name: "copy", Start: timeline.Time{Time: time.Now()}}, Resources: kinds}
	var events []timeline.Event
	var known []string
	for _, r := range kinds {
		path := "/apis/" + r.APIVersion()
		if r.Group == "" {
			path = "/api/v1"
		}
		var list unstructured.UnstructuredList
		if err := list.UnmarshalJSON(s.must(call{method: "GET", path: path + "/" + r.Resource})); err != nil {
			s.t.Fatal(err)
		}
		for _, o := range list.Items {
			o.SetManagedFields(nil)
			raw, err := json.Marshal(o.Object)
			if err != nil {
				s.t.Fatal(err)
			}
			events = append(events, timeline.Event{Type: timeline.Added, Resource: r.String(), Namespace: o.GetNamespace(), Name: o.GetName(),
				UID: string(o.GetUID()), RV: o.GetResourceVersion(), Object: raw})
			known = append(known, "$RV("+r.Resource+"/"+o.GetName()+")", o.GetResourceVersion(), "$UID("+r.Resource+"/"+o.GetName()+")", string(o.GetUID()))
			o.SetLabels(map[string]string{"app": o.GetName(), "changed": "yes"})
			changed, err := json.Marshal(o.Object)
			if err != nil {
				s.t.Fatal(err)
			}
			known = append(known, "$AS("+r.Resource+"/"+o.GetName()+")", string(raw), "$CHANGED("+r.Resource+"/"+o.GetName()+")", string(changed))
		}
		events = append(events, timeline.Event{Type: timeline.Sync, Resource: r.String(), RV: list.GetResourceVersion()})
	}
	return replay.Events(h, events), strings.NewReplacer(known...)
}
