package controllers_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// control is a cluster of controllers without kubelets: what a kubelet would do,
// a test does by hand. Every duration is its median.
type control struct {
	*component.Env
	group *cloud.Group
	lines []line
	uids  int
	err   error
}

// line is what is on the tape of a write.
type line struct {
	at             time.Duration
	verb, resource string
	name           string
	json           string // of the object or patch
}

func newControl(t testing.TB, version string) *control {
	t.Helper()
	v, err := model.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	timings := model.DefaultTimings("", "").For(v)
	c := &control{}
	l := &loop.Loop{}
	c.Env = &component.Env{Loop: l, Seed: 3, Timings: &timings, Version: v}
	c.API = kube.New(kube.Config{
		Start: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Now: l.Now,
		UID: func() string { c.uids++; return fmt.Sprintf("uid-%d", c.uids) },
		Sink: func(ev timeline.Event) error {
			c.lines = append(c.lines, line{ev.At, string(ev.Type), ev.Resource, ev.Name, string(ev.Object) + string(ev.Patch)})
			return nil
		},
		Fail: func(err error) { c.err = err; l.Fail(err) },
	})
	c.Cloud = cloud.New(cloud.Config{
		Loop: l, Seed: 3, Timings: func(*cloud.Group) *model.Timings { return &timings },
		Identify: func(i *cloud.Instance) {
			i.ID, i.Name = fmt.Sprintf("i-%d", i.Number), fmt.Sprintf("node-%d", i.Number)
		},
	})
	c.group = &cloud.Group{Name: "workers", Zones: []string{"a", "b", "c"}, Detached: true}
	c.Cloud.AddGroup(c.group)
	return c
}

// to lets time go on to a moment.
func (c *control) to(t testing.TB, until time.Duration) {
	t.Helper()
	if err := c.Run(until); err != nil {
		t.Fatal(err)
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
}

// node seeds a Ready node whose Lease is being renewed.
func (c *control) node(name, zone string) *kube.Node {
	since := c.API.Now().Add(-time.Hour)
	n := &kube.Node{
		Meta: kube.Meta{Name: name, Created: since, Labels: kube.PairsOf(
			kube.Pair{Key: "topology.kubernetes.io/zone", Value: zone}, kube.Pair{Key: "topology.kubernetes.io/region", Value: "eu"})},
		Conditions: conditions(since, "True"),
	}
	c.API.SeedNode(n)
	c.API.StartLease(name, c.API.Now().Add(-3*time.Second))
	return n
}

func conditions(at kube.Instant, ready string) kube.Conditions {
	var cs kube.Conditions
	for _, kind := range []string{"MemoryPressure", "DiskPressure", "PIDPressure"} {
		cs = cs.Set(kube.Condition{Type: kind, Status: "False", Heartbeat: at.Second(), Transition: at.Second()})
	}
	return cs.Set(kube.Condition{Type: "Ready", Status: ready, Reason: "KubeletReady", Heartbeat: at.Second(), Transition: at.Second()})
}

// post sets a node's Ready condition as its kubelet does.
func (c *control) post(n *kube.Node, ready string) {
	c.API.UpdateNode(n, func(n *kube.Node) {
		for _, was := range conditions(c.API.Now(), ready) {
			n.Conditions = n.Conditions.Set(was)
		}
	})
}

// pod seeds a pod that runs on a node and is Ready.
func (c *control) pod(t testing.TB, name, node string, change ...func(*kube.Pod)) *kube.Pod {
	t.Helper()
	p := &kube.Pod{
		Meta: kube.Meta{
			Namespace: "shop", Name: name, Created: c.API.Now().Add(-time.Hour), Labels: kube.PairsOf(kube.Pair{Key: "app", Value: "web"}),
			Owner: &kube.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "rs-web"},
		},
		Template: &kube.Template{GraceSeconds: 30, Containers: []kube.ContainerSpec{{Name: "web"}}},
		NodeName: node, Phase: "Running",
		Conditions: kube.Conditions{{Type: "Ready", Status: "True"}},
	}
	for _, f := range change {
		f(p)
	}
	if err := c.API.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	return p
}

func tolerate(tolerations ...kube.Toleration) func(*kube.Pod) {
	return func(p *kube.Pod) {
		next := *p.Template
		next.Tolerations = tolerations
		p.Template = &next
	}
}

// ready sets a pod's Ready condition.
func (c *control) ready(p *kube.Pod, status string) {
	c.API.UpdatePod(p, func(p *kube.Pod) {
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "Ready", Status: status, Transition: c.API.Now().Second()})
	})
}

// said are the Events on the tape from a line on: time, reason, object, message.
func (c *control) said(from int) []string {
	var out []string
	for _, l := range c.lines[from:] {
		if l.resource != "events" || l.verb != "ADDED" {
			continue
		}
		var e struct {
			Type, Reason, Message string
			InvolvedObject        struct{ Name string }
			Source                struct{ Component string }
		}
		if err := json.Unmarshal([]byte(l.json), &e); err != nil {
			return []string{err.Error()}
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s [%s]", e.Type, e.Reason, e.InvolvedObject.Name, e.Message, e.Source.Component))
	}
	return out
}

// wrote are the writes of an object from a line on, their JSON cut to what is
// named by keep.
func (c *control) wrote(from int, resource, name string) []line {
	var out []line
	for _, l := range c.lines[from:] {
		if l.resource == resource && l.name == name {
			out = append(out, l)
		}
	}
	return out
}

// first is when the first line on the tape holds all of the words; -1 for never.
func (c *control) first(from int, words ...string) time.Duration {
	for _, l := range c.lines[from:] {
		text := strings.Join([]string{l.verb, l.resource, l.name, l.json}, " ")
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			return l.at
		}
	}
	return -1
}

func between(t testing.TB, what string, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s at %s: want between %s and %s", what, got, least, most)
	}
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
