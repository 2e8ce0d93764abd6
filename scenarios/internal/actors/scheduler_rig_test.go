package actors_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/actors"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// placing is a cluster of a scheduler, workloads, and kubelets that do next to
// nothing: a pod that is bound runs a second later, one that is deleted is gone
// two seconds later.
type placing struct {
	*actors.Env
	*actors.Workloads
	sched *actors.Scheduler
	told  []string // Events: reason, object, message
	uids  uint64
	err   error
}

func newPlacing(t testing.TB, version string, tell bool) *placing {
	t.Helper()
	v, err := model.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	timings := model.DefaultTimings("", "").For(v)
	c := &placing{}
	l := &loop.Loop{}
	sink := func(timeline.Event) error { return nil }
	if tell {
		sink = c.tell
	}
	c.Env = &actors.Env{Loop: l, Seed: 7, Timings: &timings, Version: v, API: kube.New(kube.Config{
		Start: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Now: l.Now, Sink: sink,
		UID: func() string { c.uids++; return fmt.Sprintf("00000000-0000-4000-8000-%012x", c.uids) },
		Fail: func(err error) {
			if c.err == nil {
				c.err = err
			}
			l.Fail(err)
		},
	})}
	c.sched = actors.NewScheduler(c.Env)
	c.Workloads = actors.NewWorkloads(c.Env)
	c.API.WatchPods(c.kubelet)
	return c
}

func (c *placing) kubelet(change kube.Change, old, p *kube.Pod) {
	switch {
	case change == kube.Deleted || p.NodeName == "":
	case p.Terminating() && (old == nil || !old.Terminating()):
		c.After(2*time.Second, func() { c.API.DeletePod(p, 0) })
	case change == kube.Modified && old.NodeName == "":
		c.After(time.Second, func() {
			if !p.Terminating() && !p.Terminal() {
				c.API.UpdatePod(p, func(p *kube.Pod) { c.running(p, c.API.Now()) })
			}
		})
	}
}

func (c *placing) running(p *kube.Pod, since kube.Instant) {
	p.Phase = "Running"
	p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "True", Transition: since.Second()})
}

func (c *placing) tell(ev timeline.Event) error {
	if ev.Resource != "events" || ev.Type != timeline.Added {
		return nil
	}
	var e struct {
		Reason, Message string
		InvolvedObject  struct{ Kind, Name string }
	}
	if err := json.Unmarshal(ev.Object, &e); err != nil {
		return err
	}
	c.told = append(c.told, e.Reason+" "+e.InvolvedObject.Kind+" "+e.Message)
	return nil
}

// reports are the messages of a reason.
func (c *placing) reports(reason string) []string {
	var out []string
	for _, line := range c.told {
		if rest, ok := strings.CutPrefix(line, reason+" "); ok {
			out = append(out, rest)
		}
	}
	return out
}

func (c *placing) run(t testing.TB, until time.Duration) {
	t.Helper()
	if err := c.Run(until); err != nil {
		t.Fatal(err)
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
}

// node makes a node of four cores and 16 Gi that takes 20 pods.
func (c *placing) node(name, zone string, change ...func(*kube.Node)) *kube.Node {
	n := &kube.Node{
		Meta:        kube.Meta{Name: name, Labels: kube.PairsOf(kube.Pair{Key: "topology.kubernetes.io/zone", Value: zone}, kube.Pair{Key: "kubernetes.io/hostname", Value: name})},
		Allocatable: kube.PairsOf(kube.Pair{Key: "cpu", Value: "4"}, kube.Pair{Key: "memory", Value: "16Gi"}, kube.Pair{Key: "pods", Value: "20"}),
		Conditions:  kube.Conditions{{Type: "Ready", Status: "True"}},
	}
	for _, f := range change {
		f(n)
	}
	c.API.SeedNode(n)
	return n
}

func (c *placing) cordon(n *kube.Node) {
	c.API.UpdateNode(n, func(n *kube.Node) {
		n.Unschedulable = true
		n.AddTaint(kube.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"})
	})
}

func app(name string, cpu int64) actors.PodTemplate {
	return actors.PodTemplate{
		Labels: kube.PairsOf(kube.Pair{Key: "app", Value: name}), GraceSeconds: 30,
		Containers: []kube.ContainerSpec{{Name: name, Image: "registry.example/" + name + ":1", CPU: cpu, Memory: 256 << 20}},
	}
}

// pods are the pods of an app by name.
func (c *placing) pods(name string) []*kube.Pod {
	var out []*kube.Pod
	for _, p := range c.API.Pods() {
		if p.Labels.Get("app") == name {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *kube.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// placed counts an app's pods by node; "" is pending.
func (c *placing) placed(name string) map[string]int {
	out := map[string]int{}
	for _, p := range c.pods(name) {
		out[p.NodeName]++
	}
	return out
}
