package fakeclient

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

var (
	nodes  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	pods   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	claims = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
)

func header() *timeline.Header {
	return &timeline.Header{
		Metadata: timeline.Metadata{Name: "test"},
		Source:   timeline.Origin{Server: "v1.36.3"},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
			{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim", Resource: "nodeclaims"},
		},
	}
}

// object makes an event of a node, a pod ("namespace/name") or a claim.
func object(at time.Duration, kind timeline.Type, resource, name string, rv int, spec string) timeline.Event {
	ev := timeline.Event{At: at, Type: kind, Resource: resource, Name: name, UID: "uid-" + name, RV: fmt.Sprint(rv)}
	namespace := ""
	if ns, n, ok := strings.Cut(name, "/"); ok {
		ev.Namespace, ev.Name = ns, n
		namespace = fmt.Sprintf(`"namespace":%q,`, ns)
	}
	which := map[string]string{
		"nodes": `"kind":"Node","apiVersion":"v1"`, "pods": `"kind":"Pod","apiVersion":"v1"`,
		"nodeclaims": `"kind":"NodeClaim","apiVersion":"karpenter.sh/v1"`,
	}[resource]
	ev.Object = fmt.Appendf(nil, `{%s,"metadata":{"name":%q,%s"uid":%q,"resourceVersion":"%d","labels":{"pool":"x"}},"spec":%s}`,
		which, ev.Name, namespace, ev.UID, rv, spec)
	return ev
}

func synced(resource string, rv int) timeline.Event {
	return timeline.Event{Type: timeline.Sync, Resource: resource, RV: fmt.Sprint(rv)}
}

func start() []timeline.Event {
	return []timeline.Event{
		object(0, timeline.Added, "nodes", "a", 10, `{}`),
		object(0, timeline.Added, "nodes", "b", 11, `{}`),
		synced("nodes", 50),
		object(0, timeline.Added, "pods", "default/p", 20, `{"nodeName":"a"}`),
		synced("pods", 51),
		object(0, timeline.Added, "nodeclaims", "c", 30, `{}`),
		synced("nodeclaims", 52),
	}
}

// roll is a small roll: node a is cordoned and drained, c takes its place.
func roll() []timeline.Event {
	s := time.Second
	return append(start(),
		object(1*s, timeline.Added, "nodes", "c", 60, `{}`),
		object(2*s, timeline.Modified, "nodes", "a", 61, `{"unschedulable":true}`),
		object(3*s, timeline.Deleted, "pods", "default/p", 62, `{"nodeName":"a"}`),
		object(3*s, timeline.Added, "pods", "default/q", 63, `{"nodeName":"c"}`),
		object(4*s, timeline.Deleted, "nodes", "a", 64, `{"unschedulable":true}`),
		object(5*s, timeline.Modified, "nodeclaims", "c", 65, `{"x":1}`),
		timeline.Event{At: 6 * s, Type: timeline.Sync, Resource: "nodes", RV: "70"},
		object(6*s, timeline.Modified, "nodes", "b", 71, `{"unschedulable":true}`),
	)
}

func client(t testing.TB, events []timeline.Event, opts ...Option) *Client {
	t.Helper()
	c, err := New(replay.Events(header(), events), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func equal(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// handlerLog is a log: a handler that writes down what it hears.
type handlerLog struct {
	mu  sync.Mutex
	out []string
}

func (d *handlerLog) say(verb string, obj any) {
	m := obj.(metav1.Object)
	if n, ok := obj.(*corev1.Node); ok && n.Spec.Unschedulable {
		verb += " cordoned"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out = append(d.out, fmt.Sprintf("%s %s@%s", verb, m.GetName(), m.GetResourceVersion()))
}

func (d *handlerLog) OnAdd(obj any, _ bool) { d.say("add", obj) }
func (d *handlerLog) OnUpdate(_, obj any)   { d.say("update", obj) }
func (d *handlerLog) OnDelete(obj any)      { d.say("delete", obj) }

// from returns what was written from the nth on.
func (d *handlerLog) from(n int) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.out[min(n, len(d.out)):])
}

func (d *handlerLog) len() int           { return len(d.from(0)) }
func (d *handlerLog) since(n int) string { return strings.Join(d.from(n), ", ") }
