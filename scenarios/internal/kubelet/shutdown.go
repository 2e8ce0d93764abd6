package kubelet

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// critical is the priority from which on pods are critical (SystemCriticalPriority
// of pkg/apis/scheduling).
const critical = 2_000_000_000

// shutDown is the machine being told that it is to shut down. A kubelet with a graceful node shutdown ends the pods
// first, without asking their budgets (pkg/kubelet/nodeshutdown); another one is stopped within seconds, like all
// programs.
func (m *machine) shutDown() {
	switch {
	case !m.running || m.shutting:
		m.turn++ // what is booting doesn't get far
		m.running = false
		return
	case m.k.cfg.Profile == Kwok || !m.graceful() || !m.up():
		m.after(m.draw(m.t.TerminateSilence), m.stop)
		return
	}
	m.after(m.draw(seeShutdown), func() {
		m.shutting = true
		m.record("Normal", "Shutdown", "Shutdown manager detected shutdown event")
		m.trouble |= model.ShuttingDown
		m.post()
		var usual, vital []*kube.Pod
		for _, p := range m.k.env.API.PodsOn(m.i.Name) {
			switch {
			case p.Terminal():
			case p.Template.Priority >= critical:
				vital = append(vital, p)
			default:
				usual = append(usual, p)
			}
		}
		all, last := m.t.ShutdownGrace.Median(), m.t.ShutdownGraceCritical.Median()
		m.endGroup(usual, max(all-last, 0), func() {
			m.endGroup(vital, last, func() {
				m.after(m.draw(m.t.StatusPost), func() {
					m.stop()
					m.k.env.Cloud.Halted(m.i)
				})
			})
		})
	})
}

// graceful reports whether the machine's image gives its kubelet a grace period
// for shutdowns.
func (m *machine) graceful() bool { return m.v.GracefulShutdown(m.os) }

// ShutdownGrace returns the longest time that an instance's shutdown may take beyond that of others: the cloud waits
// for it, see [cloud.Config].
func (c *Config) ShutdownGrace(i *cloud.Instance) time.Duration {
	v, err := model.ParseVersion(i.Template.Version)
	if err != nil || c.Profile == Kwok || !v.GracefulShutdown(c.Shape(i).OS) {
		return 0
	}
	return c.Timings(i.Group).ShutdownGrace.Median()
}

// seeShutdown is from a shutdown's announcement until logind has told the kubelet.
var seeShutdown = model.Uniform(100*time.Millisecond, 800*time.Millisecond)

// endGroup ends pods, and calls then once all have ended or their time is over.
func (m *machine) endGroup(pods []*kube.Pod, within time.Duration, then func()) {
	left, over := len(pods), false
	done := func() {
		if left <= 0 && !over {
			over = true
			then()
		}
	}
	if left == 0 {
		done()
		return
	}
	m.after(within, func() { left = 0; done() })
	for _, p := range pods {
		grace := min(time.Duration(p.Template.GraceSeconds)*time.Second, within)
		m.endPod(p, ending{
			reason: model.ShutdownReason, message: model.ShutdownMessage, grace: grace,
			then: func() { left--; m.after(0, done) },
		})
	}
}

// endPod ends a pod by the kubelet's own decision. Why, its status says when its
// containers have stopped.
func (m *machine) endPod(p *kube.Pod, why ending) {
	l := m.k.podWorker(m, p)
	l.ends = &why
	by := m.now().Add(why.grace)
	switch {
	case l.exits == 0:
		l.stopping = true
		l.next(l.draw(m.t.KillDelay), l.kill)
	case by < l.exits:
		l.hurry(by)
	}
}
