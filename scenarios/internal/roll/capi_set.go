package roll

import (
	"strconv"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// MachineSets is the resource of Cluster API's MachineSets. No tape of a simulation
// holds them: what they do shows in their Machines and Events.
var MachineSets = timeline.Resource{Group: "cluster.x-k8s.io", Version: "v1beta1", Kind: "MachineSet", Resource: "machinesets", Namespaced: true}

// machineSet is the reference of a MachineSet.
func (m *Machines) machineSet(name string) kube.Reference {
	s := m.env.Stream("machineset", name)
	if o := m.env.API.Custom(MachineSets.Resource, capiNamespace, name); o != nil && m.cfg.Scaled {
		return kube.Reference{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: MachineSets.Kind, Namespace: capiNamespace, Name: name, UID: o.UID}
	}
	return kube.Reference{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: MachineSets.Kind, Namespace: capiNamespace, Name: name, UID: s.UUID()}
}

// createSet creates the MachineSet of a Machine, where these are objects and it
// isn't there.
func (m *Machines) createSet(c *capiMachine) {
	if !m.cfg.Sets || m.env.API.Custom(MachineSets.Resource, capiNamespace, c.set) != nil {
		return
	}
	o := &kube.Custom{Resource: MachineSets}
	o.Namespace, o.Name, o.Labels = capiNamespace, c.set, setLabels(c)
	o.Spec = m.setSpec(c, 0)
	if d := m.env.API.Custom(MachineDeployments.Resource, capiNamespace, c.instance.Group.Name); d != nil {
		o.Owner = &kube.Owner{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: MachineDeployments.Kind, Name: d.Name, UID: d.UID}
		if !m.cfg.Rolling() {
			o.Spec = m.setSpec(c, replicasIn(d))
		}
		if m.env.Now() == 0 {
			o.Created = d.Created
		}
	}
	if err := m.env.API.CreateCustom(o); err != nil {
		m.env.Fail(err)
	}
}

// setLabels are those of the MachineSet of a Machine, by which it knows its own.
func setLabels(c *capiMachine) kube.Pairs {
	return c.object.Labels.Without("cluster.x-k8s.io/set-name")
}

func (m *Machines) setSpec(c *capiMachine, replicas int) string {
	labels := "{"
	for i, p := range setLabels(c) {
		if i > 0 {
			labels += ","
		}
		labels += kube.Quote(p.Key) + ":" + kube.Quote(p.Value)
	}
	labels += "}"
	cluster := kube.Quote(m.cfg.Cluster)
	return `{"clusterName":` + cluster + `,"replicas":` + strconv.Itoa(replicas) + `,"selector":{"matchLabels":` + labels + `},` +
		`"template":{"metadata":{"labels":` + labels + `},"spec":{"clusterName":` + cluster + `,"version":` + kube.Quote(c.version) + `}}}`
}

// count writes how many Machines the set of a Machine is to have, has, and has that
// are ready.
func (m *Machines) count(of *capiMachine) {
	o := m.env.API.Custom(MachineSets.Resource, capiNamespace, of.set)
	if o == nil {
		return
	}
	wanted, have, ready := 0, 0, 0
	for _, c := range m.of {
		if c.set != of.set || c.object.Gone() || !c.owned() {
			continue
		}
		have++
		if c.deleting {
			continue
		}
		wanted++
		if c.object.Conditions.Is("Ready", "True") {
			ready++
		}
	}
	m.env.API.UpdateCustom(o, func(o *kube.Custom) {
		if !m.cfg.Scaled || m.cfg.Rolling() {
			o.Spec = m.setSpec(of, wanted)
		}
		setCounts(o, have, ready)
	})
	m.countDeployment(of.instance.Group)
}

// owned reports whether a MachineSet has made a Machine.
func (c *capiMachine) owned() bool {
	return c.object.Owner != nil && c.object.Owner.Kind == MachineSets.Kind
}

func setCounts(o *kube.Custom, have, ready int) {
	o.SetStatus("replicas", strconv.Itoa(have))
	o.SetStatus("readyReplicas", strconv.Itoa(ready))
	o.SetStatus("availableReplicas", strconv.Itoa(ready))
}
