package noderoll

import (
	"slices"
	"strings"
)

// Machine holds what a roll needs to know of the object that a node was made for: a
// Machine of Cluster API, or a NodeClaim of Karpenter. It says when its controller
// begins to drain the node, how far it has come, and what it waits for.
type Machine struct {
	Kind      string
	Namespace string
	Name      string
	// Node is the name of the node; empty while there is none.
	Node string
	// Draining says that the node is being drained, see SetCondition.
	Draining bool
	// Deleting says that its deletion has been asked for.
	Deleting bool
	// Phase is the one of a Machine; a NodeClaim has none.
	Phase string
	// Labels are those of a NodeClaim, which its node gets (pkg/controllers/nodeclaim/lifecycle/registration.go of
	// Karpenter), OwnerKind and OwnerName the controller of a Machine, which is written to its node
	// (internal/controllers/machine/machine_controller_noderef.go of Cluster API): they say of which group the node will be.
	Labels               map[string]string
	OwnerKind, OwnerName string
	// Conditions are those of one version of the API.
	Conditions []MachineCondition
}

// MachineCondition is a condition of a Machine or a NodeClaim, as found.
type MachineCondition struct{ Type, Status, Reason, Message string }

// SetCondition notes one condition; call it once for each. Of Cluster API these are
// Deleting with reason DrainingNode, and DrainingSucceeded of its older API while that
// is False (api/core/v1beta2/machine_types.go, api/core/v1beta1/condition_consts.go);
// of Karpenter it is Drained while that isn't True, with reason Draining
// (pkg/controllers/node/termination/controller.go).
func (m *Machine) SetCondition(typ, status, reason string) {
	switch typ {
	case "Deleting":
		m.Draining = m.Draining || status == "True" && reason == "DrainingNode"
	case "DrainingSucceeded":
		m.Draining = m.Draining || status == "False" && (reason == "Draining" || reason == "DrainingFailed")
	case "Drained":
		m.Draining = m.Draining || status != "True" && reason == "Draining"
	}
}

const (
	kindMachine   = "Machine"
	kindNodeClaim = "NodeClaim"
)

// What controllers set one after the other: of NodeClaims pkg/apis/v1/nodeclaim_status.go of Karpenter; of Machines
// api/core/v1beta2/machine_types.go of Cluster API, and BootstrapReady of its v1beta1. A Machine's phases say its steps.
var (
	claimSteps   = [...]string{"Launched", "Registered", "Initialized", "Drained", "VolumesDetached", "InstanceTerminating"}
	claimBegins  = []string{"Launched", "Registered", "Initialized", "ConsistentStateFound"}
	claimEnds    = []string{"Drained", "VolumesDetached"}
	machineNeeds = []string{"BootstrapConfigReady", "BootstrapReady", "InfrastructureReady", "NodeHealthy", "HealthCheckSucceeded"}
)

// condition is the one of a type, the zero one where there is none.
func (m *Machine) condition(typ string) MachineCondition {
	for _, c := range m.Conditions {
		if c.Type == typ {
			return c
		}
	}
	return MachineCondition{}
}

// drifted is the condition by which a machine isn't what its owner asks for any more: Drifted of a NodeClaim
// (pkg/controllers/nodeclaim/disruption/drift.go of Karpenter), UpToDate of a Machine while that is False.
func (m *Machine) drifted() MachineCondition {
	typ, status := "Drifted", "True"
	if m.Kind == kindMachine {
		typ, status = "UpToDate", "False"
	}
	if c := m.condition(typ); c.Status == status {
		return c
	}
	return MachineCondition{}
}

// waits is the first condition, in the order in which they are set, that is there and isn't True; of a Machine that is
// being deleted the one that says what that waits for.
func (m *Machine) waits() MachineCondition {
	types := claimBegins
	switch {
	case m.Kind == kindMachine && m.Deleting:
		return m.condition("Deleting")
	case m.Kind == kindMachine:
		types = machineNeeds
	case m.Deleting:
		types = claimEnds
	}
	for _, typ := range types {
		if c := m.condition(typ); c.Type != "" && c.Status != "True" {
			return c
		}
	}
	return MachineCondition{}
}

// steps are those of claimSteps that are True, a bit each.
func (m *Machine) steps() (done uint8) {
	if m.Kind != kindNodeClaim {
		return 0
	}
	for i, typ := range claimSteps {
		if m.condition(typ).Status == "True" {
			done |= 1 << i
		}
	}
	return done
}

// Pool is the pool of the node that a machine is made for, "" where the machine doesn't say. With the zero Provider it is that
// of the provider whose machine it looks like.
func (m *Machine) Pool(p Provider) string {
	n := Node{Labels: m.Labels, Annotations: map[string]string{annotationOwnerKind: m.OwnerKind, annotationOwnerName: m.OwnerName}}
	if p.IsAuto() {
		p = Detect(&n)
	}
	return p.Pool(&n)
}

type machineKey struct{ kind, namespace, name string }

// path is a machine as Kind/name or Kind/namespace/name.
func (k machineKey) path() string {
	if k.namespace == "" {
		return k.kind + "/" + k.name
	}
	return k.kind + "/" + k.namespace + "/" + k.name
}

// machineRec is what is kept of a machine.
type machineRec struct {
	node               string
	draining, deleting bool
	scalesDown         bool // its node is taken because it isn't needed
	scope              bool // its node is of the group, or will be
	phase              string
	steps              uint8
	drifted, waits     MachineCondition
}

// SetMachine adds a machine or replaces what was known of it. Its word may come
// before the cordon of its node, and counts then.
func (s *State) SetMachine(m Machine) {
	key := machineKey{m.Kind, m.Namespace, m.Name}
	rec := s.machines[key]
	if rec == nil {
		rec = &machineRec{}
		s.machines[key] = rec
	}
	s.undrain(rec)
	was, is := *rec, m.ScalesDown() && m.Node != ""
	*rec = machineRec{
		node: m.Node, draining: m.Draining && m.Node != "", deleting: m.Deleting, scope: rec.scope || s.machineInGroup(&m),
		phase: m.Phase, steps: m.steps(), drifted: m.drifted(), waits: m.waits(), scalesDown: is,
	}
	if is {
		s.machineScalesDown(m.Node, 1, false)
	}
	if was.scalesDown {
		s.machineScalesDown(was.node, -1, false)
	}
	if rec.draining {
		s.drainers[m.Node]++
		s.nodeDrains(m.Node)
	}
}

// machineInGroup reports whether the node of a machine is of the group, or will be as far as the machine says. Which labels
// a selector would find on the node isn't known before it is there.
func (s *State) machineInGroup(m *Machine) bool {
	if rec := s.nodes[m.Node]; rec != nil && rec.present {
		return true
	}
	if s.opts.Selector != nil || s.roll != nil {
		return false
	}
	return s.opts.Pool == "" || m.Pool(s.opts.Provider) == s.opts.Pool
}

func (s *State) undrain(rec *machineRec) {
	if !rec.draining {
		return
	}
	if s.drainers[rec.node]--; s.drainers[rec.node] == 0 {
		delete(s.drainers, rec.node)
	}
}

// DeleteMachine removes a machine.
func (s *State) DeleteMachine(kind, namespace, name string) {
	key := machineKey{kind, namespace, name}
	if rec := s.machines[key]; rec != nil {
		s.undrain(rec)
		if rec.scalesDown {
			s.machineScalesDown(rec.node, -1, true)
		}
		delete(s.machines, key)
	}
}

// MachineView is a NodeClaim or Machine of the group that has something to say: its node isn't there yet, it is to be
// replaced, or it waits for something.
type MachineView struct {
	Object string `json:"object"` // Kind/name or Kind/namespace/name
	// Node is the name of its node; empty while it has none.
	Node string `json:"node,omitempty"`
	// Drifted says that it isn't what its owner asks for any more: Drifted of a NodeClaim, UpToDate of a Machine.
	Drifted bool `json:"drifted,omitempty"`
	// Condition is the first one that it waits for, with its reason and message as found.
	Condition string `json:"condition,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Message   string `json:"message,omitempty"`
}

// machineViews are those of a Snapshot, by their object.
func (s *State) machineViews() (all []MachineView) {
	for key, rec := range s.machines {
		if !rec.scope {
			continue
		}
		v := MachineView{Object: key.path(), Node: rec.node, Drifted: rec.drifted.Type != ""}
		if !rec.draining { // its node says that it is drained
			v.Condition, v.Reason, v.Message = rec.waits.Type, rec.waits.Reason, rec.waits.Message
		}
		there := s.nodes[rec.node] != nil && s.nodes[rec.node].present
		if there && (v.Drifted || v.Condition != "") || rec.node == "" && !rec.deleting {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b MachineView) int { return strings.Compare(a.Object, b.Object) })
	return all
}
