package roll

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// MachineDeployments is the resource of Cluster API's MachineDeployments, objects where clients may scale them.
var MachineDeployments = timeline.Resource{Group: "cluster.x-k8s.io", Version: "v1beta1", Kind: "MachineDeployment", Resource: "machinedeployments", Namespaced: true}

// createDeployment creates the MachineDeployment of a group, where clients may scale it and it isn't there.
func (m *Machines) createDeployment(g *cloud.Group) {
	if !m.cfg.Scaled || m.deployment(g) != nil || len(g.Instances()) == 0 && !g.Detached {
		return
	}
	o := &kube.Custom{Resource: MachineDeployments}
	o.Namespace, o.Name = capiNamespace, g.Name
	o.Created = m.env.API.Now().Add(-capiAge)
	o.Labels = kube.PairsOf(kube.Pair{Key: "cluster.x-k8s.io/cluster-name", Value: m.cfg.Cluster})
	cluster := kube.Quote(m.cfg.Cluster)
	labels := `{"cluster.x-k8s.io/cluster-name":` + cluster + `,"cluster.x-k8s.io/deployment-name":` + kube.Quote(g.Name) + `}`
	o.Spec = `{"clusterName":` + cluster + `,"replicas":` + strconv.Itoa(len(g.Instances())) + `,"selector":{"matchLabels":` + labels + `},` +
		`"template":{"metadata":{"labels":` + labels + `},"spec":{"clusterName":` + cluster + `}}}`
	if err := m.env.API.CreateCustom(o); err != nil {
		m.env.Fail(err)
	}
}

// capiAge is how old the MachineDeployments and MachineSets are that are there at 0s: older than any node.
const capiAge = 60 * 24 * time.Hour

func (m *Machines) deployment(g *cloud.Group) *kube.Custom {
	return m.env.API.Custom(MachineDeployments.Resource, capiNamespace, g.Name)
}

// replicasIn is the number of Machines that a MachineDeployment or a MachineSet is to have.
func replicasIn(o *kube.Custom) int {
	n, err := strconv.Atoi(string(rawjson.Get([]byte(o.Spec), "replicas")))
	if err != nil {
		return 1 // the default of both
	}
	return n
}

// Rescale has the controllers look at how many Machines there are to be: a client may have scaled a MachineDeployment, or a
// rollout is over.
func (m *Machines) Rescale() {
	for _, g := range m.cfg.Groups {
		m.rescaleSoon(g)
	}
}

func (m *Machines) rescaleSoon(g *cloud.Group) {
	if m.cfg.Scaled {
		m.soon(func() { m.rescale(g) })
	}
}

// rescale has the MachineSet of a group have as many Machines as its MachineDeployment says (scale of
// internal/controllers/machinedeployment/machinedeployment_sync.go, syncReplicas of
// internal/controllers/machineset/machineset_controller.go). While a rollout is under way, it waits for the rollout's end.
func (m *Machines) rescale(g *cloud.Group) {
	d := m.deployment(g)
	if d == nil || d.Terminating() || m.cfg.Rolling() || m.back {
		return
	}
	wanted := replicasIn(d)
	if set := m.currentSet(g); set != nil && replicasIn(set) != wanted {
		from := replicasIn(set)
		m.env.API.UpdateCustom(set, func(o *kube.Custom) { o.Spec = withReplicas(o.Spec, wanted) })
		m.record(kube.Reference{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: MachineDeployments.Kind, Namespace: capiNamespace, Name: d.Name, UID: d.UID},
			"Normal", "SuccessfulScale", fmt.Sprintf("Scaled MachineSet %s/%s: %d -> %d", set.Namespace, set.Name, from, wanted), "machinedeployment-controller")
	}
	there := m.remaining(g)
	for n := len(there) + m.orders[g]; n < wanted; n++ {
		m.orders[g]++
		m.launch(g)
	}
	if surplus := len(there) - wanted; surplus > 0 {
		slices.SortFunc(there, func(a, b *capiMachine) int {
			return cmp.Or(cmp.Compare(b.deletePriority(), a.deletePriority()), cmp.Compare(a.object.Name, b.object.Name))
		})
		for _, c := range there[:surplus] {
			m.Delete(c.instance)
		}
	}
}

// remaining are the Machines of a group's MachineSets that aren't on their way out, in no order.
func (m *Machines) remaining(g *cloud.Group) (list []*capiMachine) {
	for _, c := range m.of {
		if c.instance.Group == g && !c.deleting && !c.object.Gone() && !c.object.Terminating() && c.owned() {
			list = append(list, c)
		}
	}
	return list
}

// currentSet is the MachineSet of the Machine that a group launched last, or nil before the first of them.
func (m *Machines) currentSet(g *cloud.Group) *kube.Custom {
	return m.env.API.Custom(MachineSets.Resource, capiNamespace, m.sets[g])
}

// follow has a MachineDeployment say how many Machines there are where an autoscaler has launched one, which scales the
// MachineDeployment for that (cluster-autoscaler/cloudprovider/clusterapi).
func (m *Machines) follow(g *cloud.Group) {
	d := m.deployment(g)
	if d == nil || m.cfg.Rolling() || !slices.Contains(m.cfg.Autoscaled, g.Name) {
		return
	}
	if n := len(m.remaining(g)); n > replicasIn(d) {
		m.env.API.UpdateCustom(d, func(o *kube.Custom) { o.Spec = withReplicas(o.Spec, n) })
	}
}

// launch asks the provider for an instance until it has capacity, or there is no need any more.
func (m *Machines) launch(g *cloud.Group) {
	d := m.deployment(g)
	if d == nil || m.back || len(m.remaining(g))+m.orders[g] > replicasIn(d) {
		m.orders[g]--
		return
	}
	if _, err := m.env.Cloud.Launch(g, "", g.Template); err != nil {
		m.env.After(m.env.Draw(&m.chance, m.env.Timings.CapacityRetry), func() { m.launch(g) })
		return
	}
	m.orders[g]--
}

// capiDelete is the annotation of a Machine that is to go first (DeleteMachineAnnotation of api/core).
const capiDelete = "cluster.x-k8s.io/delete-machine"

// deletePriority says which Machine goes first: that of the order Random, in which the names decide between equal ones
// (randomDeletePolicy and sortableMachines of internal/controllers/machineset/machineset_delete_policy.go).
func (c *capiMachine) deletePriority() int {
	switch _, marked := c.object.Annotations.Lookup(capiDelete); {
	case marked:
		return 75
	case !c.joined || c.object.Conditions.Is("NodeHealthy", "False"):
		return 50
	}
	return 20
}

// withReplicas is the spec of a MachineDeployment or a MachineSet with another number of Machines.
func withReplicas(spec string, n int) string {
	return string(rawjson.Apply(nil, []byte(spec), fmt.Appendf(nil, `{"replicas":%d}`, n)))
}

// countDeployment writes how many Machines a MachineDeployment has, and has that are ready.
func (m *Machines) countDeployment(g *cloud.Group) {
	d := m.deployment(g)
	if d == nil || !m.cfg.Scaled {
		return
	}
	have, ready, updated := 0, 0, 0
	for _, c := range m.of {
		if c.instance.Group != g || c.object.Gone() || !c.owned() {
			continue
		}
		have++
		if c.instance.Template == g.Template {
			updated++
		}
		if !c.deleting && c.object.Conditions.Is("Ready", "True") {
			ready++
		}
	}
	m.env.API.UpdateCustom(d, func(o *kube.Custom) {
		setCounts(o, have, ready)
		o.SetStatus("updatedReplicas", strconv.Itoa(updated))
		phase := "Running"
		switch wanted := replicasIn(o); {
		case wanted > ready:
			phase = "ScalingUp"
		case wanted < ready:
			phase = "ScalingDown"
		}
		o.SetStatus("phase", kube.Quote(phase))
	})
}
