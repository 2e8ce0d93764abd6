package controllers

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// PodGC is the pod garbage collector (pkg/controller/podgc/gc_controller.go). At
// every look, each twenty seconds, it removes by force the pods of nodes that
// have been missing for forty seconds, those that are being deleted on nodes out
// of service or on no node at all, and the oldest of too many that have ended.
//
// The real one lists all pods each time; this one keeps the few that matter.
type PodGC struct {
	env       *component.Env
	missing   []*missingNode
	byName    map[string]*missingNode
	unbound   []*kube.Pod  // being deleted, and bound to no node
	outOf     []*kube.Node // that carry the taint out-of-service
	ended     int          // pods that have ended
	threshold int
}

// missingNode is a node that pods are bound to and that isn't there.
type missingNode struct {
	name string
	seen kube.Instant // by a look, 0 before
}

const (
	outOfServiceTaint = "node.kubernetes.io/out-of-service"
	// terminatedThreshold is --terminated-pod-gc-threshold.
	terminatedThreshold = 12500
)

// NewPodGC starts the collector, whose looks begin at a random moment.
func NewPodGC(env *component.Env) *PodGC {
	g := &PodGC{env: env, byName: map[string]*missingNode{}, threshold: terminatedThreshold}
	env.API.WatchNodes(g.nodeChanged)
	env.API.WatchPods(g.podChanged)
	chance := env.Stream("podgc")
	period := max(env.Timings.PodGCPeriod.Median(), time.Millisecond)
	var look func()
	look = func() {
		g.look()
		env.After(period, look)
	}
	env.After(time.Duration(chance.N(uint64(period))), look)
	return g
}

func (g *PodGC) nodeChanged(c kube.Change, old, n *kube.Node) {
	switch {
	case c == kube.Deleted:
		g.miss(n.Name)
	case n.HasTaint(outOfServiceTaint, "") && (c == kube.Added || !old.HasTaint(outOfServiceTaint, "")):
		g.outOf = append(g.outOf, n)
	}
}

func (g *PodGC) podChanged(c kube.Change, old, p *kube.Pod) {
	is, was := p.Terminal() && c != kube.Deleted, old != nil && old.Terminal()
	switch {
	case is && !was:
		g.ended++
	case was && !is:
		g.ended--
	}
	switch {
	case c == kube.Deleted:
	case p.NodeName == "":
		if p.Terminating() && (c == kube.Added || !old.Terminating()) {
			g.unbound = append(g.unbound, p)
		}
	case c == kube.Added || old.NodeName == "":
		if g.env.API.Node(p.NodeName) == nil {
			g.miss(p.NodeName)
		}
	}
}

func (g *PodGC) miss(node string) {
	if g.byName[node] == nil {
		m := &missingNode{name: node}
		g.byName[node] = m
		g.missing = append(g.missing, m)
	}
}

func (g *PodGC) look() {
	if g.ended > g.threshold {
		g.oldest(g.ended - g.threshold)
	}
	g.outOf = slices.DeleteFunc(g.outOf, func(n *kube.Node) bool { return n.Gone() || !n.HasTaint(outOfServiceTaint, "") })
	for _, n := range g.outOf {
		if n.Ready() {
			continue
		}
		for _, p := range slices.Clone(g.env.API.PodsOn(n.Name)) {
			if p.Terminating() {
				g.collect(p, nil)
			}
		}
	}
	g.orphans()
	g.unbound = slices.DeleteFunc(g.unbound, func(p *kube.Pod) bool {
		if !p.Gone() && p.NodeName == "" {
			g.collect(p, nil)
		}
		return p.Gone() || p.NodeName != ""
	})
}

// orphans is gcOrphaned: the pass that misses a node puts it into quarantine, and the first one after that collects.
func (g *PodGC) orphans() {
	now := g.env.API.Now()
	quarantine := g.env.Timings.PodGCQuarantine.Median()
	var lost []*kube.Pod
	g.missing = slices.DeleteFunc(g.missing, func(m *missingNode) bool {
		pods := g.env.API.PodsOn(m.name)
		switch {
		case g.env.API.Node(m.name) != nil || len(pods) == 0:
			// A node of the name is back, and its kubelet knows what to do.
		case m.seen == 0:
			m.seen = now
			return false
		case now.Sub(m.seen) < quarantine:
			return false
		default:
			lost = append(lost, pods...)
		}
		delete(g.byName, m.name)
		return true
	})
	for _, p := range lost {
		g.collect(p, &kube.Condition{Type: "DisruptionTarget", Status: "True", Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists"})
	}
}

// oldest is gcTerminated: of the pods that have ended some go, those first that
// their kubelets evicted, then by age.
func (g *PodGC) oldest(surplus int) {
	var ended []*kube.Pod
	for _, p := range g.env.API.Pods() {
		if p.Terminal() {
			ended = append(ended, p)
		}
	}
	slices.SortFunc(ended, func(a, b *kube.Pod) int {
		return cmp.Or(trueFirst(a.Reason == "Evicted", b.Reason == "Evicted"), cmp.Compare(a.Created.Second(), b.Created.Second()), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	for _, p := range ended[:min(surplus, len(ended))] {
		g.collect(p, nil)
	}
}

// collect is markFailedAndDeletePodWithCondition.
func (g *PodGC) collect(p *kube.Pod, why *kube.Condition) {
	if p.Gone() {
		return
	}
	if !p.Terminal() {
		g.env.API.UpdatePod(p, func(p *kube.Pod) {
			p.Phase = "Failed"
			if g.env.Version.PodGeneration() && p.Generation > 0 {
				p.ObservedGeneration = p.Generation
			}
			if why != nil {
				c := *why
				c.Transition, c.Observed = g.env.API.Now().Second(), observed(p)
				p.Conditions = p.Conditions.Set(c)
			}
		})
	}
	g.env.API.DeletePod(p, 0)
}
