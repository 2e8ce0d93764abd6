package calibrate

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
)

// A machine is the object that a node was made for: a NodeClaim of Karpenter or a Machine of Cluster API. It alone says
// when a machine was launched, and when its end was asked for.
type machine struct {
	uid, node string
	claim     bool
	launches  bool // it says that it was launched
	launched  mark
	booted    bool // its kubelet has started
	known     bool // a change of it is one that the tape saw
	ends      bool // it says that its end was asked for
	asked     mark // its termination, or the last end of a pod since, that a graceful shutdown waited for
	over      bool // the provider has terminated it
}

type machineName struct {
	claim bool
	objectName
}

// The conditions and reasons of a NodeClaim (karpenter, pkg/apis/v1/nodeclaim_status.go) and of a Machine that is deleted
// (cluster-api, api/core/v1beta2/machine_types.go).
const (
	claimLaunched    = "Launched"
	claimTerminating = "InstanceTerminating"
	machineDeleting  = "Deleting"
	machineAsked     = "WaitingForInfrastructureDeletion"
	machineGone      = "DeletingNode"
)

func (r *reading) nodeClaim(ev *timeline.Event, live bool) {
	m := r.machine(ev, live, true)
	if m == nil {
		return
	}
	status := rawjson.Get(ev.Object, "status")
	name := rawjson.Text(status, "nodeName")
	for c := range rawjson.Elements(rawjson.Get(status, "conditions")) {
		if rawjson.Text(c, "status") != "True" {
			continue
		}
		switch rawjson.Text(c, "type") {
		case claimLaunched:
			if m.known && !m.launches && name == "" {
				m.launched = r.here()
			}
			m.launches = true
		case claimTerminating:
			m.terminates(r)
		}
	}
	m.says(r, name)
}

func (r *reading) capiMachine(ev *timeline.Event, live bool) {
	m := r.machine(ev, live, false)
	if m == nil {
		return
	}
	status := rawjson.Get(ev.Object, "status")
	name := rawjson.Text(status, "nodeRef", "name")
	if live && ev.Type == timeline.Added && name == "" {
		m.launched = r.here()
	}
	for _, list := range [...][]byte{rawjson.Get(status, "conditions"), rawjson.Get(status, "v1beta2", "conditions")} {
		for c := range rawjson.Elements(list) {
			if rawjson.Text(c, "type") != machineDeleting {
				continue
			}
			switch rawjson.Text(c, "reason") {
			case machineAsked:
				m.terminates(r)
			case machineGone:
				m.terminated(r)
			}
		}
	}
	m.says(r, name)
}

// machine finds the machine of an event, and ends it where the event does; it is nil then.
func (r *reading) machine(ev *timeline.Event, live, claim bool) *machine {
	key := machineName{claim, objectName{ev.Namespace, ev.Name}}
	m := r.machines[key]
	if m != nil && (ev.Type == timeline.Deleted || m.uid != ev.UID) {
		if live {
			m.terminated(r)
			m.close(r)
		}
		if r.named[m.node] == m {
			delete(r.named, m.node)
		}
		delete(r.machines, key)
		m = nil
	}
	switch {
	case ev.Type == timeline.Deleted:
		return nil
	case m == nil:
		m = &machine{uid: ev.UID, claim: claim, known: live && ev.Type == timeline.Added}
		r.machines[key] = m
	default:
		m.known = true
	}
	return m
}

// says takes the name of the node that the machine has become.
func (m *machine) says(r *reading, name string) {
	if name == "" || m.node == name {
		return
	}
	m.node, r.named[name] = name, m
	if n := r.nodes[name]; n != nil {
		m.boots(r, n)
	}
}

// boots takes the node that the machine has become, if that joined while the tape ran. Without the Event of its kubelet, that
// has started as long before its Node as usual.
func (m *machine) boots(r *reading, n *node) {
	if !m.launched.is || m.booted || !n.joined.is {
		return
	}
	m.booted = true
	started := n.kubelet
	if !started.is {
		started = n.joined.before(r.usual("register").Median)
	}
	r.add("boot", m.launched, started)
}

// terminates takes a termination that was asked for.
func (m *machine) terminates(r *reading) {
	if m.known && !m.ends {
		m.asked = r.here()
	}
	m.ends = true
}

// podEnds is the end of a pod on the machine's node: a graceful shutdown, which is no part of the timing, waits for it.
func (m *machine) podEnds(now mark) {
	if m.asked.is && !m.over {
		m.asked = now
	}
}

// terminated takes the end of the machine. Karpenter finds it a look later.
func (m *machine) terminated(r *reading) {
	if !m.asked.is || m.over {
		return
	}
	m.over = true
	ended := r.here()
	if m.claim {
		ended = ended.before(r.usual("terminationRequeue").Median)
	}
	r.add("terminate", m.asked, ended)
}

// close takes what had not ended when the machine was removed, or when the tape ended.
func (m *machine) close(r *reading) {
	if m.launched.is && !m.booted && m.node == "" {
		by := r.here()
		if m.asked.is { // a machine that is being terminated doesn't boot any more
			by = m.asked
		}
		r.leave("boot", m.launched, by.before(r.usual("register").Median))
	}
	if m.asked.is && !m.over {
		r.leave("terminate", m.asked, r.here())
	}
}
