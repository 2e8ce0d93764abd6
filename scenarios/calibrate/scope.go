package calibrate

import (
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/timeline"
)

// A scope is the nodes that the header of a tape names. The tape's other nodes are measured too, but a tape without any of
// these isn't what its header says.
type scope struct {
	header   *timeline.Header
	follower *observe.Follower // told of nodes alone; nil where one was found, or the header names all
}

func scopeOf(h *timeline.Header) (scope, error) {
	s := scope{header: h}
	if h.Scope.Nodegroup == "" && h.Scope.Selector == "" {
		return s, nil
	}
	o, err := observe.OptionsFor(h, "", "", "")
	if err != nil {
		return s, err
	}
	o.Pods = noderoll.PodScope{}
	s.follower = observe.New(h, o)
	return s, nil
}

// event takes the tape's next event.
func (s *scope) event(ev *timeline.Event) error {
	if s.follower == nil {
		return nil
	}
	if res, ok := s.header.Lookup(ev.Resource); !ok || res.Group != "" || res.Resource != noderoll.Nodes {
		return nil
	}
	if _, err := s.follower.Apply(*ev); err != nil {
		return err
	}
	if s.follower.Unmatched() == nil {
		s.follower = nil
	}
	return nil
}

// unmatched is the error of a scope that no node on the tape was in.
func (s *scope) unmatched() error {
	if s.follower == nil {
		return nil
	}
	return s.follower.Unmatched()
}
