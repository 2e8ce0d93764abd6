package spec

import (
	"fmt"
	"slices"
	"time"
)

// A Member is one node of a group that is there when the tape begins.
type Member struct {
	// Name of the node.
	Name string `yaml:"name" need:"true" form:"node"`
	// Zone of the node, one of the cluster's. Default: the group's zones in turn.
	Zone string `yaml:"zone" form:"place"`
	// InstanceType of the node. Default: the group's.
	InstanceType string `yaml:"instanceType" form:"instanceType"`
	// Version of the kubelet. Default: that of the group's from. A node that has the version of the group's to, where that is another
	// one, has the whole image of to: it is rolled already.
	Version string `yaml:"version" form:"version"`
	// Image of the node. Default: that of the group's from. A node that has the version and the image of the group's to, where that is
	// another image, is rolled already, too.
	Image string `yaml:"image" form:"image"`
	// Labels that the node has besides the group's.
	Labels map[string]string `yaml:"labels" form:"labels"`
	// Taints that the node has besides the group's.
	Taints []Taint `yaml:"taints"`
	// Cordoned says that the node is unschedulable.
	Cordoned bool `yaml:"cordoned" default:"false"`
	// NotReady says that nothing is heard of the node's kubelet.
	NotReady bool `yaml:"notReady" default:"false"`
	// Age of the node when the tape begins. Default: some days.
	Age time.Duration `yaml:"age" max:"87600h"`
}

// PlacedPod is one pod of a workload that is there when the tape begins.
type PlacedPod struct {
	// Name of the pod; no other pod of the namespace has the same.
	Name string `yaml:"name" need:"true" form:"pod"`
	// Node that the pod runs on, one of the groups' members; absent, it waits for one.
	Node string `yaml:"node" form:"node"`
	// Zone of the volume of a pod that waits. That of a pod that runs is its node's.
	Zone string `yaml:"zone" form:"place"`
}

// memberZone is the zone of a group's member.
func (g *Group) memberZone(k int) string {
	if z := g.Members[k].Zone; z != "" {
		return z
	}
	return g.Zones[k%len(g.Zones)]
}

// fillMembers takes what members don't say from their group.
func (g *Group) fillMembers() {
	for k := range g.Members {
		m := &g.Members[k]
		m.Zone = g.memberZone(k)
		if m.InstanceType == "" {
			m.InstanceType = g.From.InstanceType
		}
		if m.Version == "" {
			m.Version = g.From.Version
		}
	}
}

// Updated reports whether a member has the image that its group is rolled to.
func (g *Group) Updated(m *Member) bool {
	return m.Version == g.To.Version && (g.To.Version != g.From.Version || m.Image == g.To.Image && g.To.Image != g.From.Image)
}

// members refuses members that a group can't have.
func (c *checker) members(g *Group, path string, seen map[string]bool) *Error {
	if len(g.Members) == 0 {
		return nil
	}
	if len(g.Members) != g.Nodes {
		return c.bad(path+".members", fmt.Sprintf("%d members, and nodes: %d", len(g.Members), g.Nodes), "as many members as nodes")
	}
	if g.NodesPerGroup > 0 && g.Nodes > g.NodesPerGroup {
		return c.bad(path+".nodesPerGroup", fmt.Sprint(g.NodesPerGroup), "no bound on the nodes of a group whose nodes have names")
	}
	for k := range g.Members {
		m, at := &g.Members[k], fmt.Sprintf("%s.members[%d]", path, k)
		if seen[m.Name] {
			return c.bad(at+".name", fmt.Sprintf("%q for the second time", m.Name), "another name")
		}
		seen[m.Name] = true
		if err := c.zone(at+".zone", m.Zone); err != nil {
			return err
		}
		if err := c.machine(at+".instanceType", m.InstanceType); err != nil {
			return err
		}
		if err := c.image(&NodeImage{Version: m.Version}, at); err != nil {
			return err
		}
	}
	return nil
}

// placed refuses pods that can't be where the file says.
func (c *checker) placed() *Error {
	nodes, pods := map[string]bool{}, map[[2]string]bool{}
	var names []string
	for i := range c.f.Groups {
		for k := range c.f.Groups[i].Members {
			name := c.f.Groups[i].Members[k].Name
			nodes[name], names = true, append(names, name)
		}
	}
	for i := range c.f.Workloads {
		w := &c.f.Workloads[i]
		for j := range w.Pods {
			p, path := &w.Pods[j], fmt.Sprintf("workloads[%d].pods[%d]", i, j)
			key := [2]string{w.Namespace, p.Name}
			switch {
			case w.CreateAt > 0:
				return c.bad(path, "a pod that is there before its workload", "no pods, or no createAt")
			case pods[key]:
				return c.bad(path+".name", fmt.Sprintf("%q for the second time in the namespace %s", p.Name, w.Namespace), "another name")
			case p.Node != "" && !nodes[p.Node]:
				return c.unknown(path+".node", "member of a group", p.Node, names)
			case p.Node != "" && p.Zone != "":
				return c.bad(path+".zone", fmt.Sprintf("%q of a pod with a node", p.Zone), "none; a volume is where its pod's node is")
			case p.Zone != "" && w.Volume == nil:
				return c.bad(path+".zone", fmt.Sprintf("%q of a pod without a volume", p.Zone), "none, or a volume of the workload")
			case p.Node == "" && w.Kind == KindDaemonSet:
				return c.bad(path+".node", "none for a DaemonSet's pod", "the node that it is for")
			}
			if err := c.zone(path+".zone", p.Zone); err != nil {
				return err
			}
			pods[key] = true
		}
	}
	return nil
}

// ZonesOf are the zones of members, in the order of the cluster's.
func ZonesOf(members []Member, known []string) (zones []string) {
	for _, z := range known {
		if slices.ContainsFunc(members, func(m Member) bool { return m.Zone == z }) {
			zones = append(zones, z)
		}
	}
	return zones
}
