package scenarios_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// small is a surge of few.
var small = []scenarios.Setting{{Name: "nodes", Value: "3"}, {Name: "pods", Value: "6"}, {Name: "minAvailable", Value: "5"}}

// runLive has a scenario run live on the plainest control plane.
func runLive(t *testing.T, name string, set ...scenarios.Setting) (*fakeControlPlane, *time.Time) {
	t.Helper()
	wall := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	w := newPlane(func() time.Time { return wall })
	w.p = prepare(t, w, name, set...)
	return w, &wall
}

func prepare(t *testing.T, w *fakeControlPlane, name string, set ...scenarios.Setting) *scenarios.LiveSimulation {
	t.Helper()
	found, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := found.Document.Resolve(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := file.SimulateLive(scenarios.LiveConfig{APIServer: w, Now: w.now, Speed: 10})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func begin(t *testing.T, w *fakeControlPlane) {
	t.Helper()
	w.create(w.p.Objects())
	w.p.Seed()
	w.settle()
	if missing := w.p.Unsettled(); len(missing) > 0 {
		t.Fatalf("at 0s: %v", missing)
	}
	if err := w.p.Begin(); err != nil {
		t.Fatal(err)
	}
}

// play lets time pass, ten times as fast as on the wall, until stop says so.
func play(t *testing.T, w *fakeControlPlane, wall *time.Time, stop func() bool) {
	t.Helper()
	for !w.p.Ended() && !stop() {
		next, is := w.p.Next()
		if !is {
			t.Fatal("nothing is due, and it hasn't ended")
		}
		*wall = wall.Add((next - w.p.Now()) / 10)
		if err := w.p.Advance(next); err != nil {
			t.Fatal(err)
		}
		w.settle()
	}
}

func count(log []string, prefix string) (n int) {
	for _, line := range log {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// Every old node is replaced; drains are evictions, and nothing else is deleted
// but Nodes whose machines are gone.
func TestLiveSurge(t *testing.T) {
	w, wall := runLive(t, "surge", small...)
	begin(t, w)
	old := map[string]bool{}
	for name := range w.nodes {
		old[name] = true
	}
	for _, pod := range w.pods {
		if pod.Status.Phase != corev1.PodRunning {
			t.Errorf("%s is %s at 0s", pod.Name, pod.Status.Phase)
		}
	}
	play(t, w, wall, func() bool { return false })
	if d := cmp.Diff([]string{""}, w.p.Outcomes()); d != "" {
		t.Error(d)
	}
	for name := range w.nodes {
		if old[name] {
			t.Errorf("%s is still there", name)
		}
	}
	if len(w.nodes) != 3 {
		t.Errorf("%d nodes in the end", len(w.nodes))
	}
	if n := count(w.log, "evict shop/"); n < 8 {
		t.Errorf("%d evictions, want those of 6 pods of web and 2 of queue at least", n)
	}
	if n := count(w.log, "refuse"); n == 0 {
		t.Error("no eviction was refused, although the budget allows one at a time")
	}
	if n := count(w.log, "delete shop/"); n > 0 {
		t.Errorf("%d pods were deleted, not evicted", n)
	}
	for _, want := range []string{"event kubelet NodeReady", "event kubelet Killing", "event cloud-node-controller Synced", "cordon "} {
		if count(w.log, want) == 0 {
			t.Errorf("nobody wrote %q", want)
		}
	}
	for _, pod := range w.pods {
		if s := pod.Status.StartTime; s == nil || s.After(*wall) {
			t.Errorf("%s started at %v, which is behind now, %v", pod.Name, s, *wall)
		}
	}
}

// A scenario doesn't begin while a node has the taint that keeps pods off: the scheduler
// would place them on the other ones.
func TestLiveWaitsForTaints(t *testing.T) {
	w, _ := runLive(t, "surge", small...)
	w.create(w.p.Objects())
	w.p.Seed()
	w.settle()
	name := slices.Sorted(maps.Keys(w.nodes))[0]
	n := w.nodes[name]
	n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	w.nodeNews(watch.Modified, n)
	w.settle()
	if d := cmp.Diff([]string{"node " + name + " has the taint node.kubernetes.io/not-ready"}, w.p.Unsettled()); d != "" {
		t.Errorf("with the taint (-want +got):\n%s", d)
	}
	if n := readyNodes(t, w); n != len(w.nodes)-1 {
		t.Errorf("with the taint %d of %d nodes serve, want one less", n, len(w.nodes))
	}
	n.Spec.Taints = nil
	w.nodeNews(watch.Modified, n)
	w.settle()
	if missing := w.p.Unsettled(); len(missing) > 0 {
		t.Errorf("without the taint: %v, want nothing", missing)
	}
	if n := readyNodes(t, w); n != len(w.nodes) {
		t.Errorf("without the taint %d of %d nodes serve, want all", n, len(w.nodes))
	}
}

// readyNodes counts the nodes of the group workers that serve.
func readyNodes(t *testing.T, w *fakeControlPlane) (ready int) {
	t.Helper()
	g, err := w.p.Group("workers")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range g.Instances {
		if i.Ready {
			ready++
		}
	}
	return ready
}

// Drains of Cluster API and Karpenter skip the pods of a node whose kubelet is silent, as in a simulation: the roll ends.
func TestLiveSilentNode(t *testing.T) {
	for name, text := range map[string]string{"capi": capiDrainsASilentNode, "karpenter": karpenterDrainsASilentNode} {
		t.Run(name, func(t *testing.T) {
			wall := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
			w := newPlane(func() time.Time { return wall })
			p, err := file(t, "metadata: {name: silent, title: a silent node}\ntimeLimit: 6h"+text).SimulateLive(scenarios.LiveConfig{APIServer: w, Now: w.now, Speed: 10})
			if err != nil {
				t.Fatal(err)
			}
			w.p = p
			begin(t, w)
			old := slices.Collect(maps.Keys(w.nodes))
			left := func() []string {
				return slices.DeleteFunc(slices.Clone(old), func(name string) bool { return w.nodes[name] == nil })
			}
			play(t, w, &wall, func() bool { return len(left()) == 0 || w.p.Now() > 4*time.Hour })
			if still := left(); len(still) > 0 {
				t.Errorf("at %s the old nodes %v are still there", w.p.Now(), still)
			}
		})
	}
}

// A budget that allows nothing holds the drain up until its time is over.
func TestLiveStuckDrain(t *testing.T) {
	w, wall := runLive(t, "stuck-drain")
	begin(t, w)
	play(t, w, wall, func() bool { return false })
	if o := w.p.Outcomes(); len(o) != 1 || !strings.HasPrefix(o[0], "PodEvictionFailure: ") {
		t.Errorf("outcomes %q, want PodEvictionFailure", o)
	}
	if n := count(w.log, "refuse"); n < 100 {
		t.Errorf("%d refusals in fifteen minutes, want one every five seconds", n)
	}
	if n := count(w.log, "mark failed"); n != 1 {
		t.Errorf("%d marks of the failure", n)
	}
}

// What another process has left is taken over: nodes keep their UIDs, pods keep
// running, and the roll goes on to its end.
func TestLiveAdopt(t *testing.T) {
	w, wall := runLive(t, "surge", small...)
	begin(t, w)
	play(t, w, wall, func() bool { return count(w.log, "delete node") == 1 })
	uids := map[string]string{}
	for _, n := range w.nodes {
		uids[n.Name] = string(n.UID)
	}
	w.goOn(t, "surge", small...)
	if missing := w.p.Unsettled(); len(missing) > 0 {
		t.Fatalf("adopted: %v", missing)
	}
	if err := w.p.Begin(); err != nil {
		t.Fatal(err)
	}
	for name, n := range w.nodes {
		if uids[name] != string(n.UID) {
			t.Errorf("%s was %s and is %s", name, uids[name], n.UID)
		}
	}
	play(t, w, wall, func() bool { return false })
	if d := cmp.Diff([]string{""}, w.p.Outcomes()); d != "" {
		t.Error(d)
	}
	if len(w.nodes) != 3 {
		t.Errorf("%d nodes in the end", len(w.nodes))
	}
}

// Every scenario can be run live, and ends as its
// simulation does. They are told small, and nothing here tolerates a taint for a
// while or preempts.
func TestLiveEach(t *testing.T) {
	for _, s := range scenarios.All() {
		if s.Document == nil {
			continue // it is no file
		}
		var set []scenarios.Setting
		if s.Name == "percentage" {
			set = []scenarios.Setting{{Name: "nodes", Value: "9"}, {Name: "pods", Value: "40"}}
		}
		file, err := s.Document.Resolve(set, nil)
		if err != nil {
			t.Fatal(err)
		}
		if file.Roll != nil && file.Roll.Workload != "" {
			continue // the caller of the live run rolls in place
		}
		if a := file.Autoscaler; a != nil && a.Kind == "nodemanager" {
			continue // see TestLiveRefusesNodeManager
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			sim, err := file.Simulate(func(timeline.Event) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if err := sim.Run(); err != nil {
				t.Fatal(err)
			}
			w, wall := runLive(t, s.Name, set...)
			begin(t, w)
			play(t, w, wall, func() bool { return false })
			if d := cmp.Diff(sim.Outcomes(), w.p.Outcomes()); d != "" {
				t.Errorf("the rolls end otherwise (-simulated +performed):\n%s", d)
			}
		})
	}
}

// nodemanager binds pods, which a live run leaves to the API server's scheduler.
func TestLiveRefusesNodeManager(t *testing.T) {
	s, err := scenarios.Find("standby-pools")
	if err != nil {
		t.Fatal(err)
	}
	file, err := s.Document.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.SimulateLive(scenarios.LiveConfig{Now: time.Now})
	if err == nil || !strings.Contains(err.Error(), "its autoscaler is nodemanager") {
		t.Errorf("found %v, want the live run refused", err)
	}
}

// A live run whose rolls another program executes ends when each of them has.
func TestEachRollEnds(t *testing.T) {
	found, err := scenarios.Find("surge")
	if err != nil {
		t.Fatal(err)
	}
	file, err := found.Document.Resolve(small, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := file.Groups[0]
	other.Name = "others"
	file.Groups = append(file.Groups, other)
	file.Roll.Groups = []string{"workers", "others"}
	wall := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	w := newPlane(func() time.Time { return wall })
	if w.p, err = file.SimulateLive(scenarios.LiveConfig{APIServer: w, Now: w.now, Speed: 10, ExternalRoller: true}); err != nil {
		t.Fatal(err)
	}
	begin(t, w)
	w.p.FinishRoll("", "")
	play(t, w, &wall, func() bool { return w.p.Now() > 3*file.Settle })
	if w.p.Ended() {
		t.Fatalf("it has ended at %s, with one of two rolls", w.p.Now())
	}
	w.p.FinishRoll("late", "some reason")
	play(t, w, &wall, func() bool { return false })
	if got := w.p.Outcomes(); len(got) != 2 || got[0] != "" || !strings.HasPrefix(got[1], "late: ") {
		t.Errorf("outcomes %q: want two, the second one late", got)
	}
}

// What reaches a kubelet late neither brings a pod back that has left the
// API nor takes a pod's changes back.
func TestLiveLateReport(t *testing.T) {
	web := func(w *fakeControlPlane) *corev1.Pod {
		for _, name := range slices.Sorted(maps.Keys(w.pods)) {
			if pod := w.pods[name]; pod.Labels["app"] == "web" && pod.Spec.NodeName != "" {
				return pod
			}
		}
		t.Fatal("found no pod of web on a node")
		return nil
	}
	evictable := func(w *fakeControlPlane) (n int) {
		group, err := w.p.Group("workers")
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range group.Instances {
			n += i.Pods
		}
		return n
	}
	t.Run("of the dead", func(t *testing.T) {
		w, _ := runLive(t, "surge", small...)
		begin(t, w)
		before := evictable(w)
		pod := web(w)
		late := pod.DeepCopy()
		w.gone(pod)
		w.settle() // another is made, and runs
		w.p.PodGiven(late)
		w.p.PodSeen(watch.Modified, late)
		if now := evictable(w); now != before {
			t.Errorf("found %d pods on the nodes, want the %d that there are", now, before)
		}
	})
	t.Run("of a pod that was taken for dead", func(t *testing.T) {
		w, _ := runLive(t, "surge", small...)
		begin(t, w)
		before := evictable(w)
		pod := web(w)
		w.p.PodSeen(watch.Deleted, pod.DeepCopy())
		w.p.PodGiven(pod.DeepCopy())
		if now := evictable(w); now != before {
			t.Errorf("found %d pods on the nodes, want the %d that there are", now, before)
		}
	})
	t.Run("of before a change", func(t *testing.T) {
		w, wall := runLive(t, "surge", small...)
		begin(t, w)
		pod := web(w)
		late := pod.DeepCopy()
		pod.Spec.Containers[0].Image, pod.Generation = "registry.example/web:3", 2
		w.podNews(watch.Modified, pod)
		w.settle()
		w.p.PodGiven(late)
		until := w.p.Now() + time.Minute
		play(t, w, wall, func() bool { return w.p.Now() >= until })
		if s := pod.Status.ContainerStatuses[0]; s.Image != "registry.example/web:3" || s.RestartCount != 1 {
			t.Errorf("found image %s after %d restarts, want registry.example/web:3 after 1", s.Image, s.RestartCount)
		}
	})
}

// A live run has the parts of a group that is split, each with its nodes.
func TestPerformASplitGroup(t *testing.T) {
	wall := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	w := newPlane(func() time.Time { return wall })
	p, err := file(t, `
metadata: {name: split, title: a group is split}
cluster: {provider: eks}
groups: [{name: fleet, nodes: 7, nodesPerGroup: 3}]
`).SimulateLive(scenarios.LiveConfig{APIServer: w, Now: w.now, Speed: 10})
	if err != nil {
		t.Fatal(err)
	}
	w.p = p
	begin(t, w)
	if len(w.nodes) != 7 {
		t.Errorf("found %d nodes, want 7", len(w.nodes))
	}
}
