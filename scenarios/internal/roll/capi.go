package roll

import (
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Machines is Cluster API's controllers of Machines and MachineSets
// (kubernetes-sigs/cluster-api, internal/controllers): each instance of their
// groups, which are MachineDeployments and detached groups of the cloud, has a
// Machine. A Machine that joins gives its node annotations and takes the taint
// of nodes that it hasn't seen (machine_controller_noderef.go); one that is
// deleted is drained, waits for its volumes and its machine, and deletes its
// Node itself (capi_delete.go).
//
// The management cluster is this cluster: Machines are in the namespace default. One whose instance the provider has
// no capacity for has no Machine before that is launched.
type Machines struct {
	env    *component.Env
	cfg    MachinesConfig
	chance model.Stream
	drains *Drainer
	of     map[string]*capiMachine // by instance
	wanted map[string]*kube.Custom // Machines of others, by the instance that is launched for them
	sets   map[*cloud.Group]string // the MachineSets of the latest Machines
	orders map[*cloud.Group]int    // instances that MachineSets have asked for, and that aren't launched yet
	back   bool                    // another Cluster API scales and launches
	left   []*kube.Custom          // Machines of our MachineDeployments that were left to that one
}

// MachinesConfig configures the controllers.
type MachinesConfig struct {
	Cluster string
	// Groups are the MachineDeployments.
	Groups []*cloud.Group
	Shapes Shapes
	// DrainTimeout is nodeDrainTimeout of the Machines: after it a node is removed with its pods. 0 is for ever.
	DrainTimeout time.Duration
	// Sets says that MachineSets are objects, and not names alone.
	Sets bool
	// Scaled says that clients may scale the MachineDeployments, which are objects then; Sets has to be set with it.
	Scaled bool
	// Rolling reports whether a rollout is under way, which says itself how many Machines there are.
	Rolling func() bool
	// Autoscaled are the groups that an autoscaler scales.
	Autoscaled []string
}

type capiMachine struct {
	object   *kube.Custom
	set      string // its MachineSet
	version  string // of Kubernetes
	instance *cloud.Instance
	joined   bool
	deleting bool
	began    kube.Instant // of the deletion
}

const (
	capiUninitialized = "node.cluster.x-k8s.io/uninitialized"
	capiOutdated      = "node.cluster.x-k8s.io/outdated-revision"
	capiFinalizer     = "machine.cluster.x-k8s.io"
	capiNamespace     = "default"
)

// capiReacts is a change until a controller of Cluster API has answered it.
var capiReacts = model.Uniform(100*time.Millisecond, 1500*time.Millisecond)

// NewMachines starts the controllers. The Machines of nodes that are there
// already are created by Seed.
func NewMachines(env *component.Env, cfg MachinesConfig) *Machines {
	m := &Machines{env: env, cfg: cfg, chance: env.Stream("capi"), drains: NewDrainer(env), of: map[string]*capiMachine{}, wanted: map[string]*kube.Custom{}, orders: map[*cloud.Group]int{}, sets: map[*cloud.Group]string{}}
	env.API.WatchNodes(func(c kube.Change, old, n *kube.Node) {
		if c == kube.Deleted || c == kube.Modified && old.Ready() == n.Ready() {
			return
		}
		if i := env.Cloud.ByNode(n.Name); i != nil && m.of[i.ID] != nil {
			m.soon(func() { m.node(m.of[i.ID]) })
		}
	})
	env.Cloud.Watch(m.instanceChanged)
	return m
}

// Seed creates the Machines of the instances that are there: call it at 0s, with
// the nodes seeded.
func (m *Machines) Seed() {
	for _, g := range m.cfg.Groups {
		m.createDeployment(g)
		for _, i := range g.Instances() {
			n := m.env.API.Node(i.Name)
			if n == nil || m.of[i.ID] != nil {
				continue
			}
			c := m.machine(i)
			c.joined = true
			c.object.Created = n.Created.Add(-2 * time.Minute)
			for _, kind := range [...]string{"Ready", "BootstrapReady", "InfrastructureReady", "NodeHealthy"} {
				c.object.Conditions = c.object.Conditions.Set(kube.Condition{Type: kind, Status: "True", Transition: n.Created.Second()})
			}
			c.status("Running")
			c.nodeRef(n)
			if m.env.API.CreateCustom(c.object) == nil {
				m.of[i.ID] = c
				m.count(c)
			}
		}
	}
}

func (m *Machines) soon(do func()) { m.env.After(m.env.Draw(&m.chance, capiReacts), do) }

func (c *capiMachine) status(phase string) { c.object.SetStatus("phase", kube.Quote(phase)) }

func (c *capiMachine) nodeRef(n *kube.Node) {
	c.object.SetStatus("nodeRef", `{"apiVersion":"v1","kind":"Node","name":`+kube.Quote(n.Name)+`,"uid":`+kube.Quote(n.UID)+`}`)
}

func (c *capiMachine) about() kube.Reference {
	return kube.Reference{
		APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Machine", Namespace: capiNamespace, Name: c.object.Name, UID: c.object.UID,
	}
}

// machine makes the Machine of an instance; it isn't stored yet. Its names are those that the node has in its
// annotations.
func (m *Machines) machine(i *cloud.Instance) *capiMachine {
	c := &capiMachine{object: &kube.Custom{Resource: kube.Machines}, instance: i}
	shape := m.cfg.Shapes(i)
	for _, p := range shape.PoolAnnotations {
		switch p.Key {
		case "cluster.x-k8s.io/machine":
			c.object.Name = p.Value
		case "cluster.x-k8s.io/owner-name":
			c.set = p.Value
		}
	}
	if c.object.Name == "" {
		c.object.Name, c.set = i.ID, i.Group.Name
	}
	c.object.Namespace = capiNamespace
	c.object.Finalizers = []string{capiFinalizer}
	c.object.Labels = kube.PairsOf(
		kube.Pair{Key: "cluster.x-k8s.io/cluster-name", Value: m.cfg.Cluster},
		kube.Pair{Key: "cluster.x-k8s.io/deployment-name", Value: i.Group.Name},
		kube.Pair{Key: "cluster.x-k8s.io/set-name", Value: c.set},
		kube.Pair{Key: "machine-template-hash", Value: strings.TrimPrefix(c.set, i.Group.Name+"-")},
	)
	c.version, _, _ = strings.Cut(i.Template.Version, "-")
	c.object.Spec = `{"clusterName":` + kube.Quote(m.cfg.Cluster) + `,"failureDomain":` + kube.Quote(i.Zone) +
		`,"providerID":` + kube.Quote(shape.ProviderID) + `,"version":` + kube.Quote(c.version) + `}`
	m.createSet(c)
	m.sets[i.Group] = c.set
	set := m.machineSet(c.set)
	c.object.Owner = &kube.Owner{APIVersion: set.APIVersion, Kind: set.Kind, Name: set.Name, UID: set.UID}
	return c
}

func (m *Machines) owns(g *cloud.Group) bool {
	for _, own := range m.cfg.Groups {
		if own == g {
			return true
		}
	}
	return false
}

func (m *Machines) instanceChanged(change cloud.Change, i *cloud.Instance) {
	if !m.owns(i.Group) {
		return
	}
	switch {
	case change == cloud.Launched:
		m.env.After(0, func() { m.create(i) })
	case change == cloud.Started && m.of[i.ID] != nil:
		m.soon(func() { m.provisioned(m.of[i.ID]) })
	case change == cloud.Ended && i.State == cloud.Terminated && m.of[i.ID] != nil:
		m.soon(func() { m.ended(m.of[i.ID]) })
	}
}

// create creates the Machine of a new instance.
func (m *Machines) create(i *cloud.Instance) {
	c := m.machine(i)
	c.status("Provisioning")
	now := m.env.API.Now().Second()
	set := func(kind, status, reason string) {
		c.object.Conditions = c.object.Conditions.Set(kube.Condition{Type: kind, Status: status, Reason: reason, Transition: now})
	}
	set("Ready", "False", "WaitingForInfrastructure")
	set("BootstrapReady", "True", "")
	set("InfrastructureReady", "False", "WaitingForInfrastructure")
	set("NodeHealthy", "False", "WaitingForNodeRef")
	if m.begin(c) != nil {
		return
	}
	m.of[i.ID] = c
	m.follow(i.Group)
	m.count(c)
	m.record(m.machineSet(c.set), "Normal", "SuccessfulCreate", `Created Machine "`+c.object.Name+`"`, "machineset-controller")
}

func (m *Machines) provisioned(c *capiMachine) {
	if c == nil || c.joined || c.deleting {
		return
	}
	m.update(c, "Provisioned", "InfrastructureReady", "True", "")
}

// node reconciles a Machine's node: at first it notes it and removes its taint, and then follows its health.
func (m *Machines) node(c *capiMachine) {
	if c == nil || c.deleting || c.object.Gone() {
		return
	}
	n := m.env.API.Node(c.instance.Name)
	if n == nil {
		return
	}
	if !c.joined {
		c.joined = true
		shape := m.cfg.Shapes(c.instance)
		m.env.API.UpdateNode(n, func(n *kube.Node) {
			for _, p := range shape.PoolAnnotations {
				n.Annotations = n.Annotations.With(p.Key, p.Value)
			}
			for _, p := range shape.PoolLabels {
				n.Labels = n.Labels.With(p.Key, p.Value)
			}
			n.RemoveTaint(capiUninitialized, "")
		})
		m.env.API.UpdateCustom(c.object, func(*kube.Custom) { c.nodeRef(n) })
		m.record(c.about(), "Normal", "SuccessfulSetNodeRef", n.Name, "machine-controller")
	}
	status, reason := "True", ""
	if !n.Ready() {
		status, reason = "False", "NodeConditionsFailed"
	}
	m.update(c, "Running", "NodeHealthy", status, reason)
	m.update(c, "Running", "Ready", status, reason)
	m.count(c)
}

func (m *Machines) update(c *capiMachine, phase, kind, status, reason string) {
	now := m.env.API.Now().Second()
	m.env.API.UpdateCustom(c.object, func(o *kube.Custom) {
		if phase != "" {
			c.status(phase)
		}
		o.Conditions = o.Conditions.Set(kube.Condition{Type: kind, Status: status, Reason: reason, Transition: now})
	})
}

func (m *Machines) record(about kube.Reference, kind, reason, message, component string) {
	m.env.API.Record(kube.Source{Component: component}, about, kind, reason, message)
}
