package roll

import (
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// capi is the rollout of a MachineDeployment of Cluster API with the strategy
// RollingUpdate (kubernetes-sigs/cluster-api,
// internal/controllers/machinedeployment): a new MachineSet grows by maxSurge,
// and the old one shrinks as new Machines are available. Nodes of the old one
// are tainted so that the scheduler prefers others
// (machine_controller_noderef.go). What happens to a Machine that is deleted is
// the affair of [Machines]. A rollout has no time limit of its own.
type capi struct {
	Base
	m       *Machines
	ordered int // whose launch the provider has refused so far
}

// CAPI is the rollout of a MachineDeployment.
func CAPI(m *Machines) func(Base) Strategy {
	return func(b Base) Strategy {
		s := &capi{Base: b, m: m}
		s.asked = func() int { return s.ordered }
		return s
	}
}

// Begin taints the nodes of the old MachineSet.
func (s *capi) Begin() {
	for _, i := range s.cfg.Group.Instances() {
		n := s.env.API.Node(i.Name)
		if n == nil {
			continue
		}
		if s.Roller.old(i) {
			s.taint(n, kube.Taint{Key: capiOutdated, Effect: "PreferNoSchedule"})
		} else {
			s.untaint(n, capiOutdated)
		}
	}
}

// Start has the new MachineSet grow.
func (s *capi) Start(count int) {
	for range count {
		s.ordered++
		target := s.target
		s.env.After(s.env.Draw(&s.chance, capiReacts), func() { s.launch(target) })
	}
}

// launch asks the provider until it has capacity, or the rollout goes elsewhere.
func (s *capi) launch(target cloud.Template) {
	if s.over || s.target != target {
		s.ordered--
		return
	}
	if _, err := s.env.Cloud.Launch(s.cfg.Group, "", target); err != nil {
		s.env.After(s.env.Draw(&s.chance, s.env.Timings.CapacityRetry), func() { s.launch(target) })
		return
	}
	s.ordered--
}

// Drain deletes the Machine. Its end is the instance's: done is called only where
// there is no Machine.
func (s *capi) Drain(i *cloud.Instance, _ *kube.Node, done func(error)) {
	if !s.m.Delete(i) {
		done(nil)
	}
}

// Remove deletes the Machine of an instance that never served.
func (s *capi) Remove(i *cloud.Instance, _ *kube.Node) {
	if !s.m.Delete(i) {
		s.env.Cloud.Terminate(i, false)
	}
}

// Restore does nothing that can be taken back: a Machine that is deleted goes.
func (s *capi) Restore(n *kube.Node) { s.untaint(n, capiOutdated) }
