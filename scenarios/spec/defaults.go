package spec

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// placeOf are the region and the endings of three of its zones where a file names none.
func placeOf(p Provider) (region string, zones [3]string) {
	switch p {
	case ProviderGKE:
		return "europe-west3", [3]string{"-a", "-b", "-c"}
	case ProviderAKS:
		return "westeurope", [3]string{"-1", "-2", "-3"}
	}
	return "eu-central-1", [3]string{"a", "b", "c"}
}

// fill gives values to what has no fixed default: what depends on other keys.
func (c *checker) fill() {
	c.fillCluster()
	for i := range c.f.Cluster.InstanceTypes {
		c.fillInstanceType(&c.f.Cluster.InstanceTypes[i], fmt.Sprintf("cluster.instanceTypes[%d]", i))
	}
	for i := range c.f.Groups {
		c.fillGroup(&c.f.Groups[i], fmt.Sprintf("groups[%d]", i))
	}
	for i := range c.f.Workloads {
		w := &c.f.Workloads[i]
		w.fillPodSpec()
		if w.Image == "" {
			w.Image = "registry.example/" + w.Name + ":1.0.0"
		}
		for j := range w.Containers {
			if one := &w.Containers[j]; one.Image == "" {
				one.Image = "registry.example/" + one.Name + ":1.0.0"
			}
		}
		if w.Kind == KindDaemonSet && !c.has(fmt.Sprintf("workloads[%d].replicas", i)) {
			w.Replicas = 0
		}
	}
	for i := range c.f.Budgets {
		b := &c.f.Budgets[i]
		if b.Selector != nil && b.Namespace == "" {
			b.Namespace = metav1.NamespaceDefault
		}
		if w := c.f.Covers(b); w != nil {
			if b.Namespace == "" {
				b.Namespace = w.Namespace
			}
			if b.Name == "" {
				b.Name = w.Name
			}
		}
	}
	if c.f.Roll != nil {
		c.fillRoll(c.f.Roll)
	}
	if a := c.f.Autoscaler; a != nil && !c.has("autoscaler.groups") {
		a.Groups = c.groupNames()
	}
	for i := range c.f.Faults {
		for _, d := range []*Down{c.f.Faults[i].KubeletDown, c.f.Faults[i].RuntimeDown} {
			if d != nil && d.Every == 0 {
				d.Every = 2 * d.For
			}
		}
	}
}

func (c *checker) fillCluster() {
	k := &c.f.Cluster
	region, endings := placeOf(k.Provider)
	if k.Region == "" {
		k.Region = region
	}
	if !c.has("cluster.zones") {
		for _, e := range endings {
			k.Zones = append(k.Zones, k.Region+e)
		}
	}
	if k.Handler == "" {
		k.Handler = HandlerNone
		if k.Provider == ProviderKarpenter {
			k.Handler = HandlerKarpenter
		}
	}
}

// The days of the releases of images that a file doesn't name.
const dayFrom, dayTo = "20260818", "20260903"

func (c *checker) fillGroup(g *Group, path string) {
	provider := c.f.Cluster.Provider
	if g.OS == "" {
		g.OS = model.OSes(provider)[0]
	}
	if g.InstanceType == "" {
		g.InstanceType = machineOf(provider)
	}
	if zones := ZonesOf(g.Members, c.f.Cluster.Zones); !c.has(path+".zones") && len(zones) > 0 {
		g.Zones = zones
	} else if !c.has(path + ".zones") {
		g.Zones = append(g.Zones, c.f.Cluster.Zones...)
		if t := c.f.instanceType(g.InstanceType); t != nil {
			g.Zones = append([]string{}, t.Zones...)
		}
	}
	if !c.has(path + ".min") {
		g.Min = min(1, g.Nodes)
	}
	if !c.has(path + ".max") {
		g.Max = max(2*g.Nodes, g.Nodes+10)
	}
	c.fillImage(&g.From, g, 1, dayFrom)
	c.fillImage(&g.To, g, 0, dayTo)
	g.fillMembers()
}

// fillImage fills in what an image doesn't say, from its version, or else from a patch release of the cluster's minor
// version, as many before the latest as the argument behind says.
func (c *checker) fillImage(n *NodeImage, g *Group, behind uint16, day string) {
	if n.InstanceType == "" {
		n.InstanceType = g.InstanceType
	}
	k := &c.f.Cluster
	minor := minorOf(k.KubernetesVersion)
	patch := patches[min(max(minor, oldestMinor), newestMinor)-oldestMinor]
	v := model.Version{Minor: uint16(minor), Patch: patch - behind}
	if stated, err := model.ParseVersion(n.Version); err == nil {
		v = stated
	}
	image := model.ImageOf(k.Provider, g.OS, v, c.f.Machine(n.InstanceType).Arch, day)
	for _, f := range []struct {
		value    *string
		fallback string
	}{{&n.Image, image.ID}, {&n.Version, image.Kubelet}, {&n.Release, image.ReleaseVersion(v)}} {
		if *f.value == "" {
			*f.value = f.fallback
		}
	}
}

// machineOf is the instance type of a provider's nodes where a file names none.
func machineOf(p Provider) string {
	switch p {
	case ProviderGKE:
		return "e2-standard-2"
	case ProviderAKS:
		return "Standard_D2s_v5"
	}
	return "m5.large"
}

// patches are patch releases of Kubernetes that there are, one of each minor
// version from the oldest that a cluster may have.
var patches = [...]uint16{16, 15, 15, 14, 14, 11, 7, 9, 1, 3}

func (c *checker) fillRoll(r *Roll) {
	w := r.way()
	if w == nil || !w.inPlace {
		if !c.has("roll.groups") {
			r.Groups = c.groupNames()
		}
	}
	if w == nil {
		return
	}
	for _, v := range r.numbers(w) {
		if v.usual != nil && !c.has("roll."+v.key) {
			*v.value = *v.usual
		}
	}
	for _, v := range r.durations(w) {
		if v.usual != nil && !c.has("roll."+v.key) {
			*v.value = *v.usual
		}
	}
}

// A choice is a key of a roll that only some strategies have.
type choice[T any] struct {
	key   string
	value *T
	usual *T // nil: the strategy doesn't have it
}

func (r *Roll) numbers(w *way) []choice[IntOrPercent] {
	return []choice[IntOrPercent]{
		{"maxUnavailable", &r.MaxUnavailable, w.maxUnavailable},
		{"maxSurge", &r.MaxSurge, w.maxSurge},
		{"budget", &r.Budget, w.budget},
	}
}

func (r *Roll) durations(w *way) []choice[time.Duration] {
	return []choice[time.Duration]{
		{"evictionTimeout", &r.EvictionTimeout, w.evictionTimeout},
		{"joinTimeout", &r.JoinTimeout, w.joinTimeout},
		{"settleAfterDrain", &r.SettleAfterDrain, w.settleAfterDrain},
		{"soak", &r.Soak, w.soak},
	}
}
