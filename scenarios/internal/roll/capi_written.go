package roll

import (
	"slices"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// StandBack says whether a Cluster API of somebody else's leads: that one scales MachineDeployments and MachineSets then, and
// launches Machines. Machines that have an instance here are ours all the same, since no other provider can end it; so is the
// scenario's own rollout.
func (m *Machines) StandBack(is bool) {
	if m.back == is {
		return
	}
	if m.back = is; is {
		return
	}
	left := m.left
	m.left = nil
	for _, o := range left {
		if nameIn(o, "nodeRef", "name") == "" { // else the other one has found it a node
			m.Written(o)
		}
	}
	m.Rescale()
}

// Written tells of a Machine that somebody else has created or changed, or that was there before: a new one of a
// MachineDeployment here gets an instance, one that is to go goes with its node and its instance.
func (m *Machines) Written(o *kube.Custom) {
	for _, c := range m.of {
		if c.object == o {
			if o.Terminating() {
				m.Delete(c.instance)
			}
			return
		}
	}
	if o.Gone() || o.Terminating() && len(o.Finalizers) == 0 {
		return
	}
	var g *cloud.Group
	for _, own := range m.cfg.Groups {
		if own.Name == o.Labels.Get("cluster.x-k8s.io/deployment-name") {
			g = own
		}
	}
	if g == nil {
		return
	}
	if m.back {
		if !slices.Contains(m.left, o) {
			m.left = append(m.left, o)
		}
		return
	}
	if i := m.env.Cloud.ByNode(nameIn(o, "nodeRef", "name")); i != nil && m.of[i.ID] == nil {
		c := m.machine(i)
		c.object, c.joined = o, true
		if m.of[i.ID] = c; o.Terminating() {
			m.Delete(i)
		}
		return
	}
	if i, err := m.env.Cloud.Launch(g, "", g.Template); err == nil {
		m.wanted[i.ID] = o
	}
}

// begin has a Machine be the one of an instance, unless somebody else has made one for it.
func (m *Machines) begin(c *capiMachine) error {
	own := c.object
	theirs := m.wanted[c.instance.ID]
	if theirs == nil {
		return m.env.API.CreateCustom(own)
	}
	delete(m.wanted, c.instance.ID)
	c.object = theirs
	m.env.API.UpdateCustom(theirs, func(o *kube.Custom) {
		o.SetFinalizer(capiFinalizer, true)
		o.Status, o.Conditions = own.Status, own.Conditions
	})
	return nil
}
