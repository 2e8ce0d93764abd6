package analysis

import (
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// machine is the object that a node was made for: a NodeClaim of Karpenter or a Machine of Cluster API.
type machine struct {
	kind      string
	name      objectName
	node      string
	requested Moment // zero where it was there when the tape began
	gone      Moment
	// Of the condition that said last why its node wasn't there yet.
	reason, message string
	joined          *node
	group           string // that its node would be of, "" where it doesn't say
}

// path is a machine as Kind/name or Kind/namespace/name.
func (m *machine) path() string {
	if m.name.namespace == "" {
		return m.kind + "/" + m.name.name
	}
	return m.kind + "/" + m.name.String()
}

// machine takes the event of a Machine of Cluster API.
func (s *reading) machine(ev *timeline.Event, initial bool) error {
	return s.setMachine(ev, initial, "Machine", "nodeRef", "name")
}

// nodeClaim takes the event of a NodeClaim of Karpenter.
func (s *reading) nodeClaim(ev *timeline.Event, initial bool) error {
	return s.setMachine(ev, initial, "NodeClaim", "nodeName")
}

func (s *reading) setMachine(ev *timeline.Event, initial bool, kind string, node ...string) error {
	key := kind + "/" + ev.Namespace + "/" + ev.Name
	m := s.machines[key]
	if ev.Type == timeline.Deleted {
		if m != nil {
			m.gone = s.now
			if s.named[m.node] == m {
				delete(s.named, m.node)
			}
			delete(s.machines, key)
		}
		return nil
	}
	if m == nil {
		m = &machine{kind: kind, name: objectName{ev.Namespace, ev.Name}, group: s.groupOf(ev.Object)}
		if !initial {
			m.requested = s.now
		}
		s.machines[key] = m
		s.allClaims = append(s.allClaims, m)
	}
	status := rawjson.Get(ev.Object, "status")
	if name := rawjson.Text(status, node...); name != "" {
		m.node, s.named[name] = name, m
		s.claim(m)
	}
	if m.node == "" {
		m.reason, m.message = waitsFor(status)
	}
	return nil
}

// groupOf is the group of the node that a machine is made for.
func (s *reading) groupOf(object []byte) string {
	var m noderoll.Machine
	observe.MachineOrigin(&m, object)
	return m.Pool(s.o.Provider)
}

// waitsFor finds why a machine has no node yet: the first condition of those that its controller sets one after the other
// which isn't True (pkg/apis/v1/nodeclaim_status.go of Karpenter; api/core/v1beta2/machine_types.go of Cluster API).
func waitsFor(status []byte) (reason, message string) {
	for _, typ := range [...]string{"Launched", "Registered", "Initialized", "BootstrapConfigReady", "InfrastructureReady", "NodeReady", "Ready"} {
		for c := range rawjson.Elements(rawjson.Get(status, "conditions")) {
			if rawjson.Text(c, "type") == typ && rawjson.Text(c, "status") != "True" {
				return rawjson.Text(c, "reason"), rawjson.Text(c, "message")
			}
		}
	}
	return "", ""
}

// claim ties a machine to the node of the name that it has.
func (s *reading) claim(m *machine) {
	n := s.nodes[m.node]
	if n == nil || m.joined == n {
		return
	}
	first := m.joined == nil
	m.joined = n
	n.Claim = m.path()
	n.machine = m
	if first && m.requested.is() { // a node that registers again wasn't asked for again
		n.Requested = moment(m.requested)
	}
}
