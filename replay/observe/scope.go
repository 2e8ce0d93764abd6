package observe

import (
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// A Scope looks whether a tape has a node that is in the scope which its header names, for those that take all nodes: a tape without any
// isn't what its header says. It is for one goroutine.
type Scope struct {
	header   *timeline.Header
	follower *Follower // told of nodes alone; nil where one was found, or the header names all
}

// ScopeOf returns the Scope of a header, or what is wrong with that.
func ScopeOf(h *timeline.Header) (*Scope, error) {
	s := &Scope{header: h}
	if !h.Scope.Partial() {
		return s, nil
	}
	o, err := OptionsFor(h, "", "", "")
	if err != nil {
		return nil, err
	}
	o.Pods = noderoll.PodScope{} // nodes are looked for, whatever else the tape is about
	s.follower = New(h, o)
	return s, nil
}

// Apply takes the tape's next event. Its error is that of an object that can't be read.
func (s *Scope) Apply(ev timeline.Event) error {
	if s.follower == nil {
		return nil
	}
	if res, ok := s.header.Lookup(ev.Resource); !ok || res.Group != "" || res.Resource != noderoll.Nodes {
		return nil
	}
	if _, err := s.follower.Apply(ev); err != nil {
		return err
	}
	if s.follower.Unmatched() == nil {
		s.follower = nil
	}
	return nil
}

// Unmatched is the error of a scope that no node was in; see [Follower.Unmatched].
func (s *Scope) Unmatched() error {
	if s.follower == nil {
		return nil
	}
	return s.follower.Unmatched()
}
