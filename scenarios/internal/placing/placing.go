// Package placing is the cluster on which tests try the scheduler and the workloads' controllers: both, and kubelets that
// do next to nothing. In: nodes and workloads of a test. Out: where pods are, and what Events say. Only tests may import it.
package placing

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
	"github.com/nodesim/nodesim/timeline"
)

// Cluster is a cluster of a scheduler, workloads, and kubelets that do next to
// nothing: a pod that is bound runs a second later, one that is deleted is gone
// two seconds later.
type Cluster struct {
	*component.Env
	*controllers.Workloads
	Scheduler *scheduler.Scheduler
	Told      []string // Events: reason, object, message
	uids      uint64
	err       error
}

// New makes a cluster without nodes; told says whether it notes Events.
func New(t testing.TB, version string, tell bool) *Cluster {
	t.Helper()
	v, err := model.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	timings := model.DefaultTimings("", "").For(v)
	c := &Cluster{}
	l := &loop.Loop{}
	sink := func(timeline.Event) error { return nil }
	if tell {
		sink = c.tell
	}
	c.Env = &component.Env{Loop: l, Seed: 7, Timings: &timings, Version: v, API: kube.New(kube.Config{
		Start: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Now: l.Now, Sink: sink,
		UID: func() string { c.uids++; return fmt.Sprintf("00000000-0000-4000-8000-%012x", c.uids) },
		Fail: func(err error) {
			if c.err == nil {
				c.err = err
			}
			l.Fail(err)
		},
	})}
	c.Scheduler = scheduler.New(c.Env)
	c.Workloads = controllers.NewWorkloads(c.Env)
	c.API.WatchPods(c.kubelet)
	return c
}

func (c *Cluster) kubelet(change kube.Change, old, p *kube.Pod) {
	switch {
	case change == kube.Deleted || p.NodeName == "":
	case p.Terminating() && (old == nil || !old.Terminating()):
		c.After(2*time.Second, func() { c.API.DeletePod(p, 0) })
	case change == kube.Modified && old.NodeName == "":
		c.After(time.Second, func() {
			if !p.Terminating() && !p.Terminal() {
				c.API.UpdatePod(p, func(p *kube.Pod) { c.Running(p, c.API.Now()) })
			}
		})
	}
}

// Running says what is written of a pod that runs: it is Ready.
func (c *Cluster) Running(p *kube.Pod, since kube.Instant) {
	p.Phase = "Running"
	p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: "True", Transition: since.Second()})
}

func (c *Cluster) tell(ev timeline.Event) error {
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
	c.Told = append(c.Told, e.Reason+" "+e.InvolvedObject.Kind+" "+e.Message)
	return nil
}

// Reports are the messages of a reason.
func (c *Cluster) Reports(reason string) []string {
	var out []string
	for _, line := range c.Told {
		if rest, ok := strings.CutPrefix(line, reason+" "); ok {
			out = append(out, rest)
		}
	}
	return out
}

// RunTo lets time pass until a moment.
func (c *Cluster) RunTo(t testing.TB, until time.Duration) {
	t.Helper()
	if err := c.Run(until); err != nil {
		t.Fatal(err)
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
}

// Node makes a node of four cores and 16 Gi that takes 20 pods.
func (c *Cluster) Node(name, zone string, change ...func(*kube.Node)) *kube.Node {
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

// Cordon marks a node unschedulable, with the taint.
func (c *Cluster) Cordon(n *kube.Node) {
	c.API.UpdateNode(n, func(n *kube.Node) {
		n.Unschedulable = true
		n.AddTaint(kube.Taint{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"})
	})
}

// App is a template of a container with 256 MiB that asks for some millicores.
func App(name string, cpu int64) controllers.PodTemplate {
	return controllers.PodTemplate{
		Labels: kube.PairsOf(kube.Pair{Key: "app", Value: name}), GraceSeconds: 30,
		Containers: []kube.ContainerSpec{{Name: name, Image: "registry.example/" + name + ":1", CPU: cpu, Memory: 256 << 20}},
	}
}

// Pods are the pods of an app by name.
func (c *Cluster) Pods(name string) []*kube.Pod {
	var out []*kube.Pod
	for _, p := range c.API.Pods() {
		if p.Labels.Get("app") == name {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b *kube.Pod) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Placed counts an app's pods by node; "" is pending.
func (c *Cluster) Placed(name string) map[string]int {
	out := map[string]int{}
	for _, p := range c.Pods(name) {
		out[p.NodeName]++
	}
	return out
}

// Deploy adds a workload to the namespace shop.
func (c *Cluster) Deploy(t testing.TB, kind controllers.WorkloadKind, name string, replicas int, template controllers.PodTemplate) {
	t.Helper()
	if err := c.Add(controllers.Workload{Kind: kind, Namespace: "shop", Name: name, Replicas: replicas, Template: template, CreateAt: c.Now()}); err != nil {
		t.Fatal(err)
	}
}
