package standby

import (
	"context"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/nodemanager"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
)

// askEvery is how often the dispenser is asked for the node of a pod that has none yet.
const askEvery = time.Second

// dispatch is the task that binds pods to the nodes that the dispenser hands out, and gives back those of pods that have gone.
func (m *Manager) dispatch(ctx context.Context) {
	for {
		m.turns.Wait(func() bool { return ctx.Err() != nil || len(m.left) > 0 || slices.ContainsFunc(m.order, m.asks) })
		if ctx.Err() != nil {
			return
		}
		m.giveBack(ctx)
		for _, name := range slices.Clone(m.order) {
			if m.asks(name) && !m.ask(ctx, name, m.pods[name]) {
				return
			}
		}
		if !m.sleep(ctx, askEvery) {
			return
		}
	}
}

// asks reports whether a pod still needs a node.
func (m *Manager) asks(name string) bool { return m.pods[name] != nil && waits(m.pods[name]) }

// giveBack returns the nodes of pods that have gone: a pod has used them, and they go.
func (m *Manager) giveBack(ctx context.Context) {
	left := m.left
	m.left = nil
	for _, node := range left {
		if err := m.controller.NodeDispenser.ReturnNodeContext(ctx, node, false); err != nil {
			m.env.Fail(err)
		}
	}
}

// ask asks for the node of a pod, and binds the pod to it. It returns false at the end.
func (m *Manager) ask(ctx context.Context, name string, p *kube.Pod) bool {
	one, why := m.translate(name, p)
	if why != "" {
		m.unschedulable(p, why)
		return true
	}
	d := m.controller.NodeDispenser
	reply, err := d.RequestNodeContext(ctx, *one)
	if err != nil {
		return false
	}
	if reply.Node == nil {
		m.unschedulable(p, waiting(reply))
		return true
	}
	if !m.sleep(ctx, m.env.Draw(&m.chance, m.env.Timings.SchedulerBind)) {
		return false
	}
	if i := m.env.Cloud.Instance(reply.Node.Status.InstanceID); m.pods[name] == p && waits(p) && i != nil {
		if n := m.env.API.Node(i.Name); n != nil {
			m.claimed[name] = reply.Node.Name
			m.reporter.Bind(p, n.Name, m.reporter.TopologyLabels(p.Labels, n))
			return true
		}
	}
	if err := d.ReturnNodeContext(ctx, reply.Node.Name, true); err != nil {
		m.env.Fail(err)
	}
	return true
}

// waiting says why a pod has no node yet.
func waiting(r nodemanager.NodeReply) string {
	if r.NoBinding {
		return "no node is free, and none is on its way for the pod yet"
	}
	return "the node for the pod isn't available yet"
}

// unschedulable tells of a pod that it has to wait, once, as schedulers do.
func (m *Manager) unschedulable(p *kube.Pod, message string) {
	if m.warned[p] {
		return
	}
	m.warned[p] = true
	m.reporter.Unschedulable(p, message, "")
}

// cleaning tells of a node that its pod has left it.
func (m *Manager) cleaning(e events.Event) {
	i := m.env.Cloud.Instance(e.Node.Status.InstanceID)
	if i == nil {
		return
	}
	if n := m.env.API.Node(i.Name); n != nil {
		m.env.API.RecordNew(SchedulerName, m.reporter.Instance, kube.AboutNode(n), "Normal", "NodeUsed", "Terminating",
			"pod "+e.Node.Status.BoundPodName+" has left the node: it is terminated")
	}
}
