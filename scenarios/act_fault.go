package scenarios

import (
	"fmt"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// Do has a fault of a scenario file happen at the present moment, such as the end of a node or of a zone. What is zero
// in it has its default, but for truth values; it has no trigger. Its events are made by a later Advance. A fault that
// would hit no node is an error.
func (a *Acting) Do(fault *spec.Fault) error {
	s := a.sim
	f, err := s.file.FaultNow(fault)
	if err != nil {
		return err
	}
	if v := f.Victims(); v != nil && len(s.hittable(*v)) == 0 {
		return fmt.Errorf("fault: %s: found no node that it could hit%s: want one that is there, with a machine that runs", f.Action(), described(v))
	}
	s.act(f)
	return s.failed
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
