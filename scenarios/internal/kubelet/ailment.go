package kubelet

import "github.com/nodesim/nodesim/scenarios/internal/model"

// ail is the machine's answer to a change of what is wrong with it.
func (m *machine) ail() {
	was, is := m.seen, m.i.Ailments
	m.seen = is
	switch {
	case is.Dead && !was.Dead:
		m.stop()
		return
	case was.UserDataFail && !is.UserDataFail && !m.running:
		m.boot()
		return
	case !m.running:
		return
	}
	wasSilent := was.Silent() || was.NeverPosts
	switch {
	case m.silent() && !wasSilent:
		m.statusTimer.Stop()
		m.k.env.API.StopLease(m.i.Name)
	case !m.silent() && wasSilent:
		m.reconnect(was.KubeletDown)
	}
	if is.RuntimeDown != was.RuntimeDown && m.node != nil {
		if is.RuntimeDown {
			m.trouble |= model.PLEGUnhealthy
		} else {
			m.trouble &^= model.PLEGUnhealthy
			m.after(m.exactly(resumeAfter), m.resume)
		}
		m.sync()
	}
	if was.CNIBroken && !is.CNIBroken && m.trouble&model.NetworkPluginNotReady != 0 && m.node != nil {
		m.after(m.draw(m.t.BecomeReady), m.networkUp)
	}
}

// reconnect is the first sign of a kubelet that was silent: one that was down starts again, one that was cut off
// continues. Either posts its status at once, takes up its lease and finds out what became of its pods meanwhile.
func (m *machine) reconnect(restarted bool) {
	if m.node == nil {
		return // it is still trying to register
	}
	m.releaseOrphans()
	if m.node.Gone() && restarted {
		// Only a kubelet that starts registers.
		m.turn++
		m.start()
		return
	}
	m.k.env.API.StartLease(m.i.Name, m.now())
	if m.k.cfg.Profile == Kwok {
		m.wakeKwok()
		return
	}
	if restarted {
		m.record("Normal", "Starting", "Starting kubelet.")
		m.record("Warning", "InvalidDiskCapacity", "invalid capacity 0 on image filesystem")
		m.tellHealth()
		m.record("Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
	}
	if m.trouble&(model.NetworkPluginNotReady) != 0 && !m.i.Ailments.CNIBroken {
		m.after(m.draw(m.t.BecomeReady), m.networkUp)
	}
	m.post()
	m.after(m.exactly(resumeAfter), m.resume)
}
