package noderoll_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	ktesting "k8s.io/client-go/testing"
	testclock "k8s.io/utils/clock/testing"

	"github.com/nodesim/nodesim/noderoll"
)

// warnState is a State with the nodes ip-1 and ip-2.
func warnState(events ...*corev1.Event) *noderoll.State {
	s := noderoll.NewState(noderoll.StateOptions{})
	s.SetNode(noderoll.Node{Name: "ip-1"})
	s.SetNode(noderoll.Node{Name: "ip-2"})
	for _, e := range events {
		s.SetEvent(noderoll.EventRecordFrom(e))
	}
	return s
}

func at(e *corev1.Event, t time.Time) *corev1.Event {
	e.LastTimestamp = metav1.NewTime(t)
	return e
}

func TestWarningsOfTheGroup(t *testing.T) {
	pod := warning("b", "", "FailedCreatePodSandbox", "no IP", 0)
	pod.InvolvedObject = corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "web-x"}
	pod.Source.Host = "ip-2"
	normal := warning("d", "ip-1", "NodeReady", "fine", 0)
	normal.Type = corev1.EventTypeNormal
	s := warnState(
		warning("a", "ip-1", "NodeNotReady", "Node is not ready", 0),
		pod,
		warning("c", "foreign", "NodeNotReady", "Node is not ready", 0),
		normal,
		warning("e", "ip-1", "Rebooted", "long ago", 30*time.Minute),
	)
	want := []noderoll.WarnEvent{
		{Node: "ip-1", Object: "Node/ip-1", Reason: "NodeNotReady", Message: "Node is not ready"},
		{Node: "ip-2", Object: "Pod/web-x", Reason: "FailedCreatePodSandbox", Message: "no IP"},
	}
	if diff := cmp.Diff(want, s.Snapshot(time.Now()).Warnings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLatestWarningOfAKindWins(t *testing.T) {
	newer, older := warning("a", "ip-1", "FailedDraining", "newer", time.Minute), warning("b", "ip-1", "FailedDraining", "older", 5*time.Minute)
	for _, order := range [][]*corev1.Event{{newer, older}, {older, newer}} {
		got := warnState(order...).Snapshot(time.Now()).Warnings
		if len(got) != 1 || got[0].Message != "newer" {
			t.Errorf("got %v, want the newer one", got)
		}
	}
}

func TestWarningsAreOrderedByObjectToo(t *testing.T) {
	var events []*corev1.Event
	for i := range 20 {
		e := warning(fmt.Sprint(i), "", "BackOff", "", 0)
		e.InvolvedObject = corev1.ObjectReference{Kind: "Pod", Name: fmt.Sprintf("web-%02d", (i*7)%20)}
		e.Source.Host = "ip-1"
		events = append(events, e)
	}
	for i, w := range warnState(events...).Snapshot(time.Now()).Warnings {
		if want := fmt.Sprintf("Pod/web-%02d", i); w.Object != want {
			t.Fatalf("warning %d is about %s, want %s", i, w.Object, want)
		}
	}
}

func TestAgeOfWarnings(t *testing.T) {
	window := noderoll.WarningWindow
	for _, tc := range []struct {
		name string
		age  time.Duration
		want int
	}{
		{"fresh", time.Second, 1},
		{"exactly the window", window, 1},
		{"just older", window + time.Nanosecond, 0},
		{"from the future", -time.Hour, 1},
	} {
		s := warnState(at(warning("a", "ip-1", "r", "m", 0), epoch))
		if got := len(s.Snapshot(epoch.Add(tc.age)).Warnings); got != tc.want {
			t.Errorf("%s: %d warnings, want %d", tc.name, got, tc.want)
		}
	}
	undated := warnState(at(warning("a", "ip-1", "r", "m", 0), time.Time{}))
	if got := len(undated.Snapshot(epoch).Warnings); got != 1 {
		t.Errorf("an Event without a time: %d warnings, want 1, since it is never stale", got)
	}
}

func TestWarningsAgeWithoutFurtherChanges(t *testing.T) {
	s := warnState(at(warning("a", "ip-1", "r", "m", 0), epoch), at(warning("b", "ip-2", "r", "m", 0), epoch.Add(time.Minute)))
	var got []int
	for _, after := range []time.Duration{0, noderoll.WarningWindow, noderoll.WarningWindow + time.Second, noderoll.WarningWindow + 2*time.Minute, 0} {
		got = append(got, len(s.Snapshot(epoch.Add(after)).Warnings))
	}
	if diff := cmp.Diff([]int{2, 2, 1, 0, 2}, got); diff != "" {
		t.Errorf("warnings as time passes, and goes back (-want +got):\n%s", diff)
	}
}

func TestTimeOfAnEventSeries(t *testing.T) {
	series := at(warning("a", "ip-1", "r", "m", 0), time.Time{})
	series.EventTime = metav1.NewMicroTime(epoch.Add(-time.Hour))
	series.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(epoch)}
	if got := len(warnState(series).Snapshot(epoch).Warnings); got != 1 {
		t.Errorf("%d warnings, want the series that is still going on", got)
	}
}

func TestDeletedWarningsGo(t *testing.T) {
	s := warnState(at(warning("a", "ip-1", "r", "m", 0), epoch), at(warning("b", "ip-2", "r", "m", 0), epoch))
	s.DeleteEvent("default", "a")
	s.DeleteNode("ip-2", "")
	if got := s.Snapshot(epoch).Warnings; len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
	s.SetNode(noderoll.Node{Name: "ip-2"})
	if got := s.Snapshot(epoch).Warnings; len(got) != 1 {
		t.Errorf("after the node is back: got %v, want one", got)
	}
}

func TestObserverShowsItsWarnings(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true),
		warning("a", "ip-1", "FailedDraining", "13 pods are waiting", 0), warning("b", "foreign", "FailedDraining", "", 0))
	got := look(t, noderoll.NewKubeObserver(c, group, newImage)).Warnings
	want := []noderoll.WarnEvent{{Node: "ip-1", Object: "Node/ip-1", Reason: "FailedDraining", Message: "13 pods are waiting"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The one that matters comes after more than a page of others.
func TestWarningsBeyondTheFirstPage(t *testing.T) {
	c := fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true))
	c.PrependReactor("list", "events", func(a ktesting.Action) (bool, runtime.Object, error) {
		if a.(ktesting.ListActionImpl).ListOptions.Continue == "" {
			first := &corev1.EventList{ListMeta: metav1.ListMeta{Continue: "next"}}
			for i := range 500 {
				first.Items = append(first.Items, *warning(fmt.Sprint(i), "foreign", "Noise", "", 0))
			}
			return true, first, nil
		}
		return true, &corev1.EventList{Items: []corev1.Event{*warning("x", "ip-1", "FailedDraining", "", 0)}}, nil
	})
	if got := look(t, noderoll.NewKubeObserver(c, group, newImage)).Warnings; len(got) != 1 {
		t.Errorf("%d warnings, want the one on the second page", len(got))
	}
}

func TestObserverAsksItsClock(t *testing.T) {
	c := testclock.NewFakeClock(epoch)
	o := noderoll.NewKubeObserverWithOptions(
		fake.NewSimpleClientset(kubeNode("ip-1", oldImage, true), at(warning("a", "ip-1", "r", "m", 0), epoch)),
		noderoll.KubeOptions{Clock: c, StateOptions: noderoll.StateOptions{WarningWindow: time.Minute}})
	for _, want := range []int{1, 0} {
		if got := len(look(t, o).Warnings); got != want {
			t.Errorf("at %s: %d warnings, want %d", c.Now().Format(time.TimeOnly), got, want)
		}
		c.Step(2 * time.Minute)
	}
}
