package standby

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/registry"
)

// nameOf is the name of a pod in nodemanager, which has no namespaces. Of two pods that follow each other under one name
// only one waits at a time.
func nameOf(p *kube.Pod) string { return p.Namespace + "/" + p.Name }

// pod follows the pods of the API.
func (m *Manager) pod(c kube.Change, _, p *kube.Pod) {
	if m.agents.Saw(p) {
		clear(m.shapes)
	}
	if p.Template.SchedulerName != SchedulerName {
		return
	}
	name := nameOf(p)
	if c == kube.Deleted || p.Terminal() {
		if m.pods[name] == p {
			m.forget(name)
		}
		return
	}
	if m.pods[name] != p {
		m.forget(name)
		m.pods[name] = p
		m.order = append(m.order, name)
	}
	m.turns.Changed()
}

// forget notes that a pod has gone, and with it the use of its node.
func (m *Manager) forget(name string) {
	if p := m.pods[name]; p != nil {
		delete(m.pods, name)
		delete(m.warned, p)
	}
	m.order = slices.DeleteFunc(m.order, func(n string) bool { return n == name })
	if node, ok := m.claimed[name]; ok {
		delete(m.claimed, name)
		m.left = append(m.left, node)
		m.turns.Changed()
	}
}

// waits reports whether a pod is to be bound.
func waits(p *kube.Pod) bool {
	return p.NodeName == "" && !p.Gated && !p.Terminating() && !p.Terminal()
}

// pods are those of the cluster, as nodemanager's registry.PodLister.
type pods struct{ *Manager }

// ListPods returns those that may have a node of one of the groups.
func (l pods) ListPods(filter func(*api.Pod) bool) (*api.PodList, error) {
	list := &api.PodList{}
	for name, p := range l.pods {
		if one, why := l.translate(name, p); why == "" && (filter == nil || filter(one)) {
			list.Items = append(list.Items, one)
		}
	}
	slices.SortFunc(list.Items, func(a, b *api.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// GetPod returns a pod.
func (l pods) GetPod(name string) (*api.Pod, error) {
	p := l.pods[name]
	if p == nil {
		return nil, fmt.Errorf("get pod %s: %w", name, registry.ErrNotFound)
	}
	one, _ := l.translate(name, p)
	return one, nil
}

// translate is a pod as nodemanager has it, and why it can have no node: "" where it can.
func (m *Manager) translate(name string, p *kube.Pod) (*api.Pod, string) {
	one := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name, CreationTimestamp: p.Created.Time()}}
	g, why := m.groupOf(p)
	if g != nil {
		one.Spec.InstanceType, one.Spec.Spot.Policy = g.Name, api.SpotNever
		if g.Spot {
			one.Spec.Spot.Policy = api.SpotAlways
		}
	}
	one.Spec.Phase, one.Status.Phase = api.PodRunning, api.PodWaiting
	switch {
	case p.NodeName != "":
		one.Status.Phase, one.Status.BoundNodeName = api.PodRunning, m.claimed[name]
	case p.Terminating():
		one.Spec.Phase, one.Status.Phase = api.PodTerminated, api.PodTerminated
	case p.Gated:
		one.Status.Phase = api.PodDispatching
	}
	return one, why
}

// groupOf is the first group on whose next node a pod may run, or nil and why there is none, in the scheduler's words.
func (m *Manager) groupOf(p *kube.Pod) (*cloud.Group, string) {
	need := component.NeedOf(p)
	var why scheduler.ReasonCounts
	for _, g := range m.cfg.Groups {
		next := m.nextNode(g)
		switch reason := m.judge.Refusal(p.Template, next.group); {
		case reason != "":
			why.Add(reason, 1)
		case need.CPU > next.room.CPU:
			why.Add(scheduler.ReasonCPU, 1)
		case need.Memory > next.room.Memory:
			why.Add(scheduler.ReasonMemory, 1)
		default:
			return g, ""
		}
	}
	text := "no group has nodes for it:"
	for i := range why.Reasons {
		text += fmt.Sprintf(" %d %s", why.Nodes[i], why.Reasons[i])
	}
	return nil, text
}

// nodeShape is what the next node of a group is like.
type nodeShape struct {
	template cloud.Template
	group    *scheduler.NodeGroup
	room     component.Room // for pods that aren't of DaemonSets
}

// nextNode works the shape out once, and again where the group gets another template, or the cluster another DaemonSet.
func (m *Manager) nextNode(g *cloud.Group) nodeShape {
	if known, ok := m.shapes[g]; ok && known.template == g.Template {
		return known
	}
	n := m.cfg.Kubelets.Next(g, g.Zones[0], m.env.Stream("nodemanager", "shape", g.Name))
	next := nodeShape{template: g.Template, group: &scheduler.NodeGroup{Labels: n.Labels, Taints: n.Taints}}
	next.room = m.agents.Left(&m.judge, n.Room, next.group)
	m.shapes[g] = next
	return next
}

// sleep lets a time of the simulation pass, and reports whether it has before the context ended.
func (m *Manager) sleep(ctx context.Context, d time.Duration) bool {
	over := false
	m.env.After(d, func() {
		over = true
		m.turns.Changed()
	})
	m.turns.Wait(func() bool { return over || ctx.Err() != nil })
	return ctx.Err() == nil
}
