package spec

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

func (c *checker) groups() *Error {
	if len(c.f.Groups) == 0 {
		return c.bad("groups", "an empty list", "a group at the least")
	}
	members := map[string]bool{}
	for i := range c.f.Groups {
		g, path := &c.f.Groups[i], fmt.Sprintf("groups[%d]", i)
		if err := c.nodeGroup(g, path); err != nil {
			return err
		}
		if err := c.members(g, path, members); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) nodeGroup(g *Group, path string) *Error {
	for i, z := range g.Zones {
		if err := c.zone(fmt.Sprintf("%s.zones[%d]", path, i), z); err != nil {
			return err
		}
	}
	if known := model.OSes(c.f.Cluster.Provider); !slices.Contains(known, g.OS) {
		return c.bad(path+".os", fmt.Sprintf("%q", g.OS), fmt.Sprintf("%s for the provider %s", list(known), c.f.Cluster.Provider))
	}
	for _, m := range []struct{ path, name string }{
		{path + ".instanceType", g.InstanceType}, {path + ".from.instanceType", g.From.InstanceType},
		{path + ".to.instanceType", g.To.InstanceType},
	} {
		if err := c.machine(m.path, m.name); err != nil {
			return err
		}
		if err := c.offered(path+".zones", g.Zones, m.name); err != nil {
			return err
		}
	}
	if g.Min > g.Nodes {
		return c.bad(path+".min", fmt.Sprint(g.Min), fmt.Sprintf("at most the group's nodes, %d", g.Nodes))
	}
	if g.Max < g.Nodes {
		return c.bad(path+".max", fmt.Sprint(g.Max), fmt.Sprintf("at least the group's nodes, %d", g.Nodes))
	}
	if err := c.image(&g.From, path+".from"); err != nil {
		return err
	}
	return c.image(&g.To, path+".to")
}

// image refuses a kubelet that the control plane doesn't support: one that is
// newer, or more than three minor versions older, two before 1.28
// (https://kubernetes.io/releases/version-skew-policy).
func (c *checker) image(n *NodeImage, path string) *Error {
	cluster, kubelet := minorOf(c.f.Cluster.KubernetesVersion), minorOf(n.Version)
	oldest := cluster - 3
	if cluster < 28 {
		oldest = cluster - 2
	}
	if kubelet > cluster || kubelet < oldest {
		return c.bad(path+".version", fmt.Sprintf("%q", n.Version), fmt.Sprintf("1.%d to 1.%d for a cluster of 1.%d", oldest, cluster, cluster))
	}
	return nil
}

func (c *checker) workloads() *Error {
	for i := range c.f.Workloads {
		w, path := &c.f.Workloads[i], fmt.Sprintf("workloads[%d]", i)
		switch {
		case w.Kind == KindDaemonSet && w.Replicas > 0:
			return c.bad(path+".replicas", fmt.Sprint(w.Replicas), "none; a DaemonSet runs on every node")
		case w.Grace%time.Second != 0:
			return c.bad(path+".grace", short(w.Grace), "whole seconds")
		case w.SpreadHard && w.Spread == SpreadNone:
			return c.bad(path+".spreadHard", "true", "a spread, zone or host")
		case w.FinalizerHeld > 0 && w.Finalizer == "":
			return c.bad(path+".finalizerHeld", short(w.FinalizerHeld), "a finalizer that is held")
		}
		if err := c.containers(w, path); err != nil {
			return err
		}
		if err := c.ownWords(w, path); err != nil {
			return err
		}
		if err := c.within(path+".createAt", w.CreateAt); err != nil {
			return err
		}
		if err := c.group(path+".group", w.Group); err != nil {
			return err
		}
		for j := range w.Tolerations {
			if err := c.toleration(&w.Tolerations[j], fmt.Sprintf("%s.tolerations[%d]", path, j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// toleration refuses what the API server does (k8s.io/kubernetes/pkg/apis/core/validation, ValidateTolerations).
func (c *checker) toleration(t *Toleration, path string) *Error {
	switch {
	case t.Key == "" && t.Operator != OperatorExists:
		return c.bad(path+".operator", fmt.Sprintf("%q without a key", t.Operator), "Exists")
	case t.Operator == OperatorExists && t.Value != "":
		return c.bad(path+".value", fmt.Sprintf("%q", t.Value), "none with the operator Exists")
	case t.For != nil && t.Effect != Effect(corev1.TaintEffectNoExecute):
		return c.bad(path+".for", short(*t.For), "none but with the effect NoExecute")
	case t.For != nil && *t.For%time.Second != 0:
		return c.bad(path+".for", short(*t.For), "whole seconds")
	}
	return nil
}

func (c *checker) budgets() *Error {
	seen := map[[2]string]bool{}
	for i := range c.f.Budgets {
		b, path := &c.f.Budgets[i], fmt.Sprintf("budgets[%d]", i)
		if err := c.covered(b, path); err != nil {
			return err
		}
		w := c.f.Covers(b)
		key := [2]string{b.Namespace, b.Name}
		switch {
		case w != nil && b.Namespace != w.Namespace:
			return c.bad(path+".namespace", fmt.Sprintf("%q", b.Namespace), fmt.Sprintf("%q, the workload's", w.Namespace))
		case seen[key]:
			return c.bad(path+".name", fmt.Sprintf("%q for the second time", b.Name), "another name")
		case (b.MinAvailable == nil) == (b.MaxUnavailable == nil):
			found := "neither minAvailable nor maxUnavailable"
			if b.MinAvailable != nil {
				found = "both minAvailable and maxUnavailable"
			}
			return c.bad(path, found, "one of them")
		case w != nil && b.MinAvailable != nil && !b.MinAvailable.IsPercent && w.Kind != KindDaemonSet && b.MinAvailable.Value > w.Replicas:
			return c.bad(path+".minAvailable", b.MinAvailable.String(), fmt.Sprintf("at most the replicas of %s, %d", w.Name, w.Replicas))
		}
		seen[key] = true
		// Other controllers have no scale subresource to learn the wanted number from, and pods without one count for none
		// (k8s.io/kubernetes/pkg/controller/disruption, getExpectedPodCount).
		if counts := b.MinAvailable != nil && !b.MinAvailable.IsPercent; w != nil && !counts && (w.Kind == KindDaemonSet || w.Kind == KindJob || w.Kind == KindPod) {
			return c.bad(path, fmt.Sprintf("a share of a %s's pods", w.Kind), "minAvailable as a number; the kind has no scale")
		}
	}
	return nil
}

// covered refuses a budget that names no pods, or names them twice.
func (c *checker) covered(b *Budget, path string) *Error {
	switch {
	case b.Selector == nil && b.Workload == "":
		return c.bad(path, "neither workload nor selector", "one of them")
	case b.Selector == nil:
		return c.workloadNamed(path+".workload", c.f.Meant(b))
	case b.Workload != "":
		return c.bad(path, "both workload and selector", "one of them")
	case b.Name == "":
		return c.bad(path, "a budget with a selector and no name", "its name")
	}
	return nil
}

// NotWithPodSpec are the keys that a workload can't have together with a podSpec, which says the same in Kubernetes' words.
func NotWithPodSpec() []string {
	return []string{
		"requests", "resizePolicy", "image", "containers", "grace", "spread", "spreadHard", "priority", "group", "tolerations",
	}
}

// ownWords refuses what a workload says twice: in Kubernetes' words and in the file's.
func (c *checker) ownWords(w *Workload, path string) *Error {
	if w.PodSpec == nil {
		return nil
	}
	for _, key := range NotWithPodSpec() {
		if at := path + "." + key; c.has(at) {
			return c.bad(at, "it beside podSpec", "one of them")
		}
	}
	return nil
}

func (c *checker) autoscaler() *Error {
	a := c.f.Autoscaler
	if a == nil {
		return nil
	}
	if err := c.groupList("autoscaler.groups", a.Groups); err != nil {
		return err
	}
	for i, s := range a.Standby {
		path := fmt.Sprintf("autoscaler.standby[%d].group", i)
		if err := c.group(path, s.Group); err != nil {
			return err
		}
		if !slices.Contains(a.Groups, s.Group) {
			return c.bad(path, fmt.Sprintf("%q, which isn't scaled", s.Group), list(a.Groups))
		}
	}
	if a.Kind == AutoscalerNodeManager {
		return c.nodeManager(a)
	}
	return nil
}

// nodeManager refuses what can't be where nodes are launched for single pods.
func (c *checker) nodeManager(a *Autoscaler) *Error {
	if p := c.f.Cluster.Provider; p == ProviderKarpenter || p == ProviderCAPI {
		return c.bad("autoscaler.kind", fmt.Sprintf("%q with the provider %s", a.Kind, p), "a provider without NodeClaims or Machines: eks, gke, aks or kops")
	}
	if r := c.f.Roll; r != nil {
		for i, name := range r.Groups {
			if a.NodeManager(name) {
				return c.bad(fmt.Sprintf("roll.groups[%d]", i), fmt.Sprintf("%q, whose nodes nodemanager launches one by one", name), "another group")
			}
		}
	}
	for i := range c.f.Workloads {
		w, path := &c.f.Workloads[i], fmt.Sprintf("workloads[%d]", i)
		created := slices.ContainsFunc(c.f.Faults, func(f Fault) bool {
			return f.CreateWorkload != nil && c.f.Workload(f.CreateWorkload.Workload) == w
		})
		switch {
		case !a.NodeManager(w.Group):
		case w.Kind == KindDaemonSet:
			return c.bad(path+".kind", fmt.Sprintf("%q in a group of nodemanager's", w.Kind), "a kind whose pods need one node each")
		case w.CreateAt == 0 && !created:
			return c.bad(path+".createAt", "0s in a group of nodemanager's", "a later moment: it schedules these pods itself")
		}
	}
	return nil
}

// groupList refuses a list of groups that is empty, or names one twice, or one that there isn't.
func (c *checker) groupList(path string, names []string) *Error {
	if len(names) == 0 {
		return c.bad(path, "an empty list", "a group at the least")
	}
	seen := map[string]bool{}
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		if err := c.group(at, name); err != nil {
			return err
		}
		if seen[name] {
			return c.bad(at, fmt.Sprintf("%q for the second time", name), "each group once")
		}
		seen[name] = true
	}
	return nil
}
