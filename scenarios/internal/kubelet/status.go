package kubelet

import (
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// conditions are the node's conditions with the kubelet's own four brought up to
// date, in the order of nodestatus.Setters: memory, disk, PIDs, and Ready last.
// Those of others stay where they are.
func (m *machine) conditions(old kube.Conditions, at kube.Instant) kube.Conditions {
	room := len(old)
	if old.Get(model.Ready) == nil {
		room += 4
	}
	next := make(kube.Conditions, len(old), room)
	copy(next, old)
	for _, c := range [...]model.Condition{
		model.Pressure(model.MemoryPressure, m.memoryPressure.pressed()),
		model.Pressure(model.DiskPressure, false),
		model.Pressure(model.PIDPressure, false),
		model.ReadyConditionOn(m.v, m.os, m.trouble),
	} {
		is := kube.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Heartbeat: at, Transition: at}
		i := slices.IndexFunc(next, func(o kube.Condition) bool { return o.Type == c.Type })
		if i < 0 {
			next = append(next, is)
			continue
		}
		if next[i].Status == is.Status {
			is.Transition = next[i].Transition
		}
		next[i] = is
	}
	return next
}

// post writes the node's status, and tells of what has changed in it. After a change the next post comes after 2m30s
// to 7m30s, else after five minutes (tryUpdateNodeStatus of pkg/kubelet/kubelet_node_status.go).
func (m *machine) post() {
	if !m.up() || m.k.cfg.Profile == Kwok {
		return
	}
	n, at := m.node, m.now().Second()
	was := n.Conditions
	now := m.conditions(was, at)
	changed := !sameStates(was, now) || n.Info.BootID != m.bootID
	m.k.env.API.UpdateNode(n, func(n *kube.Node) {
		n.Conditions = now
		n.InUse = m.inUse(n)
		m.refresh(n)
	})
	for i := range now {
		c := &now[i]
		old := was.Get(c.Type)
		if old != nil && old.Status == c.Status {
			continue
		}
		switch c.Type {
		case model.MemoryPressure, model.DiskPressure, model.PIDPressure:
			m.tell(model.PressureEvent(c.Type, c.Status == model.True))
		case model.Ready:
			if c.Status == model.True {
				m.tell("NodeReady")
			} else {
				m.tell("NodeNotReady")
			}
		}
	}
	m.tellCordon()
	next := m.t.StatusReport
	if changed {
		next = m.t.StatusReportAfterChange
	}
	m.postAfter(m.exactly(next))
}

// postAfter has the status posted when d has passed, on the kubelet's next look.
func (m *machine) postAfter(d time.Duration) {
	if look := m.t.StatusSync.Median(); look > 0 {
		d = (d + look - 1).Truncate(look)
	}
	m.statusTimer.Stop()
	turn := m.turn
	m.statusTimer = m.k.env.Timer(d, func() {
		if m.turn == turn {
			m.post()
		}
	})
}

// sync has the kubelet look at its own status within its period of ten seconds.
func (m *machine) sync() {
	if m.syncing {
		return
	}
	m.syncing = true
	m.after(m.exactly(model.Uniform(0, m.t.StatusSync.Median())), func() {
		m.syncing = false
		m.post()
	})
}

// sameStates reports whether nothing but times differs.
func sameStates(a, b kube.Conditions) bool {
	return slices.EqualFunc(a, b, func(x, y kube.Condition) bool {
		return x.Type == y.Type && x.Status == y.Status && x.Reason == y.Reason && x.Message == y.Message
	})
}

// noticeCordon is the kubelet's look at whether its node takes new pods.
func (m *machine) noticeCordon() {
	if m.up() {
		m.tellCordon()
	}
}

func (m *machine) tellCordon() {
	if m.cordoned == m.node.Unschedulable {
		return
	}
	m.cordoned = m.node.Unschedulable
	if m.cordoned {
		m.tell("NodeNotSchedulable")
	} else {
		m.tell("NodeSchedulable")
	}
}
