package autoscaler_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/autoscaler"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/placing"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
	"github.com/nodesim/nodesim/timeline"
)

// scaling is a whole cluster of m5.large nodes on EKS with an autoscaler.
type scaling struct {
	testing.TB
	*component.Env
	*controllers.Workloads
	kubelets *kubelet.Kubelets
	config   kubelet.Config
	groups   []*cloud.Group
	// story has a line for each of the autoscaler's events and taints.
	story    []string
	tape     []string // every line, where keep is set
	keep     bool
	uids     int
	deployed []string // what may be scaled
	labels   map[string]kube.Pair
}

var scalingZones = []string{"us-east-1a", "us-east-1b"}

// newScaling makes the cluster; groups are "name min..max nodes", and "=spot",
// "=pool" (its nodes are labelled pool=name), "=detached" or "=kwok" (all
// kubelets are) after that.
func newScaling(t testing.TB, jitter int, groups ...string) *scaling {
	t.Helper()
	version, err := model.ParseVersion("v1.34.2")
	if err != nil {
		t.Fatal(err)
	}
	timings := model.DefaultTimings(model.EKS, model.AL2023).For(version)
	c := &scaling{TB: t, labels: map[string]kube.Pair{}}
	l := &loop.Loop{}
	store := kube.New(kube.Config{
		Start: kube.InstantOf(time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)), Version: 1000, Now: l.Now, Fail: l.Fail, Sink: c.note,
		UID: func() string { c.uids++; return fmt.Sprintf("00000000-0000-4000-8000-%012d", c.uids) },
	})
	c.config = kubelet.Config{
		Timings: func(*cloud.Group) *model.Timings { return &timings },
		Place: func(i *cloud.Instance) model.Place {
			n := i.Number + 10
			return model.Place{Zone: i.Zone, IP: netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}), Ordinal: i.Number}
		},
		Shape: func(i *cloud.Instance) model.Shape {
			machine, _ := model.FindMachine(i.Template.InstanceType)
			s := model.Shape{
				Provider: model.EKS, OS: model.AL2023, Machine: machine, Version: version, Cluster: "rig", Group: i.Group.Name,
				Region: "us-east-1", Image: model.ImageOf(model.EKS, model.AL2023, version, machine.Arch, "20251112"),
			}
			if p, ok := c.labels[i.Group.Name]; ok {
				s.Labels = []model.Pair{{Key: p.Key, Value: p.Value}}
			}
			return s
		},
	}
	provider := cloud.New(cloud.Config{
		Loop: l, Seed: 7, Jitter: jitter, Timings: c.config.Timings,
		Identify: func(i *cloud.Instance) {
			shape := c.config.Node(7, i)
			i.ID, i.Name, i.IP = shape.InstanceID, shape.Name, c.config.Place(i).IP.String()
		},
	})
	c.Env = &component.Env{Loop: l, API: store, Cloud: provider, Seed: 7, Jitter: jitter, Timings: &timings, Version: version}
	if slices.ContainsFunc(groups, func(words string) bool { return strings.HasSuffix(words, "kwok") }) {
		c.config.Profile = kubelet.Kwok
	}
	c.kubelets = kubelet.New(c.Env, c.config)
	controllers.NewNodeLifecycle(c.Env)
	controllers.NewCloudNode(c.Env, controllers.CloudNodeConfig{Initialize: c.kubelets.Initialize})
	controllers.NewPodGC(c.Env)
	c.Workloads = controllers.NewWorkloads(c.Env)
	scheduler.New(c.Env)
	for _, words := range groups {
		words, options, _ := strings.Cut(words, "=")
		g := &cloud.Group{
			Zones: scalingZones, FreeIPs: 100_000,
			Template: cloud.Template{Version: "v1.34.2", InstanceType: "m5.large", OS: "al2023"},
			Spot:     strings.Contains(options, "spot"), Detached: strings.Contains(options, "detached"),
		}
		nodes := 0
		if _, err := fmt.Sscanf(strings.Replace(words, "..", " ", 1), "%s %d %d %d", &g.Name, &g.Min, &g.Max, &nodes); err != nil {
			t.Fatalf("group %q: %v", words, err)
		}
		if strings.Contains(options, "pool") {
			c.labels[g.Name] = kube.Pair{Key: "pool", Value: g.Name}
		}
		provider.AddGroup(g)
		for k := range nodes {
			c.kubelets.Seed(provider.Seed(g, g.Zones[k%len(g.Zones)]), 24*time.Hour)
		}
		c.groups = append(c.groups, g)
	}
	return c
}

// scale starts the autoscaler, with standby nodes in the first groups.
func (c *scaling) scale(standby ...int) {
	cfg := autoscaler.Config{Groups: c.groups, Kubelets: c.config}
	for i, n := range standby {
		cfg.Standby = append(cfg.Standby, autoscaler.Standby{Group: c.groups[i].Name, Count: n})
	}
	autoscaler.New(c.Env, cfg)
}

// deploy adds a Deployment whose pods take so much CPU.
func (c *scaling) deploy(name string, replicas int, cpu int64, change ...func(*controllers.Workload)) {
	c.Helper()
	w := controllers.Workload{Kind: controllers.Deployment, Namespace: "shop", Name: name, Replicas: replicas, Template: placing.App(name, cpu), CreateAt: c.Now()}
	for _, f := range change {
		f(&w)
	}
	if err := c.Add(w); err != nil {
		c.Fatal(err)
	}
}

// run lets time pass.
func (c *scaling) run(d time.Duration) {
	c.Helper()
	if err := c.Run(c.Now() + d); err != nil {
		c.Fatal(err)
	}
}

// pending counts the pods that are bound nowhere.
func (c *scaling) pending() int {
	n := 0
	for _, p := range c.API.Pods() {
		if p.NodeName == "" && !p.Terminal() {
			n++
		}
	}
	return n
}

// sizes are what the groups want, and how many of their nodes are ready.
func (c *scaling) sizes() string {
	var out []string
	for _, g := range c.groups {
		ready := 0
		for _, i := range g.Instances() {
			if n := c.API.Node(i.Name); n != nil && n.Ready() {
				ready++
			}
		}
		out = append(out, fmt.Sprintf("%s %d/%d", g.Name, ready, g.Desired))
	}
	return strings.Join(out, ", ")
}

// told counts the autoscaler's events by their text.
func (c *scaling) told() map[string]int {
	out := map[string]int{}
	for _, line := range c.story {
		out[line]++
	}
	return out
}

func (c *scaling) forget() { c.story = nil }

func (c *scaling) note(ev timeline.Event) error {
	body := ev.Object
	if body == nil {
		body = ev.Patch
	}
	if c.keep {
		c.tape = append(c.tape, fmt.Sprintf("%v %s %s %s/%s %s", ev.At, ev.Type, ev.Resource, ev.Namespace, ev.Name, body))
	}
	if ev.Resource != "events" || ev.Type != timeline.Added {
		return nil
	}
	var e struct {
		Type, Reason, Message string
		Source                struct{ Component string }
		InvolvedObject        struct{ Kind, Name string }
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if e.Source.Component == "cluster-autoscaler" {
		c.story = append(c.story, fmt.Sprintf("%s %s %s: %s", e.InvolvedObject.Kind, e.Type, e.Reason, e.Message))
	}
	return nil
}

// wantTold compares what the autoscaler said with lines of a count and a text.
func (c *scaling) wantTold(lines ...string) {
	c.Helper()
	var got []string
	for text, n := range c.told() {
		got = append(got, fmt.Sprintf("%d %s", n, text))
	}
	slices.Sort(got)
	slices.Sort(lines)
	if g, w := strings.Join(got, "\n"), strings.Join(lines, "\n"); g != w {
		c.Errorf("told:\n%s\nwant:\n%s", g, w)
	}
}

func (c *scaling) wantSizes(want string) {
	c.Helper()
	if got := c.sizes(); got != want {
		c.Errorf("after %v: groups are %q, want %q; %d pods wait", c.Now(), got, want, c.pending())
	}
}
