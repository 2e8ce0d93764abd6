package scenarios

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/autoscaler"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
	"github.com/nodesim/nodesim/scenarios/internal/standby"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// timingsOf returns the timings of a group's machines: those of their OS, worked
// out once.
func (s *Simulation) timingsOf() func(*cloud.Group) *model.Timings {
	byOS := map[spec.OS]*model.Timings{}
	return func(g *cloud.Group) *model.Timings {
		os := spec.OS(g.Template.OS)
		if byOS[os] == nil {
			t, err := s.file.MachineTimings(os, s.env.Version)
			if err != nil { // the names were checked for the cluster's own timings
				t = s.env.Timings
			}
			byOS[os] = t
		}
		return byOS[os]
	}
}

// prepare says what the machines are like, to kubelets and to the provider.
func (s *Simulation) prepare() {
	s.kubelet = kubelet.Config{Timings: s.timingsOf(), Shape: s.shape, Place: s.place, Fits: s.acting != nil}
	if s.file.Cluster.Kubelet == spec.KubeletKwok {
		s.kubelet.Profile = kubelet.Kwok
		s.kubelet.Kwok = s.stages()
	}
	s.env.Cloud = cloud.New(cloud.Config{
		Loop: s.env.Loop, Seed: s.env.Seed, Jitter: s.env.Jitter,
		Timings: s.kubelet.Timings, Identify: s.identify, ShutdownGrace: s.kubelet.ShutdownGrace,
	})
}

// stages are the delays of kwok's stages as far as the file states the times that they stand for; the others are kwok's own.
func (s *Simulation) stages() (d kubelet.KwokDelays) {
	for name, delay := range map[string]*time.Duration{"becomeReady": &d.NodeStart, "containerReady": &d.PodStart, "appStop": &d.PodStop} {
		if dist, stated := s.file.Timings.Get(name); stated {
			*delay = dist.Model().Median()
		}
	}
	return d
}

// identify names an instance and its node.
func (s *Simulation) identify(i *cloud.Instance) {
	i.IP = s.place(i).IP.String()
	i.ID, i.Name = s.kubelet.Identity(s.env.Seed, i)
}

// knownShape is the shape of a group's nodes, and what of it may differ from one node to the other.
type knownShape struct {
	template cloud.Template
	spot     bool
	shape    model.Shape
}

// shape returns the shape of an instance's node. Those of a group share it: nobody may change it.
func (s *Simulation) shape(i *cloud.Instance) model.Shape {
	if s.members[i] != nil {
		return s.newShape(i)
	}
	known := s.shapes[i.Group]
	for k := range known {
		if known[k].template == i.Template && known[k].spot == i.Group.Spot {
			return known[k].shape
		}
	}
	sh := s.newShape(i)
	s.shapes[i.Group] = append(known, knownShape{i.Template, i.Group.Spot, sh})
	return sh
}

func (s *Simulation) newShape(i *cloud.Instance) model.Shape {
	provider, os := s.file.Cluster.Provider, model.OS(i.Template.OS)
	machine := s.file.Machine(i.Template.InstanceType)
	version, err := model.ParseVersion(i.Template.Version)
	if err != nil {
		version = s.env.Version
	}
	image := model.ImageOf(provider, os, version, machine.Arch, releaseDay(i.Template.Release))
	image.ID, image.Kubelet = i.Template.Image, i.Template.Version
	sh := model.Shape{
		Provider: provider, OS: os, Machine: machine, Version: version, Image: image,
		Cluster: s.file.Cluster.Name, Group: i.Group.Name, Region: s.file.Cluster.Region,
		CapacityType: model.OnDemand, LaunchTemplateVersion: i.Template.LaunchVersion,
	}
	if i.Group.Spot {
		sh.CapacityType = model.Spot
	}
	names := s.env.Stream("account", i.Group.Name)
	sh.LaunchTemplate = "lt-0" + names.Hex(16)
	switch provider {
	case model.GKE:
		sh.Account = s.file.Cluster.Name + "-project"
	case model.AKS:
		sh.Account = names.UUID()
	}
	if g := s.group(i.Group.Name); g != nil {
		labels, taints := g.Labels, g.Taints
		if m := s.members[i]; m != nil {
			labels, taints = maps.Clone(labels), slices.Concat(taints, m.Taints)
			if labels == nil {
				labels = map[string]string{}
			}
			maps.Copy(labels, m.Labels)
		}
		for key, value := range labels { // sorted below
			sh.Labels = append(sh.Labels, model.Pair{Key: key, Value: value})
		}
		slices.SortFunc(sh.Labels, func(a, b model.Pair) int {
			if a.Key < b.Key {
				return -1
			}
			return 1
		})
		for _, t := range taints {
			sh.Taints = append(sh.Taints, model.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
		}
	}
	return sh
}

// nodeShape is the shape of an instance's node.
func (s *Simulation) nodeShape(i *cloud.Instance) model.NodeShape {
	n := s.kubelet.Node(s.env.Seed, i)
	if id, ok := s.providerIDs[i]; ok {
		n.ProviderID = id
	}
	return n
}

// place is where an instance stands: its address is one of its zone's subnet,
// in no order that shows.
func (s *Simulation) place(i *cloud.Instance) model.Place {
	if p, ok := s.places[i]; ok {
		return p
	}
	const subnet = 62_500 // hosts of a zone: 250 by 250
	zone := max(0, slices.Index(s.file.Cluster.Zones, i.Zone))
	n := i.Number * 7919 % subnet // 7919 is prime to it, so that no two are the same
	second := zone + 16*(i.Number/subnet%15)
	p := model.Place{
		Zone: i.Zone, Ordinal: i.Number,
		IP: netip.AddrFrom4([4]byte{10, byte(second), byte(n / 250), byte(4 + n%250)}),
	}
	switch s.file.Cluster.Provider {
	case model.GKE, model.CAPI, model.KOps:
		p.PodCIDR = netip.PrefixFrom(netip.AddrFrom4([4]byte{100, byte(64 + i.Number>>8&63), byte(i.Number), 0}), 24)
	}
	return p
}

func (s *Simulation) group(name string) *spec.Group {
	for i := range s.file.Groups {
		if s.file.Groups[i].Name == name {
			return &s.file.Groups[i]
		}
	}
	return nil
}

// template returns the launch template of a group's instances.
func template(g *spec.Group, image spec.NodeImage, launch int) cloud.Template {
	return cloud.Template{
		Image: image.Image, Version: image.Version, Release: image.Release, OS: string(g.OS), InstanceType: image.InstanceType,
		LaunchVersion: launch,
	}
}

// Launch template versions of the nodes before and after a roll.
const (
	launchFrom = 3
	launchTo   = 4
)

// addGroup tells the provider of a group.
func (s *Simulation) addGroup(g *spec.Group) {
	s.env.Cloud.AddGroup(&cloud.Group{
		Name: g.Name, Zones: g.Zones, Spot: g.CapacityType == spec.CapacitySpot, Min: g.Min, Max: g.Max,
		Template: template(g, g.From, launchFrom), FreeIPs: g.FreeIPs,
		Detached: s.file.Cluster.Provider == spec.ProviderKarpenter || s.file.Cluster.Provider == spec.ProviderCAPI || s.file.Autoscaler.NodeManager(g.Name),
	})
}

// seedGroup puts the nodes of a group there that have been running for days.
func (s *Simulation) seedGroup(g *spec.Group) {
	c := s.env.Cloud.Group(g.Name)
	ages := s.env.Stream("age", g.Name)
	rollout := hours(&ages, 24*9, 24*30)
	for k := range g.Members {
		s.seedMember(c, g, &g.Members[k], rollout-time.Duration(k)*3*time.Minute%(6*24*time.Hour))
	}
	for k := range g.Nodes - len(g.Members) {
		i := s.env.Cloud.Seed(c, g.Zones[k%len(g.Zones)])
		s.kubelets.Seed(i, rollout-time.Duration(k)*3*time.Minute%(6*24*time.Hour))
	}
}

// startActors starts who lives in the cluster.
func (s *Simulation) startActors() error {
	s.kubelets = kubelet.New(s.env, s.kubelet)
	controllers.NewNodeLifecycle(s.env)
	controllers.NewTaintEviction(s.env)
	controllers.NewPodGC(s.env)
	s.disruption = controllers.NewDisruption(s.env)
	s.startCloudControllers()
	if s.file.Cluster.Kubelet != spec.KubeletKwok {
		attach := controllers.NewAttachDetach(s.env)
		if s.acting != nil {
			s.acting.attach = attach
			attach.Name(s.acting.volumeOf)
		}
	}
	s.workloads = controllers.NewWorkloads(s.env)
	s.scheduler = scheduler.New(s.env)
	s.startAutoscaler()
	s.watchFinalizers()
	s.watchClaims()
	return s.startProvider()
}

// startCloudControllers starts what tells the API of the provider's instances.
func (s *Simulation) startCloudControllers() {
	if s.file.Cluster.Kubelet == spec.KubeletKwok {
		controllers.NewNodeDeletion(s.env)
	} else {
		controllers.NewCloudNode(s.env, controllers.CloudNodeConfig{Initialize: s.kubelets.Initialize})
	}
}

// startAutoscaler starts the autoscaler, where the file has one.
func (s *Simulation) startAutoscaler() {
	a := s.file.Autoscaler
	if a == nil {
		return
	}
	if a.Kind == spec.AutoscalerNodeManager {
		s.startNodeManager(a)
		return
	}
	c := autoscaler.Config{Kubelets: s.kubelet}
	for _, name := range a.Groups {
		c.Groups = append(c.Groups, s.env.Cloud.Group(name))
	}
	for _, b := range a.Standby {
		c.Standby = append(c.Standby, autoscaler.Standby{Group: b.Group, Count: b.Count})
	}
	autoscaler.New(s.env, c)
}

// startNodeManager has nodemanager's own controllers scale the groups.
func (s *Simulation) startNodeManager(a *spec.Autoscaler) {
	c := standby.Config{Kubelets: s.kubelet, Pools: map[string]int{}}
	for _, name := range a.Groups {
		c.Groups = append(c.Groups, s.env.Cloud.Group(name))
	}
	for _, b := range a.Standby {
		c.Pools[b.Group] += b.Count
	}
	s.nodeManager = standby.New(s.env, c)
}

// watchFinalizers removes finalizers after the time that their workload holds them.
func (s *Simulation) watchFinalizers() {
	if !slices.ContainsFunc(s.file.Workloads, func(w spec.Workload) bool { return w.Finalizer != "" && w.FinalizerHeld > 0 }) {
		return
	}
	s.env.API.WatchPods(func(c kube.Change, old, p *kube.Pod) {
		if c != kube.Modified || old.Terminating() || !p.Terminating() {
			return
		}
		if w := s.workloadOfPod(p.Namespace, p.Labels.Lookup); w != nil && w.FinalizerHeld > 0 && slices.Contains(p.Finalizers, w.Finalizer) {
			s.env.After(w.FinalizerHeld, func() { s.env.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(w.Finalizer, false) }) })
		}
	})
}

// releaseDay is the day of an image in its release: "20251112" of
// "1.34.2-20251112".
func releaseDay(release string) string {
	if i := strings.LastIndexAny(release, "-."); i >= 0 {
		return release[i+1:]
	}
	return release
}

// hours are how long nodes and pods have been there when the tape begins.
func hours(s *model.Stream, least, most int) time.Duration {
	return time.Duration(least)*time.Hour + time.Duration(s.N(uint64(most-least)*3600))*time.Second
}
