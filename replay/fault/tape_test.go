package fault_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/fault"
	"github.com/nodesim/nodesim/timeline"
)

var (
	nodeGVR = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	podGVR  = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

func header(faults ...string) *timeline.Header {
	return &timeline.Header{
		Metadata: timeline.Metadata{Name: "roll", Start: timeline.Time{Time: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)}},
		Resources: []timeline.Resource{
			{Version: "v1", Kind: "Node", Resource: "nodes"},
			{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
		},
		Faults: faults,
	}
}

// node makes an event of a node; the words that follow say what it is like.
func node(at float64, typ timeline.Type, name string, rv int, words ...string) timeline.Event {
	ready, spec := "True", "{}"
	for _, w := range words {
		switch w {
		case "unready":
			ready = "False"
		case "cordoned":
			spec = `{"unschedulable":true}`
		}
	}
	return timeline.Event{
		At: time.Duration(at * float64(time.Second)), Type: typ, Resource: "nodes", Name: name, UID: "uid-" + name, RV: fmt.Sprint(rv),
		Object: fmt.Appendf(nil, `{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"uid":"uid-%s","resourceVersion":"%d","labels":{"pool":%q}},"spec":%s,"status":{"conditions":[{"type":"Ready","status":%q}]}}`,
			name, name, rv, strings.Split(name, "-")[0], spec, ready),
	}
}

func pod(at float64, typ timeline.Type, name, on string, rv int, words ...string) timeline.Event {
	leaving := ""
	if len(words) > 0 {
		leaving = `,"deletionTimestamp":"2026-11-20T22:00:11Z"`
	}
	return timeline.Event{
		At: time.Duration(at * float64(time.Second)), Type: typ, Resource: "pods", Namespace: "shop", Name: name, UID: "uid-" + name, RV: fmt.Sprint(rv),
		Object: fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","uid":"uid-%s","resourceVersion":"%d"%s},"spec":{"nodeName":%q},"status":{"phase":"Running"}}`,
			name, name, rv, leaving, on),
	}
}

func synced(at float64, resource string, rv int) timeline.Event {
	return timeline.Event{At: time.Duration(at * float64(time.Second)), Type: timeline.Sync, Resource: resource, RV: fmt.Sprint(rv)}
}

// roll is a small roll: new-c comes, old-a goes, old-b is away for a moment.
func roll() []timeline.Event {
	return []timeline.Event{
		node(0, timeline.Added, "old-a", 10),
		node(0, timeline.Added, "old-b", 11),
		synced(0, "nodes", 20),
		pod(0, timeline.Added, "web-1", "old-a", 12),
		pod(0, timeline.Added, "web-2", "old-b", 13),
		synced(0, "pods", 21),
		node(5, timeline.Added, "new-c", 30, "unready"),
		node(8, timeline.Modified, "new-c", 31),
		node(10, timeline.Modified, "old-a", 32, "cordoned"),
		pod(11, timeline.Modified, "web-1", "old-a", 33, "leaving"),
		pod(12, timeline.Deleted, "web-1", "old-a", 34, "leaving"),
		pod(12, timeline.Added, "web-3", "new-c", 35),
		node(15, timeline.Deleted, "old-a", 36, "cordoned"),
		synced(16, "nodes", 40),
		node(20, timeline.Modified, "old-b", 41, "unready"),
		node(23, timeline.Modified, "old-b", 42),
		synced(30, "pods", 42),
		node(40, timeline.Modified, "new-c", 43),
		pod(60, timeline.Modified, "web-2", "old-b", 44),
	}
}

// follow steps to the end of a tape, and returns what a watch of a resource
// delivers at which step, and what has fired. A watch that ends is opened again
// from where it was, after 410 from a new list.
func follow(t *testing.T, events []timeline.Event, gvr schema.GroupVersionResource, specs ...string) (got, fired []string) {
	t.Helper()
	p, err := replay.NewPlayer(replay.Events(header(), events), fault.InjectAndLog(func(f fault.Fired) { fired = append(fired, f.String()) }, specs...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	r := &reader{cluster: p.Cluster(), gvr: gvr}
	r.list()
	for {
		err := p.Step()
		for _, s := range r.read() {
			got = append(got, fmt.Sprintf("%v %s", p.Status().Event, s))
		}
		if errors.Is(err, io.EOF) {
			return got, fired
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// reader is a client without an informer.
type reader struct {
	cluster *replay.Cluster
	gvr     schema.GroupVersionResource
	watch   *replay.Watch
	version string
	state   map[string]string
	said    []string
}

func (r *reader) say(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *reader) list() {
	l, err := r.cluster.List(r.gvr, "", metav1.ListOptions{})
	if err != nil {
		r.say("list: %v", err)
		return
	}
	r.state, r.version = map[string]string{}, l.ResourceVersion
	var names []string
	for _, o := range l.Items {
		names = append(names, o.Name()+"@"+o.ResourceVersion())
		r.state[o.Name()] = o.ResourceVersion()
	}
	if r.watch != nil {
		r.say("LIST %s: %s", r.version, strings.Join(names, " "))
	}
	r.again()
}

func (r *reader) again() {
	w, err := r.cluster.Watch(r.gvr, "", metav1.ListOptions{ResourceVersion: r.version, AllowWatchBookmarks: true})
	if err != nil {
		r.say("watch: %v", err)
		if strings.Contains(err.Error(), "too old") {
			r.list()
		}
		return
	}
	r.watch = w
}

// read reads all that there is.
func (r *reader) read() []string {
	r.said = nil
	for range 1000 {
		ev, err := r.watch.TryNext()
		switch {
		case replay.IsNoEvent(err):
			return r.said
		case errors.Is(err, io.EOF):
			r.say("CLOSED")
			r.again()
		case err != nil:
			r.say("%v", err)
			return r.said
		case ev.Status != nil:
			r.say("ERROR %d", ev.Status.Code)
			r.list()
		default:
			r.version = ev.Object.ResourceVersion()
			r.say("%s %s@%s", ev.Type, ev.Object.Name(), r.version)
			if key := ev.Object.Name(); ev.Type == "DELETED" {
				delete(r.state, key)
			} else if ev.Type != "BOOKMARK" {
				r.state[key] = r.version
			}
		}
	}
	r.say("no end")
	return r.said
}
