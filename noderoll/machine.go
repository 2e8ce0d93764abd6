package noderoll

// Machine holds what a roll needs to know of the object that a node was made for: a
// Machine of Cluster API, or a NodeClaim of Karpenter. It says when its controller
// begins to drain the node.
type Machine struct {
	Kind      string
	Namespace string
	Name      string
	// Node is the name of the node; empty while there is none.
	Node string
	// Draining says that the node is being drained, see SetCondition.
	Draining bool
}

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

type machineKey struct{ kind, namespace, name string }

// SetMachine adds a machine or replaces what was known of it. Its word may come
// before the cordon of its node, and counts then.
func (s *State) SetMachine(m Machine) {
	s.DeleteMachine(m.Kind, m.Namespace, m.Name)
	if !m.Draining || m.Node == "" {
		return
	}
	s.machines[machineKey{m.Kind, m.Namespace, m.Name}] = m.Node
	s.drainers[m.Node]++
	s.nodeDrains(m.Node)
}

// DeleteMachine removes a machine.
func (s *State) DeleteMachine(kind, namespace, name string) {
	key := machineKey{kind, namespace, name}
	node, known := s.machines[key]
	if !known {
		return
	}
	delete(s.machines, key)
	if s.drainers[node]--; s.drainers[node] == 0 {
		delete(s.drainers, node)
	}
}
