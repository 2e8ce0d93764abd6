//go:build controlplane

package apiserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/timeline"
)

// step is a write of a script.
type step struct{ method, path, body string }

const (
	inTeam  = "/api/v1/namespaces/team/"
	budgets = "/apis/policy/v1/namespaces/team/poddisruptionbudgets"
	leases  = "/apis/coordination.k8s.io/v1/namespaces/team/leases"
	deploys = "/apis/apps/v1/namespaces/team/deployments"
	daemons = "/apis/apps/v1/namespaces/team/daemonsets"
	jobs    = "/apis/batch/v1/namespaces/team/jobs"
	last    = `{"metadata":{"labels":{"last":"yes"}}}`
	once    = `"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"job:1"}]}`
	web     = `"spec":{"terminationGracePeriodSeconds":30,"containers":[{"name":"main","image":"web:1","imagePullPolicy":"Always"}]}`
)

// steps is what clients do to a cluster, one after the other.
var steps = []step{
	{"POST", "/api/v1/nodes", `{"metadata":{"name":"n","labels":{"topology.kubernetes.io/zone":"z"}}}`},
	{"PATCH", "/api/v1/nodes/n", `{"spec":{"unschedulable":true}}`},
	{"PATCH", "/api/v1/nodes/n", `{"spec":{"unschedulable":true}}`},
	{"PATCH", "/api/v1/nodes/n/status", `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"R"}]}}`},

	{"POST", inTeam + "configmaps", `{"metadata":{"name":"c","finalizers":["example.com/a"]},"data":{"a":"1"}}`},
	{"POST", inTeam + "configmaps", `{"metadata":{"name":"c"}}`},
	{"PUT", inTeam + "configmaps/c", `{"metadata":{"name":"c","finalizers":["example.com/a"]},"data":{"a":"2"}}`},
	{"PUT", inTeam + "configmaps/c", `{"metadata":{"name":"c","resourceVersion":"1"},"data":{"a":"3"}}`},
	{"PUT", inTeam + "configmaps/c", `{"metadata":{"name":"c","uid":"other"},"data":{"a":"3"}}`},
	{"DELETE", inTeam + "configmaps/c", `{"preconditions":{"resourceVersion":"1"}}`},
	{"DELETE", inTeam + "configmaps/c", ``},
	{"DELETE", inTeam + "configmaps/c", ``},
	{"POST", inTeam + "configmaps", `{"metadata":{"name":"c"}}`},
	{"PATCH", inTeam + "configmaps/c", `{"metadata":{"finalizers":["example.com/b"]}}`},
	{"PATCH", inTeam + "configmaps/c", `{"data":{"b":"3"}}`},
	{"PATCH", inTeam + "configmaps/c", `{"metadata":{"finalizers":null}}`},
	{"PATCH", inTeam + "configmaps/c", `{"metadata":{"finalizers":null}}`},
	{"POST", inTeam + "configmaps", `{"metadata":{"name":"d"}}`},
	{"DELETE", inTeam + "configmaps/d?propagationPolicy=Foreground", ``},
	{"DELETE", inTeam + "configmaps/d?propagationPolicy=Background", ``},
	{"POST", inTeam + "configmaps", `{"metadata":{"name":"e","labels":{"l":"1"}}}`},
	{"POST", inTeam + "configmaps", `{"metadata":{"name":"f","labels":{"l":"1"},"finalizers":["example.com/a"]}}`},
	{"DELETE", inTeam + "configmaps?labelSelector=l=1&dryRun=All", ``},
	{"DELETE", inTeam + "configmaps?labelSelector=l=1", ``},

	{"POST", inTeam + "pods", `{"metadata":{"name":"p","labels":{"app":"web"}},` + web + `}`},
	{"POST", inTeam + "pods/p/binding", `{"metadata":{"name":"p","annotations":{"a":"b"}},"target":{"kind":"Node","name":"n"}}`},
	{"POST", inTeam + "pods/p/binding", `{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}`},
	{"PATCH", inTeam + "pods/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`},
	{"PATCH", inTeam + "pods/p", `{"metadata":{"labels":{"more":"yes"}}}`},
	{"PATCH", inTeam + "pods/p", `{"spec":{"activeDeadlineSeconds":100}}`},
	{"POST", budgets, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}`},
	{"POST", inTeam + "pods/p/eviction", `{"metadata":{"name":"p"}}`},
	{"PATCH", budgets + "/b/status", `{"status":{"disruptionsAllowed":1,"currentHealthy":2,"desiredHealthy":1,"expectedPods":2,"observedGeneration":1}}`},
	{"POST", inTeam + "pods/p/eviction?dryRun=All", `{"metadata":{"name":"p"}}`},
	{"POST", inTeam + "pods/p/eviction", `{"metadata":{"name":"p"},"deleteOptions":{"preconditions":{"uid":"other"}}}`},
	{"PATCH", budgets + "/b/status", `{"status":{"disruptionsAllowed":1,"disruptedPods":null}}`},
	{"POST", inTeam + "pods/p/eviction", `{"metadata":{"name":"p"}}`},
	{"POST", inTeam + "pods/p/eviction", `{"metadata":{"name":"p"}}`},
	{"DELETE", inTeam + "pods/p?gracePeriodSeconds=10", ``},
	{"DELETE", inTeam + "pods/p?gracePeriodSeconds=0", ``},
	{"POST", inTeam + "pods", `{"metadata":{"name":"q","labels":{"app":"web"},"finalizers":["example.com/a"]},` + web + `}`},
	{"DELETE", inTeam + "pods/q", ``},
	{"PATCH", inTeam + "pods/q", `{"metadata":{"finalizers":null}}`},
	{"POST", inTeam + "pods", `{"metadata":{"name":"r"},` + web + `}`},
	{"DELETE", inTeam + "pods/r", ``},
	{"PATCH", budgets + "/b", `{"spec":{"minAvailable":2}}`},

	{"POST", deploys, `{"metadata":{"name":"w"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` + web + `}}}`},
	{"PATCH", deploys + "/w/scale", `{"spec":{"replicas":4}}`},
	{"PATCH", deploys + "/w", `{"metadata":{"labels":{"more":"yes"}}}`},
	{"PATCH", deploys + "/w/status", `{"status":{"replicas":4}}`},
	{"PATCH", deploys + "/w", `{"metadata":{"annotations":{"kubernetes.io/change-cause":"me"}}}`},
	{"DELETE", deploys + "/w?propagationPolicy=Orphan", ``},
	{"POST", daemons, `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` + web + `}}}`},
	{"PATCH", daemons + "/d", `{"spec":{"minReadySeconds":3}}`},
	{"PATCH", daemons + "/d", `{"spec":{"template":{"metadata":{"labels":{"c":"d"}}}}}`},
	{"PATCH", daemons + "/d", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"7"}}}`},
	{"POST", jobs, `{"metadata":{"name":"j"},"spec":{"template":{"metadata":{"labels":{"app":"j"}},` + once + `}}}`},
	{"PATCH", jobs + "/j", `{"spec":{"suspend":true}}`},
	{"POST", jobs, `{"metadata":{"name":"k","labels":{"mine":"yes"}},"spec":{"template":{` + once + `}}}`},

	{"PUT", leases + "/l", `{"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}}`},
	{"PUT", leases + "/l", `{"metadata":{"name":"l"},"spec":{"holderIdentity":"b"}}`},
	{"PATCH", leases + "/l", `{"spec":{"leaseTransitions":1}}`},
	{"APPLY", inTeam + "configmaps/g?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"g"},"data":{"a":"1"}}`},
	{"APPLY", inTeam + "configmaps/g?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"g"},"data":{"a":"2"}}`},
	{"PATCH", inTeam + "configmaps/none", `{"data":{"a":"1"}}`},
	{"PATCH", inTeam + "configmaps/g", `{"metadata":{"name":"h"}}`},
	{"PATCH", inTeam + "configmaps/g", `{"immutable":true}`},
	{"PATCH", inTeam + "configmaps/g", `{"metadata":{"labels":{"a":null}}}`},
	{"DELETE", inTeam + "configmaps/none", ``},
	{"POST", inTeam + "configmaps?dryRun=All", `{"metadata":{"name":"h"}}`},
	{"POST", inTeam + "pods", `{"metadata":{"name":"s","labels":{"app":"bare"}},` + web + `}`},
	{"PATCH", inTeam + "pods/s/status", `{"status":{"phase":"Succeeded"}}`},
	{"POST", inTeam + "pods/s/eviction", `{"metadata":{"name":"s"},"deleteOptions":{"gracePeriodSeconds":7}}`},
	{"POST", inTeam + "pods", `{"metadata":{"name":"t"},` + web + `}`},
	{"POST", inTeam + "pods/t/eviction", `{"metadata":{"name":"t"}}`},
	{"POST", inTeam + "pods/t/eviction", `{"metadata":{"name":"t"}}`},
	{"POST", inTeam + "pods", `{"metadata":{"name":"u"},` + strings.Replace(web, `{"term`, `{"nodeName":"n","term`, 1) + `}`},
	{"DELETE", inTeam + "pods/u", `{"gracePeriodSeconds":-5}`},
	{"DELETE", inTeam + "pods/u", `{"gracePeriodSeconds":0}`},
	{"POST", inTeam + "pods", `{"metadata":{"name":"v"},"spec":{"schedulingGates":[{"name":"example.com/g"}],"containers":[{"name":"main","image":"web:1"}]}}`},
	{"POST", inTeam + "pods/v/binding", `{"metadata":{"name":"v"},"target":{"kind":"Node","name":"n"}}`},
	{"PATCH", inTeam + "pods/v", `{"spec":{"schedulingGates":null}}`},
	{"DELETE", inTeam + "pods?fieldSelector=metadata.name=v", `{"gracePeriodSeconds":0}`},
	{"PATCH", budgets + "/b/status", `{"status":{"disruptionsAllowed":2,"observedGeneration":2}}`},
	{"DELETE", budgets + "/b?propagationPolicy=Foreground", ``},
	{"PATCH", budgets + "/b/status", `{"status":{"disruptionsAllowed":3}}`},

	{"PATCH", inTeam + "configmaps/f", last}, {"POST", inTeam + "pods", `{"metadata":{"name":"z","labels":{"last":"yes"}},` + web + `}`},
	{"PATCH", budgets + "/b", last}, {"PATCH", deploys + "/w", last}, {"PATCH", daemons + "/d", last}, {"PATCH", jobs + "/k", last}, {"PATCH", leases + "/l", last},

	{"PATCH", "/api/v1/namespaces/team", `{"spec":{"finalizers":null}}`},
	{"DELETE", "/api/v1/namespaces/kube-system", ``},
	{"DELETE", "/api/v1/namespaces/team", ``},
	{"DELETE", "/api/v1/namespaces/team", ``},
	{"POST", inTeam + "configmaps", `{"metadata":{"name":"late"}}`},
	{"PUT", "/api/v1/namespaces/team/finalize", `{"metadata":{"name":"team"},"spec":{"finalizers":[]}}`},
	{"DELETE", "/api/v1/nodes/n", ``},
}

// watchedPaths are where the steps show.
var watchedPaths = []string{
	"/api/v1/nodes?fieldSelector=metadata.name=n", "/api/v1/namespaces?fieldSelector=metadata.name=team",
	inTeam + "configmaps?fieldSelector=metadata.name!=kube-root-ca.crt", inTeam + "pods?", budgets + "?", deploys + "?", leases + "?", daemons + "?", jobs + "?",
}

// peer is a server that steps are done to.
type peer struct {
	t      *testing.T
	client *http.Client
	host   string
}

func (p peer) do(ctx context.Context, s step) *http.Response {
	p.t.Helper()
	method := s.method
	if method == "APPLY" {
		method = http.MethodPatch
	}
	req, err := http.NewRequestWithContext(ctx, method, p.host+s.path, strings.NewReader(s.body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	switch s.method {
	case http.MethodPatch:
		req.Header.Set("Content-Type", "application/merge-patch+json")
	case "APPLY":
		req.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	res, err := p.client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	return res
}

// script is what clients do in a namespace, and where it shows.
type script struct {
	namespace string
	steps     []step
	watched   []string
	owners    bool // answers show who owns which field
	whole     bool // answers show objects, but for what differs from server to server
}

// run does all steps, and says what each was answered and what then was watched.
func (p peer) run(of script) (answers, happened []string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute)
	defer cancel()
	read := func(s step) (int, unstructured.Unstructured) {
		res := p.do(ctx, s)
		defer func() { _ = res.Body.Close() }()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			p.t.Fatal(err)
		}
		var u unstructured.Unstructured
		if err := json.Unmarshal(raw, &u.Object); err != nil {
			p.t.Fatalf("%v: %s", err, raw)
		}
		return res.StatusCode, u
	}
	if code, u := read(step{"POST", "/api/v1/namespaces", `{"metadata":{"name":"` + of.namespace + `"}}`}); code != http.StatusCreated {
		p.t.Fatal(code, u)
	}
	var from []string
	for _, path := range of.watched {
		_, l := read(step{"GET", path, ""})
		from = append(from, l.GetResourceVersion())
	}
	for _, s := range of.steps {
		if s.method == "AWAIT" {
			p.await(ctx, s, answers)
			continue
		}
		code, u := read(s)
		said := fmt.Sprintf("%s %s %s: %d %s", s.method, s.path, s.body, code, u.GetKind())
		if u.GetKind() == "Status" {
			said += fmt.Sprint(" ", u.Object["reason"], ": ", u.Object["message"])
		}
		if u.GetKind() != "Status" && (of.whole && !strings.HasSuffix(u.GetKind(), "List") || strings.Contains(s.path, "example.com")) {
			said += " " + whole(u.Object)
		}
		if u.GetKind() != "Status" && of.owners && u.GetKind() != "CustomResourceDefinition" { // which has other schemas there
			said += " " + owners(u)
		}
		answers = append(answers, strings.NewReplacer(uids(said)...).Replace(said))
	}
	for i, path := range of.watched {
		res := p.do(ctx, step{"GET", path + "&watch=1&resourceVersion=" + from[i], ""})
		d := json.NewDecoder(res.Body)
		for ended := false; !ended; {
			var ev struct {
				Type   string
				Object map[string]any
			}
			if err := d.Decode(&ev); err != nil {
				p.t.Fatalf("%s: %v after %s", path, err, strings.Join(happened, "\n"))
			}
			u := unstructured.Unstructured{Object: ev.Object}
			ended = u.GetLabels()["last"] != "" || ev.Type == "DELETED" && u.GetNamespace() == "" && u.GetLabels()["more"] == ""
			happened = append(happened, ev.Type+" "+shape(ev.Object))
		}
		_ = res.Body.Close()
	}
	return answers, happened
}

// await waits until a path is answered with a code, and a word: a server's controllers need a moment.
func (p peer) await(ctx context.Context, s step, answers []string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		res := p.do(p.t.Context(), step{"GET", s.path, ""})
		raw, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		code, text, _ := strings.Cut(s.body, " ")
		if fmt.Sprint(res.StatusCode) == code && strings.Contains(string(raw), text) {
			return
		}
	}
	p.t.Fatalf("%s isn't answered with %s after\n%s", s.path, s.body, strings.Join(answers, "\n"))
}

// whole is a custom resource without what differs from server to server.
func whole(o map[string]any) string {
	if m, is := o["metadata"].(map[string]any); is {
		for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			delete(m, name)
		}
	}
	raw, _ := json.Marshal(timeless(o))
	return string(raw)
}

// owners says who owns which field of an object, and what it holds.
func owners(u unstructured.Unstructured) string {
	raw, _ := json.Marshal(timeless([]any{u.Object["metadata"].(map[string]any)["managedFields"], u.Object["data"]}))
	return string(raw)
}

// uids are the values in a message that differ from server to server.
func uids(said string) (pairs []string) {
	for _, mark := range []string{"UID in object meta: ", "UID in record (", "ResourceVersion in record (", "Key: ", "ResourceVersion in object meta: "} {
		if _, after, ok := strings.Cut(said, mark); ok {
			if end := strings.IndexAny(after, ",). "); end > 0 {
				after = after[:end]
			}
			if after != "" && mark != "Key: " {
				pairs = append(pairs, after, "…")
			}
		}
	}
	return pairs
}

// shape is what the steps are about of an object, without what differs from server
// to server and what only a server's defaults add.
func shape(o map[string]any) string {
	if version, _ := o["apiVersion"].(string); strings.Contains(version, "example.com") {
		return whole(o)
	}
	meta := pick(o["metadata"], "name", "finalizers", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "labels", "annotations", "ownerReferences")
	spec := pick(o["spec"], "nodeName", "replicas", "finalizers", "unschedulable", "taints", "activeDeadlineSeconds", "minAvailable", "schedulingGates",
		"holderIdentity", "leaseTransitions", "scope", "names", "conversion", "suspend", "selector")
	status := pick(o["status"], "phase", "conditions", "disruptionsAllowed", "disruptedPods", "currentHealthy", "observedGeneration", "replicas", "qosClass", "acceptedNames", "storedVersions")
	raw, _ := json.Marshal([]any{o["kind"], meta, spec, status, o["data"]})
	if uid, _ := o["metadata"].(map[string]any)["uid"].(string); uid != "" {
		raw = bytes.ReplaceAll(raw, []byte(uid), []byte("UID"))
	}
	for _, s := range []string{`"lastProbeTime":null,`, `"lastTransitionTime":null,`} {
		raw = bytes.ReplaceAll(raw, []byte(s), nil)
	}
	return string(raw)
}

// pick keeps members, their times made equal.
func pick(from any, names ...string) map[string]any {
	m, _ := from.(map[string]any)
	out := map[string]any{}
	for name, v := range m {
		if slices.Contains(names, name) {
			out[name] = timeless(v)
		}
	}
	return out
}

func timeless(v any) any {
	switch v := v.(type) {
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "TIME"
		}
	case map[string]any:
		for k := range v {
			v[k] = timeless(v[k])
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return v
}

// same says which lines differ.
func same(t *testing.T, what string, real, kept []string) {
	t.Helper()
	for i := range min(len(real), len(kept)) {
		if real[i] != kept[i] {
			t.Errorf("%s, line %d:\n  real %s\n  kept %s", what, i, real[i], kept[i])
		}
	}
	if len(real) != len(kept) {
		t.Errorf("%s (-real +kept):\n%s", what, cmp.Diff(real, kept))
	}
}

// What clients do to a cluster, one step after the other, does the same to a real
// control plane as to one that keeps writes in memory.
func TestWritesAreKeptAsByKubeAPIServer(t *testing.T) {
	config := testcluster.Shared(t).Config()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]script{
		"objects":     {namespace: "team", steps: steps, watched: watchedPaths},
		"definitions": {namespace: "crds", steps: definitionSteps, watched: definitionPaths},
		"owners":      {namespace: "owners", steps: ownerSteps, owners: true},
		"generic":     {namespace: "generic", steps: genericSteps, whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			wantAnswers, wantHappened := peer{t, client, strings.TrimSuffix(config.Host, "/")}.run(of)
			s, stop := keeping(t, nil,
				timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}, timeline.Resource{Version: "v1", Kind: "Namespace", Resource: "namespaces"},
				timeline.Resource{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
				timeline.Resource{Group: "apps", Version: "v1", Kind: "DaemonSet", Resource: "daemonsets", Namespaced: true},
				timeline.Resource{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs", Namespaced: true},
				timeline.Resource{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true},
				timeline.Resource{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts", Namespaced: true},
				timeline.Resource{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role", Resource: "roles", Namespaced: true},
				timeline.Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"})
			defer stop()
			answers, happened := peer{t, &http.Client{Transport: s.RoundTripper()}, "http://localhost"}.run(of)
			same(t, "answered", wantAnswers, answers)
			same(t, "watched", wantHappened, happened)
			t.Logf("%d writes, %d events", len(of.steps), len(happened))
		})
	}
}
