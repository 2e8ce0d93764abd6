package scenarios

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// Do has a fault of a scenario file happen at the present moment, such as the end of a node or of a zone. What is zero
// in it has its default, but for truth values; it has no trigger. Its events are made by a later Advance. A fault that
// would hit no node is an error, as is one that the API server would refuse.
func (a *Acting) Do(fault *spec.Fault) error {
	s := a.sim
	f, err := s.file.FaultNow(fault)
	if err != nil {
		return err
	}
	if v := f.Victims(); v != nil && len(s.hittable(*v, f.SpotInterruption != nil)) == 0 {
		return fmt.Errorf("fault: %s: found no node that it could hit%s: want one that is there, with a machine that runs", f.Action(), described(v))
	}
	if err := a.refusal(f); err != nil {
		return fmt.Errorf("fault: %s: %w", f.Action(), err)
	}
	s.act(f)
	return s.failed
}

// refusal says why the API server would refuse a fault that is a write to a workload, or nil.
func (a *Acting) refusal(f *spec.Fault) error {
	switch {
	case f.CreateWorkload != nil:
		if w := a.sim.workloadOf(f.CreateWorkload.Workload); w != nil {
			return a.creatable(controllers.WorkloadKind(w.Kind), w.Namespace, w.Name)
		}
	case f.Scale != nil:
		if w := a.sim.workloadOf(f.Scale.Workload); w != nil && !a.workloads.Exists(plural(controllers.WorkloadKind(w.Kind)), w.Namespace, w.Name) {
			return fmt.Errorf("found no %s %s/%s: want one that is there", w.Kind, w.Namespace, w.Name)
		}
	}
	return nil
}

// described says which nodes a fault asks for.
func described(v *spec.Victims) string {
	text := ""
	for _, part := range [...]struct{ key, value string }{{"node", v.Node}, {"group", v.Group}, {"which", string(v.Which)}} {
		if part.value != "" && part.value != string(spec.WhichAny) {
			text += fmt.Sprintf(", %s %q", part.key, part.value)
		}
	}
	return text
}
