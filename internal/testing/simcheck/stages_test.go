package simcheck_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/tapediff"
	"github.com/nodesim/nodesim/timeline"
)

// A recording of a cluster whose kwok plays its own stages differs from a simulation, in what [simcheck.OwnStages] lists
// and in nothing else; and each row is needed.
func TestOwnStages(t *testing.T) {
	for _, c := range []struct {
		rows  []tapediff.Exclusion
		equal bool
	}{
		{nil, false}, {simcheck.OwnStages, true},
		{simcheck.OwnStages[1:], false}, {simcheck.OwnStages[:3], false},
	} {
		report, err := simcheck.Against("surge", 1, ownStages(t, "surge"), true, c.rows...)
		if err != nil {
			t.Fatal(err)
		}
		if report.Equal() != c.equal {
			t.Errorf("%d rows: want equal %t: %s", len(c.rows), c.equal, report)
		}
		if err := tapediff.Unused(c.rows, report); err != nil {
			t.Error(err)
		}
	}
}

// ownStages is an example as it were if kwok had played its own stages, and if the ReplicaSet's controller had used up
// its Events before.
func ownStages(t *testing.T, story string) *timeline.Reader {
	t.Helper()
	from := open(t, filepath.Join("..", "..", "..", "examples", story+".yaml"))
	var text bytes.Buffer
	w, err := timeline.NewWriter(&text, *from.Header())
	if err != nil {
		t.Fatal(err)
	}
	created := map[types.UID]bool{} // pods that have been through the stage pod-create
	for ev, err := range from.All() {
		if err != nil {
			t.Fatal(err)
		}
		events := []timeline.Event{ev}
		switch {
		case ev.Resource == "pods" && ev.Type == timeline.Added && ev.At == 0:
			created[types.UID(ev.UID)] = true
		case ev.Resource == "pods" && ev.Type == timeline.Modified && !created[types.UID(ev.UID)]:
			pod := decode[corev1.Pod](t, ev)
			if pod.Status.Phase != corev1.PodRunning {
				break
			}
			created[pod.UID] = true
			events = append(podCreate(t, ev, pod), ev)
		case ev.Resource == "events" && ev.At > 0 && decode[corev1.Event](t, ev).Reason == "SuccessfulCreate":
			events = nil
		}
		for _, ev := range events {
			if err := w.Write(ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := timeline.NewReader(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// podCreate returns what the stage pod-create does to a pod that is ready in its next write.
func podCreate(t *testing.T, ev timeline.Event, pod corev1.Pod) []timeline.Event {
	t.Helper()
	pod.Status.Phase = corev1.PodPending
	message := fmt.Sprintf("containers with unready status: [ %s ]", pod.Spec.Containers[0].Name)
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady || c.Type == corev1.ContainersReady {
			c.Status, c.Reason, c.Message = corev1.ConditionFalse, "ContainersNotReady", message
		}
	}
	told := corev1.Event{
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: ev.Namespace, Name: ev.Name, UID: pod.UID, APIVersion: "v1"},
		Type:           corev1.EventTypeNormal, Reason: "Created", Message: "Created container",
		Source: corev1.EventSource{Component: "kwok_controller"}, Count: 1,
	}
	return []timeline.Event{
		{At: ev.At, Type: timeline.Added, Resource: "events", Namespace: ev.Namespace, Name: ev.Name + ".created", UID: ev.UID + "-created", RV: "1", Object: encode(t, told)},
		{At: ev.At, Type: timeline.Modified, Resource: "pods", Namespace: ev.Namespace, Name: ev.Name, UID: ev.UID, RV: "1", Object: encode(t, pod)},
	}
}

func decode[T any](t *testing.T, ev timeline.Event) (o T) {
	t.Helper()
	if err := json.Unmarshal(ev.Object, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func encode(t *testing.T, o any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
