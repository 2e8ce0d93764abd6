package apply_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// writer makes a tape by hand, a second an event. The objects that come before
// the first call of begun are its initial state.
type writer struct {
	t      *testing.T
	header timeline.Header
	events []timeline.Event
	at     time.Duration
	rv     int
}

var (
	nodes = timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	pods  = timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	evs   = timeline.Resource{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true}
	crds  = timeline.Resource{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions"}
	pools = timeline.Resource{Group: "example.com", Version: "v1", Kind: "Pool", Resource: "pools"}
)

func newTape(t *testing.T, name string, resources ...timeline.Resource) *writer {
	return &writer{t: t, rv: 10, header: timeline.Header{
		APIVersion: "nodesim.dev/v1", Kind: "Timeline", Resources: resources,
		Metadata: timeline.Metadata{Name: name, Start: timeline.Time{Time: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}},
	}}
}

// add writes an event; the object is JSON without kind, version and namespace.
func (w *writer) add(typ timeline.Type, r timeline.Resource, namespace, name, uid, body string) {
	w.t.Helper()
	w.rv++
	o := map[string]any{}
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		w.t.Fatalf("%s: %v", body, err)
	}
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta["name"], meta["uid"], meta["resourceVersion"] = name, uid, fmt.Sprint(w.rv)
	if namespace != "" {
		meta["namespace"] = namespace
	}
	o["apiVersion"], o["kind"], o["metadata"] = r.APIVersion(), r.Kind, meta
	raw, err := json.Marshal(o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.events = append(w.events, timeline.Event{
		At: w.at, Type: typ, Resource: w.header.Key(r), Namespace: namespace, Name: name, UID: uid, RV: fmt.Sprint(w.rv), Object: raw,
	})
	if w.at > 0 {
		w.at += time.Second
	}
}

// begun ends the initial state.
func (w *writer) begun() {
	w.rv++
	for _, r := range w.header.Resources {
		w.events = append(w.events, timeline.Event{Type: timeline.Sync, Resource: w.header.Key(r), RV: fmt.Sprint(w.rv)})
	}
	w.at = time.Second
}

func (w *writer) source() timeline.Source { return replay.Events(&w.header, w.events) }
