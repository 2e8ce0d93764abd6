package fault

import (
	"fmt"

	"github.com/nodesim/nodesim/internal/faultspec"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// Spec is one fault that is asked for; see the package comment for its text.
type Spec = faultspec.Spec

// Kind is one kind of fault.
type Kind = faultspec.Kind

// Param is one parameter of a fault.
type Param = faultspec.Param

// Parse reads a fault. Its error says in one line where the text is bad, what
// was found there, what is wanted, and what was probably meant. Whether a tape
// has the resource that it names is found out by the Player.
func Parse(text string) (Spec, error) { return faultspec.Parse(text) }

// Kinds returns all kinds of fault, for completion and documents.
func Kinds() []Kind { return faultspec.Kinds() }

// Params returns all parameters, for completion and documents.
func Params() []Param { return faultspec.Params() }

// Inject makes a Player's tape go wrong, in the ways of the given faults and of
// those that the tape's header declares. A fault that can't be read, or that
// names a resource that isn't on the tape, is an error of NewPlayer.
func Inject(specs ...string) replay.Option { return InjectAndLog(nil, specs...) }

// InjectAndLog is [Inject], and calls log for each fault that has fired, in the
// order in which they fire. It is called by the goroutine that moves the tape or asks the
// cluster, one call at a time, must be quick, and must not call Player or
// Cluster.
func InjectAndLog(log func(Fired), specs ...string) replay.Option {
	return replay.WithFaultInjectorFor(func(h *timeline.Header) (replay.FaultInjector, error) {
		var all []Spec
		for _, text := range specs {
			s, err := Parse(text)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
		for i, text := range h.Faults {
			s, err := declared(h, text)
			if err != nil {
				return nil, fmt.Errorf("header of tape %q, faults[%d]: %w", h.Metadata.Name, i, err)
			}
			all = append(all, s)
		}
		if len(all) == 0 {
			return nil, nil
		}
		return newInjector(h, all, log)
	})
}

// declared reads a fault of a tape's header, and checks it against the tape's
// resources, so that an error can say where it stands.
func declared(h *timeline.Header, text string) (Spec, error) {
	s, err := Parse(text)
	if err != nil {
		return s, err
	}
	_, err = bind(h, s)
	return s, err
}
