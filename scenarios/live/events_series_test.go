package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"

	"github.com/nodesim/nodesim/scenarios"
)

func launched(note string) scenarios.Report {
	return scenarios.Report{
		About: corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1"},
		Type:  corev1.EventTypeNormal, Reason: "Launched", Action: "Launching", Component: "karpenter", Message: note,
	}
}

// onServer are the Events that a server has, without what differs from run to run.
func onServer(t *testing.T, client *fake.Clientset) []eventsv1.Event {
	t.Helper()
	list, err := client.EventsV1().Events(metav1.NamespaceAll).List(context.WithoutCancel(t.Context()), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		list.Items[i].Name = ""
	}
	return list.Items
}

// What a component says once, twice and three times is one Event with a series, as client-go's recorder writes it.
func TestEventsOfOneSeries(t *testing.T) {
	for times := range 4 {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := fake.NewSimpleClientset(), fake.NewSimpleClientset()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := newSeriesRecorder(ctx, faked(ours).EventsV1())
			b := events.NewBroadcaster(&events.EventSinkImpl{Interface: theirs.EventsV1()})
			if err := b.StartRecordingToSinkWithContext(ctx); err != nil {
				t.Fatal(err)
			}
			recorder := b.NewRecorder(scheme.Scheme, "karpenter")
			for range times {
				e := launched("node n is launched")
				r.record(e)
				recorder.Eventf(&e.About, nil, e.Type, e.Reason, e.Action, "%s", e.Message)
				synctest.Wait()
			}
			cancel()
			r.close()
			b.Shutdown()
			synctest.Wait()
			got, want := onServer(t, ours), onServer(t, theirs)
			if len(got) != min(times, 1) || len(want) != len(got) {
				t.Fatalf("said %d times: %d Events, client-go writes %d: want one, with its series", times, len(got), len(want))
			}
			for i := range got {
				g, w := got[i].DeepCopy(), want[i].DeepCopy()
				if g.String() != w.String() {
					t.Errorf("said %d times:\n%s\nclient-go writes\n%s", times, g, w)
				}
			}
		})
	}
}

// What didn't reach the server is tried again, what it refuses isn't.
func TestEventsThatFail(t *testing.T) {
	for what, c := range map[string]struct {
		err   error
		tries int
	}{
		"no answer": {errors.New("connection reset by peer"), 2},
		"forbidden": {apierrors.NewForbidden(eventsv1.Resource("events"), "n.1", errors.New("no right")), 1},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, tries := fake.NewSimpleClientset(), 0
				client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
					tries++
					return tries == 1, nil, c.err
				})
				r := newSeriesRecorder(t.Context(), faked(client).EventsV1())
				r.record(launched("node n is launched"))
				r.close()
				if tries != c.tries {
					t.Errorf("%d tries: want %d", tries, c.tries)
				}
				if n := len(onServer(t, client)); n != c.tries-1 {
					t.Errorf("%d Events written: want %d", n, c.tries-1)
				}
			})
		})
	}
}
