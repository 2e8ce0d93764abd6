package kube_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
)

// TestASeriesIsWrittenSeldom: a failure that goes on for an hour is an event, a
// series of two at once, a count every half hour, and the last count when it has
// ended.
func TestASeriesIsWrittenSeldom(t *testing.T) {
	r := newRig(t)
	about := kube.Reference{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1", UID: "u", ResourceVersion: "7"}
	fail := func(message string) {
		r.RecordNew("default-scheduler", "default-scheduler-a", about, "Warning", "FailedScheduling", "Scheduling", message)
	}
	for minute := range 80 {
		r.now = time.Duration(minute) * time.Minute
		if minute < 42 {
			fail(fmt.Sprint("0/3 nodes are available, try ", minute))
		}
		if minute > 0 && r.now%kube.SeriesPeriod == 0 {
			r.SweepSeries()
		}
	}
	type line struct {
		Type, At string
		Count    int32
		Message  string
	}
	var got []line
	for _, ev := range r.events(t) {
		if ev.Resource != "events" {
			continue
		}
		e := strict[corev1.Event](t, ev.Object)
		l := line{Type: string(ev.Type), At: ev.At.String(), Message: e.Message}
		if e.Series != nil {
			l.Count = e.Series.Count
		}
		got = append(got, l)
	}
	want := []line{
		{"ADDED", "0s", 0, "0/3 nodes are available, try 0"},
		{"MODIFIED", "1m0s", 2, "0/3 nodes are available, try 0"},
		{"MODIFIED", "30m0s", 31, "0/3 nodes are available, try 0"},
		{"MODIFIED", "48m0s", 42, "0/3 nodes are available, try 0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherVersionIsAnotherEvent(t *testing.T) {
	r := newRig(t)
	for version := range 3 {
		r.RecordNew("default-scheduler", "a", kube.Reference{Kind: "Pod", Namespace: "shop", Name: "web-1", ResourceVersion: fmt.Sprint(version)},
			"Warning", "FailedScheduling", "Scheduling", "the same")
	}
	added := 0
	for _, ev := range r.events(t) {
		if ev.Resource == "events" && ev.Type == "ADDED" {
			added++
		}
	}
	if added != 3 {
		t.Errorf("%d events, want one for each version of the pod", added)
	}
}
