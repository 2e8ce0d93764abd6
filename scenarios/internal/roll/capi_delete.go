package roll

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// The steps of a Machine's deletion, as the reason of its condition Deleting tells them (reconcileDelete of
// machine_controller.go). WaitingForPreTerminateHook comes between the second and the third where there are hooks;
// here are none.
const (
	capiDraining       = "DrainingNode"
	capiVolumes        = "WaitingForVolumeDetach"
	capiInfrastructure = "WaitingForInfrastructureDeletion"
	capiNode           = "DeletingNode"
)

// capiVolumePoll is between two looks at the volumes of a drained node
// (shouldWaitForNodeVolumes).
var capiVolumePoll = model.Fixed(20 * time.Second)

// Delete deletes the Machine of an instance as its MachineSet does that shrinks.
// It reports whether there is one.
func (m *Machines) Delete(i *cloud.Instance) bool {
	c := m.of[i.ID]
	if c == nil || c.object.Gone() {
		return false
	}
	if c.deleting {
		return true
	}
	c.deleting, c.began = true, m.env.API.Now()
	m.env.API.DeleteCustom(c.object)
	m.count(c)
	m.record(m.machineSet(c.set), "Normal", "SuccessfulDelete", `Deleted Machine "`+c.object.Name+`"`, "machineset-controller")
	m.soon(func() { m.drain(c) })
	m.rescaleSoon(c.instance.Group)
	return true
}

// DeleteMachine deletes the Machine of a name, as kubectl delete does. One that isn't there, or is on its way out, is
// left alone. Outside of a rollout nothing takes its place.
func (m *Machines) DeleteMachine(name string) {
	for _, c := range m.of {
		if c.object.Name == name {
			m.Delete(c.instance)
			return
		}
	}
}

// step writes which step of its deletion a Machine has come to.
func (m *Machines) step(c *capiMachine, reason, message string) {
	now := m.env.API.Now().Second()
	m.env.API.UpdateCustom(c.object, func(o *kube.Custom) {
		c.status("Deleting")
		o.Conditions = o.Conditions.Set(kube.Condition{Type: "Deleting", Status: "True", Reason: reason, Message: message, Transition: c.began.Second()})
		o.Conditions = o.Conditions.Set(kube.Condition{Type: "Ready", Status: "False", Reason: "Deleting", Transition: now})
	})
}

func (m *Machines) drain(c *capiMachine) {
	n := m.env.API.Node(c.instance.Name)
	if n == nil || c.instance.State == cloud.Terminated {
		m.infrastructure(c)
		return
	}
	m.step(c, capiDraining, "Draining Node "+n.Name)
	m.env.API.UpdateNode(n, func(n *kube.Node) { n.Unschedulable = true })
	m.drains.Drain(n, Drain{
		Retry: m.env.Timings.EvictionRetry, Timeout: m.cfg.DrainTimeout,
		// Of an unreachable node it waits for a second (SkipWaitForDeleteTimeoutSeconds in machine_controller.go).
		Skips: func(*kube.Pod) bool { return unreachable(n) }, SkipAfter: time.Second,
		Looked: func(left int) {
			m.step(c, capiDraining, fmt.Sprintf("Drain not completed yet (started at %s): %d Pods left",
				c.began.Time().Format(time.RFC3339), left))
		},
	}, func(err error) {
		if err == nil {
			m.record(c.about(), "Normal", "SuccessfulDrainNode", `success draining Machine's node "`+n.Name+`"`, "machine-controller")
		}
		m.volumes(c, n)
	})
}

// unreachable reports whether nobody hears of a node's kubelet.
func unreachable(n *kube.Node) bool { return n.Conditions.Is("Ready", "Unknown") }

// volumes waits until the node's volumes are detached, unless nobody hears of the node (shouldWaitForNodeVolumes).
func (m *Machines) volumes(c *capiMachine, n *kube.Node) {
	if c.object.Gone() {
		return
	}
	m.step(c, capiVolumes, "Waiting for Node volumes to be detached")
	if !n.Gone() && !unreachable(n) && len(n.Attached) > 0 && c.instance.State != cloud.Terminated {
		m.env.After(m.env.Draw(&m.chance, capiVolumePoll), func() { m.volumes(c, n) })
		return
	}
	m.soon(func() {
		if c.object.Gone() {
			return
		}
		m.record(c.about(), "Normal", "NodeVolumesDetached", `success waiting for node volumes detaching Machine's node "`+n.Name+`"`, "machine-controller")
		m.infrastructure(c)
	})
}

// infrastructure has the instance terminated; ended continues.
func (m *Machines) infrastructure(c *capiMachine) {
	if c.object.Gone() {
		return
	}
	m.step(c, capiInfrastructure, "")
	if c.instance.State == cloud.Terminated {
		m.ended(c)
		return
	}
	m.env.Cloud.Terminate(c.instance, false)
}

// ended is the end of an instance: its Node is deleted, and then the Machine goes. A Machine that isn't deleted
// stays, and is not healthy.
func (m *Machines) ended(c *capiMachine) {
	if c == nil || c.object.Gone() {
		return
	}
	if !c.deleting {
		m.update(c, "Failed", "InfrastructureReady", "False", "InstanceTerminated")
		return
	}
	m.drains.Cancel(c.instance.Name)
	m.step(c, capiNode, "")
	m.soon(func() {
		if n := m.env.API.Node(c.instance.Name); n != nil && m.env.Cloud.ByNode(n.Name) == c.instance {
			m.env.API.DeleteNode(n)
		}
		delete(m.of, c.instance.ID)
		m.env.API.UpdateCustom(c.object, func(o *kube.Custom) { o.SetFinalizer(capiFinalizer, false) })
		m.count(c)
	})
}
