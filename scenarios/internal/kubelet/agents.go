package kubelet

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Two things that a joining node shows are done by pods of its own: its network
// is up once the network plugin's container has written its configuration, and
// kube-proxy reports its start once its container runs. Neither comes before the
// container that does it. A node without such a pod, whose provider does it
// otherwise, shows both in their own time.

// agentWorks is the start of an agent's container until the node shows it.
var agentWorks = model.Uniform(200*time.Millisecond, 800*time.Millisecond)

// agentStart is the rest of a node's time until it is ready, after the pull of a network plugin: the start of the
// container, and its work.
const agentStart = 2 * time.Second

func isNetworkPlugin(t *component.PodTraits) bool { return t.NetworkPlugin }
func isNodeProxy(t *component.PodTraits) bool     { return t.NodeProxy }

// lacks reports whether a pod on the node that does a job has yet to run.
func (m *machine) lacks(job func(*component.PodTraits) bool) bool {
	for _, p := range m.k.env.API.PodsOn(m.i.Name) {
		if t := traitsOf(p.Template); t != nil && job(t) && !p.Terminating() && !p.Terminal() && !m.runs(p) {
			return true
		}
	}
	return false
}

// runs reports whether all containers of a pod run.
func (m *machine) runs(p *kube.Pod) bool {
	containers := p.Containers
	if l := m.k.podWorkers[p]; l != nil {
		containers = l.cs
	}
	for c := range containers {
		if containers[c].State.Kind != "running" {
			return false
		}
	}
	return len(containers) > 0
}

// agentRuns resumes what has waited for a pod's containers.
func (l *podWorker) agentRuns() {
	m := l.m
	if l.traits == nil {
		return
	}
	if l.traits.NetworkPlugin && m.unplugged && len(l.crashes()) == 0 {
		m.unplugged = false
		m.after(l.draw(agentWorks), m.networkUp)
	}
	if l.traits.NodeProxy && m.unproxied {
		m.unproxied = false
		m.after(l.draw(agentWorks), m.proxyStarts)
	}
}

// proxyStarts is the Event of kube-proxy about its node.
func (m *machine) proxyStarts() {
	switch {
	case !m.up():
	case m.lacks(isNodeProxy):
		m.unproxied = true
	default:
		m.k.env.API.RecordNew("kube-proxy", "kube-proxy-"+m.i.Name, m.aboutNode(), "Normal", "Starting", "StartKubeProxy", "")
	}
}

// pluginPull returns the time of the pull of a network plugin on a joining node. How long nodes take to be ready was
// measured with that pull in it, so that it ends in time.
func (m *machine) pluginPull(takes time.Duration) time.Duration {
	left := m.readyAt.Sub(m.now()) - agentStart
	if left <= 0 {
		return takes
	}
	return min(takes, left)
}
