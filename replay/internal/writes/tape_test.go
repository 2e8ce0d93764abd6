package writes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

var resources = []timeline.Resource{
	{Version: "v1", Kind: "Node", Resource: "nodes"},
	{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
	{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
	{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim", Resource: "nodeclaims"},
}

// more are those that tapes of these tests don't hold, and clusters that keep
// writes do.
var more = []timeline.Resource{
	{Version: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
	{Version: "v1", Kind: "Namespace", Resource: "namespaces"},
}

// header is that of a tape that begins at noon.
func header() *timeline.Header {
	return &timeline.Header{
		Metadata:  timeline.Metadata{Name: "test", Start: timeline.Time{Time: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)}},
		Resources: resources,
	}
}

// start is the state that writes are tried on, one object a line: its resource,
// "namespace/name", its version, and what it holds besides metadata.
const start = `
	nodes a 10 "spec":{"providerID":"x://a"}
	nodes b 11 "spec":{}
	pods team/web 20 "spec":{"nodeName":"a","terminationGracePeriodSeconds":30,"containers":[{"name":"main","image":"web:1"}]},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}
	pods team/waits 21 "spec":{"containers":[{"name":"main","image":"web:1"}]},"status":{"phase":"Pending"}
	poddisruptionbudgets.policy team/web 30 "spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}},"status":{"currentHealthy":1,"desiredHealthy":1,"disruptionsAllowed":0}
	deployments.apps team/web 40 "spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"main","image":"web:1"}]}}},"status":{"replicas":2}
	nodeclaims.karpenter.sh c 50 "spec":{"x":1},"status":{"y":1}
`

// cluster plays the state of start; its lists are at version 100.
func cluster(t testing.TB, opts ...replay.ClusterOption) *replay.Cluster {
	t.Helper()
	c := replay.NewCluster(header(), opts...)
	for line := range strings.Lines(start) {
		if strings.TrimSpace(line) != "" {
			apply(t, c, event(t, 0, timeline.Added, strings.TrimSpace(line)))
		}
	}
	for _, r := range resources {
		apply(t, c, timeline.Event{Type: timeline.Sync, Resource: r.String(), RV: "100"})
	}
	return c
}

func event(t testing.TB, at time.Duration, typ timeline.Type, line string) timeline.Event {
	t.Helper()
	w := strings.SplitN(line, " ", 4)
	ev := timeline.Event{At: at, Type: typ, Resource: w[0], Name: w[1], RV: w[2]}
	meta := ""
	if ns, name, ok := strings.Cut(w[1], "/"); ok {
		ev.Namespace, ev.Name = ns, name
		meta = fmt.Sprintf(`"namespace":%q,`, ns)
	}
	ev.UID = "uid-" + ev.Name
	for _, r := range slices.Concat(resources, more) {
		if r.String() == w[0] {
			ev.Object = fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,%s"uid":%q,"resourceVersion":%q,"generation":1,"labels":{"app":%q}},%s}`,
				r.APIVersion(), r.Kind, ev.Name, meta, ev.UID, ev.RV, ev.Name, w[3])
		}
	}
	if !json.Valid(ev.Object) {
		t.Fatalf("not JSON: %s", ev.Object)
	}
	return ev
}

func apply(t testing.TB, c *replay.Cluster, ev timeline.Event) {
	t.Helper()
	if _, err := c.Apply(ev); err != nil {
		t.Fatal(err)
	}
}

// ask makes a request of a path: "nodes", "nodes/a", "pods/team/web/eviction".
func ask(verb, path, body string) Request {
	r := Request{Verb: verb, Body: []byte(body)}
	w := strings.Split(path, "/")
	gr := schema.ParseGroupResource(w[0])
	r.Resource = gr.WithVersion("v1")
	namespaced := true
	for _, res := range slices.Concat(resources, more) {
		if res.String() == w[0] {
			namespaced = res.Namespaced
		}
	}
	if w = w[1:]; namespaced && len(w) > 0 {
		r.Namespace, w = w[0], w[1:]
	}
	if len(w) > 0 {
		r.Name = w[0]
	}
	if len(w) > 1 {
		r.Subresource = w[1]
	}
	return r
}

// do prints the answer: its code, and the error, or what was asked of the object.
func do(t testing.TB, d *Handler, r Request, show ...string) string {
	t.Helper()
	a, err := d.Handle(t.Context(), r)
	if err != nil {
		s, ok := err.(apierrors.APIStatus)
		if !ok {
			t.Fatalf("%v isn't a Status", err)
		}
		return fmt.Sprintf("%d %s: %s", s.Status().Code, s.Status().Reason, s.Status().Message)
	}
	raw, err := rawjson.Compact(nil, a.Object)
	if err != nil {
		t.Fatalf("%v: %s", err, a.Object)
	}
	out := fmt.Sprint(a.Code, " ", rawjson.Text(raw, "kind"))
	for _, path := range show {
		out += fmt.Sprintf(" %s", rawjson.Get(raw, strings.Split(path, ".")...))
	}
	for _, w := range a.Warnings {
		out += " WARNING " + w
	}
	return out
}

func equal(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}
