package actors

import (
	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/model"
)

// crashes reports whether the pod's first container can't live where it is: the
// network plugin on a machine whose network never comes up.
func (l *life) crashes() bool {
	return l.traits != nil && l.traits.NetworkPlugin && l.m.i.Ailments.CNIBroken
}

// crash is the end of such a run: the container exits with 1, is held back for
// 10 s, 20 s and so on up to 5 min, and is started once more (doBackOff of
// pkg/kubelet/kuberuntime/kuberuntime_manager.go).
func (l *life) crash() {
	c := &l.cs[0]
	c.State = api.ContainerState{
		Kind: "terminated", Reason: "Error", ExitCode: 1,
		StartedAt: c.State.StartedAt, Finished: l.m.now().Second(), ContainerID: c.ContainerID,
	}
	for other := range l.cs {
		l.cs[other].Ready = l.cs[other].State.Kind == "running"
	}
	c.Started = false
	l.failures++
	l.show()
	is := model.Container{State: model.ContainerExited, Exits: true, ExitCode: 1, Series: uint8(min(l.failures, 255))}
	wait := is.BackOff()
	if wait == 0 {
		l.next(l.draw(relist), l.rerun)
		return
	}
	until := l.m.now().Add(wait)
	l.next(l.draw(relist), func() {
		l.at = 0
		ended := c.State
		is.RestartWaits()
		c.State, c.Last = l.waits(is, ""), ended
		l.holdBack(until)
		l.show()
	})
}

// holdBack is a look at a container that isn't to be started yet.
func (l *life) holdBack(until api.Instant) {
	if l.m.now() >= until {
		l.rerun()
		return
	}
	name := l.cs[0].Name
	l.tell("Warning", "BackOff", name, "Back-off restarting failed container "+name+" in pod "+l.p.Name+"_"+l.p.Namespace+"("+l.p.UID+")")
	l.next(l.draw(podResync), func() { l.holdBack(until) })
}

// rerun starts the first container again; the others run on.
func (l *life) rerun() {
	l.at = 0
	l.fetch()
}
