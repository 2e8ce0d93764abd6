package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/timeline"
)

var (
	nodes = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	pods  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

func header() *timeline.Header {
	return &timeline.Header{
		Metadata: timeline.Metadata{Name: "test"},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
			{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
		},
	}
}

// tape reads a tape in short: one event a word, "seconds type resource name rv
// labels-or-fields…", as in "3 MODIFIED nodes a 120 zone=b spec.unschedulable=true".
func tape(t testing.TB, lines string) (all []timeline.Event) {
	t.Helper()
	for line := range strings.Lines(lines) {
		if w := strings.Fields(line); len(w) > 0 {
			all = append(all, event(t, w))
		}
	}
	return all
}

func event(t testing.TB, w []string) timeline.Event {
	at, err := time.ParseDuration(w[0] + "s")
	if err != nil {
		t.Fatal(err)
	}
	ev := timeline.Event{At: at, Type: timeline.Type(w[1])}
	switch ev.Type {
	case timeline.Mark:
		ev.Name = w[2]
		return ev
	case timeline.End:
		return ev
	case timeline.Sync, timeline.Gap:
		ev.Resource, ev.RV = w[2], w[3]
		return ev
	}
	ev.Resource = w[2]
	ev.Name = w[3]
	meta := map[string]any{"labels": map[string]any{}}
	if ns, n, ok := strings.Cut(w[3], "/"); ok {
		ev.Namespace, ev.Name = ns, n
		meta["namespace"] = ns
	}
	meta["name"], ev.UID = ev.Name, "uid-"+ev.Name
	if w[4] != "-" {
		ev.RV = w[4]
		meta["resourceVersion"] = ev.RV
	}
	obj := map[string]any{"apiVersion": "v1", "kind": map[string]string{"nodes": "Node", "pods": "Pod", "events": "Event"}[ev.Resource], "metadata": meta}
	for _, f := range w[5:] {
		k, v, _ := strings.Cut(f, "=")
		switch section, field, nested := strings.Cut(k, "."); {
		case k == "uid":
			ev.UID = v
		case nested:
			in, _ := obj[section].(map[string]any)
			if in == nil {
				in = map[string]any{}
				obj[section] = in
			}
			if v == "true" {
				in[field] = true
			} else {
				in[field] = v
			}
		default:
			meta["labels"].(map[string]any)[k] = v
		}
	}
	meta["uid"] = ev.UID
	ev.Object, err = json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func apply(t testing.TB, c *Cluster, lines string) {
	t.Helper()
	for _, ev := range tape(t, lines) {
		if _, err := c.Apply(ev); err != nil {
			t.Fatal(err)
		}
	}
}

// show prints what a watch has to say now, "ADDED a@5 MODIFIED a@6".
func show(t testing.TB, w *Watch) string {
	t.Helper()
	var out []string
	for w.Pending() {
		ev, err := w.Next(context.Background())
		if err != nil {
			out = append(out, err.Error())
			break
		}
		switch {
		case ev.Status != nil:
			out = append(out, fmt.Sprintf("%s %d %s", ev.Type, ev.Status.Code, ev.Status.Reason))
		case ev.Object.Name() == "" && strings.Contains(string(ev.Object.Raw()), metav1.InitialEventsAnnotationKey):
			out = append(out, "END@"+ev.Object.ResourceVersion())
		default:
			if raw := string(ev.Object.Raw()); !strings.Contains(raw, `"resourceVersion":"`+ev.Object.ResourceVersion()+`"`) {
				t.Fatalf("version %s isn't in the object %s", ev.Object.ResourceVersion(), raw)
			}
			out = append(out, fmt.Sprintf("%s %s@%s", ev.Type, ev.Object.Name(), ev.Object.ResourceVersion()))
		}
	}
	return strings.Join(out, " ")
}

func list(t testing.TB, c *Cluster, gvr schema.GroupVersionResource, ns string, opts metav1.ListOptions) string {
	t.Helper()
	l, err := c.List(gvr, ns, opts)
	if err != nil {
		return fmt.Sprintf("%s: %s", apierrors.ReasonForError(err), err)
	}
	return showList(l)
}

func showList(l *List) string {
	out := "@" + l.ResourceVersion
	for _, o := range l.Items {
		out += " " + strings.TrimPrefix(o.key, "/") + "@" + o.ResourceVersion()
	}
	return out
}

func open(t testing.TB, c *Cluster, gvr schema.GroupVersionResource, ns string, opts metav1.ListOptions) *Watch {
	t.Helper()
	w, err := c.Watch(gvr, ns, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

func equal(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

const start = `
	0 ADDED nodes b 20
	0 ADDED nodes a 10 pool=x
	0 SYNC nodes 50
	0 ADDED pods default/p 30 spec.nodeName=a
	0 SYNC pods 51
`
