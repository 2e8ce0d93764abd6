package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/recorder/daemon/trigger"
	"github.com/nodesim/nodesim/recorder/store"
)

// An Event is about the node by its name and its UID, by which kubectl describe finds it.
func TestEventIsOfTheNode(t *testing.T) {
	var got corev1.Event
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/api/v1/namespaces/default/events" {
			t.Errorf("found %s %s, want a POST of an Event in the namespace default", r.Method, r.URL)
		}
		got = corev1.Event{}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(got)
	}))
	defer server.Close()
	text := "application/json"
	h, err := newEvents(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: text, AcceptContentTypes: text}})
	if err != nil {
		t.Fatal(err)
	}
	tape := store.Tape{Name: "roll", Group: "workers", Outcome: trigger.Complete, Events: 7}
	tape.Trigger = trigger.Trigger{Kind: trigger.Cordon, Resource: "nodes", Name: "a-1", UID: "u-1"}
	if err := h.tell(t.Context(), finished{"", tape}); err != nil {
		t.Fatal(err)
	}
	if o := got.InvolvedObject; o.Kind != "Node" || o.Name != "a-1" || o.UID != "u-1" || got.Type != corev1.EventTypeNormal || got.Reason != "RollRecorded" {
		t.Errorf("found the Event %+v, want one of node a-1 with its UID", got)
	}
	tape.Trigger.Resource, tape.Gaps = "pods", 1
	if err := h.tell(t.Context(), finished{"", tape}); err != nil {
		t.Fatal(err)
	}
	if o := got.InvolvedObject; o.Kind != "Namespace" || o.Name != "kube-system" || o.UID != "" || got.Type != corev1.EventTypeWarning {
		t.Errorf("found the Event %+v, want a warning about kube-system", got)
	}
}
