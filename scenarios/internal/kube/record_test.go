package kube_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
)

var kubelet = kube.Source{Component: "kubelet", Host: "node-a"}

// TestTheLifeOfAnEvent: created, counted, forgotten by the API server an hour
// after its last write, and created again with its old name and count.
func TestTheLifeOfAnEvent(t *testing.T) {
	r := newRig(t)
	n := &kube.Node{Meta: kube.Meta{Name: "node-a"}}
	r.SeedNode(n)
	about := kube.Reference{Kind: "Node", Name: "node-a", UID: "node-a"}
	sweep := func(to time.Duration) {
		for r.now < to {
			r.now += 10 * time.Second
			r.ExpireEvents()
		}
	}
	r.Record(kubelet, about, "Normal", "NodeReady", "Node node-a status is now: NodeReady")
	sweep(30 * time.Minute)
	r.Record(kubelet, about, "Normal", "NodeReady", "Node node-a status is now: NodeReady")
	sweep(3 * time.Hour)
	r.Record(kubelet, about, "Normal", "NodeReady", "Node node-a status is now: NodeReady")
	var got []string
	var whole []*corev1.Event
	name := ""
	for _, ev := range r.events(t) {
		if ev.Resource != "events" {
			continue
		}
		count := 0
		if ev.Type != timeline.Deleted {
			e := strict[corev1.Event](t, ev.Object)
			whole, count = append(whole, e), int(e.Count)
		}
		if name == "" {
			name = ev.Name
		}
		if ev.Name != name {
			t.Errorf("%s and %s: want one name", name, ev.Name)
		}
		got = append(got, fmt.Sprintf("%s %s %d", ev.At, ev.Type, count))
	}
	want := []string{"0s ADDED 1", "30m0s MODIFIED 2", "1h30m10s DELETED 0", "3h0m0s ADDED 3"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q: want %q", got, want)
	}
	last := whole[len(whole)-1]
	if last.FirstTimestamp.Sub(whole[0].FirstTimestamp.Time) != 0 || last.LastTimestamp.Sub(whole[0].LastTimestamp.Time) != 3*time.Hour {
		t.Errorf("from %s to %s: want the first time as it was", last.FirstTimestamp, last.LastTimestamp)
	}
	if last.InvolvedObject.UID != "node-a" || last.InvolvedObject.APIVersion != "" || last.Namespace != "default" || last.Source.Host != "node-a" || last.ReportingInstance != "node-a" {
		t.Errorf("%+v", last)
	}
}

// TestClientsRenewEvents: what a client writes of an event begins its hour again, and its reporter goes on to count it.
func TestClientsRenewEvents(t *testing.T) {
	r := newRig(t)
	n := &kube.Node{Meta: kube.Meta{Name: "node-a"}}
	r.SeedNode(n)
	sweep := func(to time.Duration) {
		for r.now < to {
			r.now += 10 * time.Second
			r.ExpireEvents()
		}
	}
	say := func() {
		r.Record(kubelet, kube.AboutNode(n), "Normal", "NodeReady", "Node node-a status is now: NodeReady")
	}
	name := fmt.Sprintf("node-a.%x", int64(r.Now()))
	say()
	sweep(50 * time.Minute)
	r.RenewEvent("default", name)
	sweep(100 * time.Minute)
	say()
	sweep(150 * time.Minute)
	r.RenewEvent("default", name)
	sweep(5 * time.Hour)
	say()
	var got []string
	for _, ev := range r.events(t) {
		if ev.Resource == "events" && ev.Name == name {
			got = append(got, fmt.Sprintf("%s %s", ev.At, ev.Type))
		}
	}
	if d := cmp.Diff([]string{"0s ADDED", "1h40m0s MODIFIED", "3h30m10s DELETED", "5h0m0s ADDED"}, got); d != "" {
		t.Error(d)
	}
}

// TestEventsStandInFullNowAndThen: an event that is written more than a hundred
// times reads the same from its keyframes as from its patches.
func TestEventsStandInFullNowAndThen(t *testing.T) {
	r := newRig(t)
	p := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "web-0"}, Template: template(), NodeName: "node-a", Phase: "Running"}
	if err := r.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	seen := p.Version()
	for i := range 230 {
		r.now += 5*time.Minute + time.Second // what comes more often is dropped
		about := kube.AboutPod(p)
		about.FieldPath = "spec.containers{web}"
		if i%2 == 0 {
			about.FieldPath = "spec.containers{side}"
		}
		message := "Back-off restarting failed container"
		if i >= 100 {
			message = fmt.Sprintf("Back-off %d", i) // many: combined
		}
		r.Record(kubelet, about, "Warning", "BackOff", message)
		r.UpdatePod(p, func(p *kube.Pod) { p.Message = fmt.Sprint(i) })
	}
	counts := map[string]int32{}
	combined := 0
	for _, ev := range r.events(t) {
		if ev.Resource != "events" {
			continue
		}
		e := strict[corev1.Event](t, ev.Object)
		if strings.HasPrefix(e.Message, "(combined from similar events): ") {
			if combined++; e.InvolvedObject.FieldPath != "spec.containers{side}" || e.ReportingController != "" {
				t.Fatalf("%s: %+v: want what the first combined one was about", ev.At, e)
			}
		}
		if ev.Name == "" || e.Count != counts[ev.Name]+1 {
			t.Fatalf("%s %s: count %d behind %d", ev.At, ev.Name, e.Count, counts[ev.Name])
		}
		if counts[ev.Name] == 0 && len(counts) == 0 && e.InvolvedObject.ResourceVersion != fmt.Sprint(seen) {
			t.Errorf("resourceVersion %s: want that of the pod, %d", e.InvolvedObject.ResourceVersion, seen)
		}
		counts[ev.Name] = e.Count
	}
	if combined != 122 || len(counts) != 11 {
		t.Errorf("%d combined ones, %d events: want 122 of the 130 in one, and ten others", combined, len(counts))
	}
}

// TestOfWhatIsGoneNothingIsKept: pods and nodes come, are reported on, and go;
// what is left of them doesn't grow.
func TestOfWhatIsGoneNothingIsKept(t *testing.T) {
	now, uids := time.Duration(0), 0
	s := kube.New(kube.Config{
		Now: func() time.Duration { return now }, UID: func() string { uids++; return fmt.Sprint(uids) },
		Sink: func(timeline.Event) error { return nil }, Fail: func(err error) { t.Fatal(err) },
	})
	tmpl := template()
	rounds := func(n int) uint64 {
		for i := range n {
			now += 4 * time.Second
			s.ExpireEvents()
			node := &kube.Node{Meta: kube.Meta{Name: fmt.Sprintf("node-%d-%d", uids, i)}}
			s.SeedNode(node)
			p := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: fmt.Sprintf("web-%d-%d", uids, i)}, Template: tmpl, NodeName: node.Name, Phase: "Running"}
			if err := s.CreatePod(p); err != nil {
				t.Fatal(err)
			}
			for _, about := range []kube.Reference{kube.AboutPod(p), kube.AboutNode(node), {Kind: "Node", Name: node.Name, UID: node.Name}, {Kind: "Pod", Namespace: "shop", Name: p.Name}} {
				s.Record(kubelet, about, "Normal", "Reason", "message")
				s.Record(kubelet, about, "Normal", "Reason", "message")
			}
			s.DeletePod(p, 0)
			s.Record(kubelet, kube.AboutPod(p), "Normal", "Late", "message")
			s.DeleteNode(node)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	first := rounds(2000) // two hours: as many events have expired as live
	if second := rounds(6000); second > first+1<<20 {
		t.Errorf("%d bytes, then %d: want no more", first, second)
	}
}
