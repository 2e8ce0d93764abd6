package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/model"
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
	for i := range c.f.Groups {
		c.fillGroup(&c.f.Groups[i], fmt.Sprintf("groups[%d]", i))
	}
	for i := range c.f.Workloads {
		w := &c.f.Workloads[i]
		if w.Image == "" {
			w.Image = "registry.example/" + w.Name + ":1.0.0"
		}
		if w.Kind == KindDaemonSet && !c.has(fmt.Sprintf("workloads[%d].replicas", i)) {
			w.Replicas = 0
		}
	}
	for i := range c.f.Budgets {
		b := &c.f.Budgets[i]
		if w := c.workload(b.Workload); w != nil && b.Namespace == "" {
			b.Namespace = w.Namespace
		}
		if b.Name == "" {
			b.Name = b.Workload
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

func (c *checker) fillGroup(g *Group, path string) {
	provider := c.f.Cluster.Provider
	if !c.has(path + ".zones") {
		g.Zones = append(g.Zones, c.f.Cluster.Zones...)
	}
	if g.OS == "" {
		g.OS = model.OSes(provider)[0]
	}
	if g.InstanceType == "" {
		g.InstanceType = machineOf(provider)
	}
	if !c.has(path + ".min") {
		g.Min = min(1, g.Nodes)
	}
	if !c.has(path + ".max") {
		g.Max = max(2*g.Nodes, g.Nodes+10)
	}
	older, newer := imagesOf(provider, c.f.Cluster.KubernetesVersion)
	complete(&g.From, older, g.InstanceType)
	complete(&g.To, newer, g.InstanceType)
}

// complete fills in what an image doesn't say.
func complete(n *NodeImage, from NodeImage, instanceType string) {
	for _, f := range []struct {
		value    *string
		fallback string
	}{
		{&n.Image, from.Image}, {&n.Version, from.Version}, {&n.Release, from.Release}, {&n.InstanceType, instanceType},
	} {
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

// patches are patch releases of Kubernetes, of each minor version from the
// oldest that a cluster may have, that were followed by no incompatible ones.
var patches = [...]int{16, 15, 15, 14, 14, 11, 7, 9, 1, 3}

// imagesOf are two images of a provider with the cluster's minor version: the
// second has the next patch release. Image identifiers are made up.
func imagesOf(p Provider, version string) (older, newer NodeImage) {
	minor, err := strconv.Atoi(strings.TrimPrefix(version, "1."))
	if err != nil || minor < oldestMinor || minor > newestMinor {
		minor = newestMinor // the version's form was checked
	}
	patch := patches[minor-oldestMinor]
	build := func(patch int, ami, date, gke, vhd string) NodeImage {
		v := fmt.Sprintf("1.%d.%d", minor, patch)
		switch p {
		case ProviderEKS, ProviderKarpenter:
			return NodeImage{Image: ami, Version: "v" + v + "-eks-ecaa3a6", Release: v + "-" + date}
		case ProviderGKE:
			return NodeImage{
				Image:   fmt.Sprintf("gke-%s-gke%s-cos", strings.ReplaceAll(v, ".", ""), gke),
				Version: "v" + v + "-gke." + gke, Release: v + "-gke." + gke,
			}
		case ProviderAKS:
			return NodeImage{Image: "AKSUbuntu-2204gen2containerd-" + vhd, Version: "v" + v, Release: vhd}
		}
		return NodeImage{Image: ami, Version: "v" + v, Release: v}
	}
	return build(patch-1, "ami-0a1b2c3d4e5f60718", "20260818", "1091000", "202608.18.0"),
		build(patch, "ami-0f9e8d7c6b5a43210", "20260903", "1283000", "202609.03.0")
}

func (c *checker) fillRoll(r *Roll) {
	if !c.has("roll.groups") {
		r.Groups = c.groupNames()
	}
	w := r.way()
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
