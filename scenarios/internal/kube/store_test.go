package kube_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

var resources = []timeline.Resource{
	{Version: "v1", Kind: "Node", Resource: "nodes"},
	{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
	{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
	{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim", Resource: "nodeclaims"},
}

// rig is a store whose writes make a tape.
type rig struct {
	*kube.Store
	tape bytes.Buffer
	w    *timeline.Writer
	now  time.Duration
	err  error
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{}
	var err error
	r.w, err = timeline.NewWriter(&r.tape, timeline.Header{
		APIVersion: timeline.APIVersion, Kind: timeline.Kind, Metadata: timeline.Metadata{Name: "rig"}, Resources: resources,
	})
	if err != nil {
		t.Fatal(err)
	}
	uids := 0
	r.Store = kube.New(kube.Config{
		Start: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Version: 1000,
		Now:  func() time.Duration { return r.now },
		UID:  func() string { uids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", uids) },
		Sink: r.w.WriteLine,
		Fail: func(err error) {
			if r.err == nil {
				r.err = err
			}
		},
	})
	return r
}

// events ends the tape and reads it back: whole objects.
func (r *rig) events(t testing.TB) []timeline.Event {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	if err := r.w.Write(timeline.Event{At: r.now, Type: timeline.End}); err != nil {
		t.Fatal(err)
	}
	rd, err := timeline.NewReader(&r.tape)
	if err != nil {
		t.Fatal(err)
	}
	var all []timeline.Event
	for ev, err := range rd.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev)
	}
	if !rd.Complete() {
		t.Fatal("the tape is not complete")
	}
	return all
}

// strict decodes an object and refuses what its type doesn't know.
func strict[T any](t testing.TB, raw []byte) *T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return &v
}

func template() *kube.Template {
	return &kube.Template{
		GenerateName: "web-7f9c5d8b6-",
		Containers:   []kube.ContainerSpec{{Name: "web", Image: "registry.example/web:1", CPU: 500, Memory: 128 << 20}},
		GraceSeconds: 30, RestartPolicy: "Always", SchedulerName: "default-scheduler",
		NodeSelector: kube.PairsOf(kube.Pair{Key: "a", Value: "b"}),
		Tolerations:  []kube.Toleration{{Key: "node.kubernetes.io/not-ready", Operator: "Exists", Effect: "NoExecute", Seconds: 300}},
		Spread:       []kube.Spread{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "ScheduleAnyway", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "web"})}},
		Volume:       "data",
	}
}

// TestTheTapeSaysWhatTheStoreHolds changes nodes, pods, budgets and claims at
// random and reads every state back from the tape.
func TestTheTapeSaysWhatTheStoreHolds(t *testing.T) {
	r := newRig(t)
	chance := rand.New(rand.NewPCG(7, 7))
	hostile := []string{"", "x", "\u2028\"\\</script>", strings.Repeat("é", 30), "{[", "null"}
	word := func() string { return hostile[chance.IntN(len(hostile))] }
	var want [][]byte // by event: the object, nil where it is not checked
	r.WatchNodes(func(c kube.Change, _, n *kube.Node) { want = append(want, n.JSON()) })
	r.WatchPods(func(c kube.Change, _, p *kube.Pod) { want = append(want, p.JSON()) })
	r.WatchBudgets(func(c kube.Change, _, b *kube.Budget) { want = append(want, b.JSON()) })

	node := &kube.Node{Meta: kube.Meta{Name: "n1", Labels: kube.PairsOf(kube.Pair{Key: "z", Value: "1"}, kube.Pair{Key: "a", Value: ""})}, KubeletPort: 10250}
	if err := r.CreateNode(node); err != nil {
		t.Fatal(err)
	}
	pod := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "web-1", Labels: kube.PairsOf(kube.Pair{Key: "app", Value: "web"})}, Template: template(), Claim: "data-1", Pinned: "n1", Phase: "Pending"}
	pod.Owner = &kube.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u"}
	if err := r.CreatePod(pod); err != nil {
		t.Fatal(err)
	}
	budget := &kube.Budget{Meta: kube.Meta{Namespace: "shop", Name: "web"}, MinAvailable: "50%", Selector: kube.PairsOf(kube.Pair{Key: "app", Value: "web"})}
	if err := r.CreateBudget(budget); err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		r.now += time.Duration(chance.Int64N(3e9))
		switch chance.IntN(3) {
		case 0:
			r.UpdateNode(node, func(n *kube.Node) {
				switch chance.IntN(9) {
				case 0:
					n.Labels = n.Labels.With("k"+word(), word())
				case 1:
					n.Labels = n.Labels.Without("k" + word())
				case 2:
					n.AddTaint(kube.Taint{Key: "t" + word(), Effect: "NoSchedule", Added: r.Now()})
				case 3:
					n.RemoveTaint("t"+word(), "")
				case 4:
					n.Unschedulable = !n.Unschedulable
				case 5:
					n.Conditions = n.Conditions.Set(kube.Condition{Type: "Ready", Status: "T" + word(), Message: word(), Heartbeat: r.Now(), Transition: r.Now()})
				case 6:
					n.Images = append([]kube.Image(nil), kube.Image{Names: []string{word()}, Bytes: chance.Int64N(9)})
				case 7:
					n.Info.BootID = word()
				case 8:
					n.SetFinalizer("f"+word(), chance.IntN(2) == 0)
				}
			})
		case 1:
			r.UpdatePod(pod, func(p *kube.Pod) {
				switch chance.IntN(9) {
				case 6:
					p.Template = p.Template.Variant(func(c *kube.ContainerSpec) {
						c.Image, c.CPU = "registry.example/web:"+word(), 1+chance.Int64N(3)
						c.CPUPolicy = []string{"", "NotRequired", "RestartContainer"}[chance.IntN(3)]
					})
				case 7:
					p.Labels, p.Annotations = p.Labels.With("l"+word(), word()), p.Annotations.With("a"+word(), word())
				case 8:
					p.Containers = []kube.Container{{Name: "web", Given: &kube.Given{Actual: kube.Resources{Memory: chance.Int64N(9)}, Allocated: kube.Resources{CPU: chance.Int64N(9)}}}}
				case 0:
					p.NodeName = word()
				case 1:
					p.PodIP, p.HostIP = word(), word()
				case 2:
					p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready" + word(), Status: "True", Message: word(), Transition: r.Now(), Observed: chance.Int64N(2)})
				case 3:
					p.Containers = []kube.Container{{Name: "web", State: kube.ContainerState{Kind: "terminated", ExitCode: 143, Reason: "R" + word(), Finished: r.Now()}, ContainerID: word()}}
				case 4:
					p.Conditions = p.Conditions.Remove("Ready" + word())
				case 5:
					p.Phase, p.Reason, p.Message = word(), word(), word()
				}
			})
		case 2:
			r.UpdateBudget(budget, func(b *kube.Budget) {
				b.CurrentHealthy, b.DisruptionsAllowed = chance.IntN(3), chance.IntN(3)
				b.DisruptedPods = nil
				for range chance.IntN(3) {
					b.DisruptedPods = append(b.DisruptedPods, kube.Disrupted{Pod: fmt.Sprint("p", len(b.DisruptedPods), word()), At: r.Now()})
				}
			})
		}
	}
	events := r.events(t)
	events = events[:len(events)-1]
	if len(events) != len(want) {
		t.Fatalf("%d events on the tape, %d in the store", len(events), len(want))
	}
	for i, ev := range events {
		switch ev.Resource {
		case "nodes":
			strict[corev1.Node](t, ev.Object)
		case "pods":
			strict[corev1.Pod](t, ev.Object)
		case "poddisruptionbudgets":
			strict[policyv1.PodDisruptionBudget](t, ev.Object)
		}
		// The order of members may differ: what was added later comes last.
		if diff := cmp.Diff(tree(t, want[i]), tree(t, ev.Object)); diff != "" {
			t.Fatalf("event %d of %s (-store +tape):\n%s", i, ev.Resource, diff)
		}
	}
}

// tree decodes an object, without the identity that the reader puts in, and
// without empty objects, which a merge patch leaves behind.
func tree(t testing.TB, raw []byte) map[string]any {
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	delete(v, "apiVersion")
	delete(v, "kind")
	if m, ok := v["metadata"].(map[string]any); ok {
		for _, name := range []string{"name", "namespace", "uid", "resourceVersion"} {
			delete(m, name)
		}
	}
	prune(v)
	return v
}

func prune(v map[string]any) {
	for k, x := range v {
		if m, ok := x.(map[string]any); ok {
			if prune(m); len(m) == 0 {
				delete(v, k)
			}
		}
	}
}

func TestDeletionIsTheAPIServers(t *testing.T) {
	type step struct{ Type, Deleting, Grace string }
	story := func(do func(r *rig, p *kube.Pod)) []step {
		r := newRig(t)
		p := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "web-1"}, Template: template(), Phase: "Pending"}
		if err := r.CreatePod(p); err != nil {
			t.Fatal(err)
		}
		do(r, p)
		var steps []step
		for _, ev := range r.events(t)[1:] {
			if !ev.Type.Object() {
				continue
			}
			pod := strict[corev1.Pod](t, ev.Object)
			s := step{Type: string(ev.Type)}
			if pod.DeletionTimestamp != nil {
				s.Deleting = pod.DeletionTimestamp.UTC().Format("05")
				s.Grace = fmt.Sprint(*pod.DeletionGracePeriodSeconds)
			}
			steps = append(steps, s)
		}
		return steps
	}
	bind := func(r *rig, p *kube.Pod) {
		r.UpdatePod(p, func(p *kube.Pod) { p.NodeName = "n1" })
	}
	for _, test := range []struct {
		name string
		do   func(r *rig, p *kube.Pod)
		want []step
	}{
		{"a pending pod goes at once", func(r *rig, p *kube.Pod) { r.DeletePod(p, kube.OwnGrace) },
			[]step{{"MODIFIED", "00", "0"}, {"DELETED", "00", "0"}}},
		{"a bound pod waits for its kubelet", func(r *rig, p *kube.Pod) {
			bind(r, p)
			r.DeletePod(p, kube.OwnGrace)
			r.DeletePod(p, kube.OwnGrace)
			r.now = 3 * time.Second
			r.DeletePod(p, 0)
		}, []step{{"MODIFIED", "", ""}, {"MODIFIED", "30", "30"}, {"MODIFIED", "03", "0"}, {"DELETED", "03", "0"}}},
		{"force deletes at once", func(r *rig, p *kube.Pod) { bind(r, p); r.DeletePod(p, 0) },
			[]step{{"MODIFIED", "", ""}, {"MODIFIED", "00", "0"}, {"DELETED", "00", "0"}}},
		{"a finalizer holds", func(r *rig, p *kube.Pod) {
			r.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer("example.com/hold", true) })
			r.DeletePod(p, 0)
			r.now = 9 * time.Second
			r.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer("example.com/hold", false) })
		}, []step{{"MODIFIED", "", ""}, {"MODIFIED", "00", "0"}, {"MODIFIED", "00", "0"}, {"DELETED", "00", "0"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, story(test.do)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAWriteFromAWatchIsAnError(t *testing.T) {
	r := newRig(t)
	n := &kube.Node{Meta: kube.Meta{Name: "n1"}}
	r.WatchNodes(func(c kube.Change, _, _ *kube.Node) {
		if c == kube.Added {
			r.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true })
		}
	})
	if err := r.CreateNode(n); err != nil {
		t.Fatal(err)
	}
	if r.err == nil || !strings.Contains(r.err.Error(), "watch") {
		t.Errorf("got %v", r.err)
	}
}

func BenchmarkUpdatePod(b *testing.B) {
	r := newRig(b)
	p := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "web-1"}, Template: template(), Phase: "Pending"}
	if err := r.CreatePod(p); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		r.now += time.Millisecond
		r.UpdatePod(p, func(p *kube.Pod) {
			p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "True", Transition: r.Now(), Observed: int64(r.now)})
		})
		r.tape.Reset()
	}
}

func BenchmarkUpdateNode(b *testing.B) {
	r := newRig(b)
	n := &kube.Node{Meta: kube.Meta{Name: "n1"}}
	r.SeedNode(n)
	for i := range 4 {
		n.Conditions = n.Conditions.Set(kube.Condition{Type: fmt.Sprint("Ready", i), Status: "True", Reason: "KubeletHasSufficientMemory", Message: "kubelet has sufficient memory available"})
	}
	b.ReportAllocs()
	for b.Loop() {
		r.now += time.Millisecond
		r.UpdateNode(n, func(n *kube.Node) {
			n.Conditions = n.Conditions.Set(kube.Condition{Type: "Ready", Status: "True", Heartbeat: r.Now(), Observed: int64(r.now)})
		})
		r.tape.Reset()
	}
}
