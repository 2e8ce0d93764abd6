package kube

// A Remote is an API server that a Store mirrors: the real one of a live run. Writes of actors to the Store reach it
// after the write; what happens on it comes back through [Store.Inbound]. Its methods are called from within the
// write, and may take notes and wait for the server, but not write to the Store.
type Remote interface {
	// NodeWritten, PodWritten and CustomWritten are told of every write of an actor;
	// old is nil for an object that was added, and valid during the call.
	NodeWritten(c Change, old, n *Node)
	PodWritten(c Change, old, p *Pod)
	CustomWritten(c Change, old, o *Custom)
	// Evict and DeletePod ask; that the pod is being deleted comes in as the
	// server says it.
	Evict(p *Pod) *Refusal
	DeletePod(p *Pod, grace int64)
	// Recorded is an event, with what its reporter says; Action is that of
	// events.k8s.io.
	Recorded(from Source, about Reference, kind, reason, action, message string)
	// SetLeaseRenewal says whether a node's kubelet renews its Lease.
	SetLeaseRenewal(node string, is bool)
	// Marked is a named moment.
	Marked(name, reason string)
}

// Inbound has f write what came from the remote API server: the remote isn't told
// of it.
func (s *Store) Inbound(f func()) {
	was := s.inbound
	s.inbound = true
	f()
	s.inbound = was
}

// outbound is the remote that a write is to be told to, or nil.
func (s *Store) outbound() Remote {
	if s.inbound {
		return nil
	}
	return s.cfg.Remote
}

// Know gives an object the identity that it has on the remote API server.
func (s *Store) Know(m *Meta, uid string) { m.UID = uid }

// Learn adds a pod as the remote API server has it, with its UID.
func (s *Store) Learn(p *Pod) error {
	uid := p.UID
	err := s.CreatePod(p)
	if uid != "" {
		p.UID = uid
	}
	return err
}

// Forget removes a pod that the remote API server has no longer.
func (s *Store) Forget(p *Pod) {
	if !p.gone {
		s.dropPod(p)
	}
}

// ForgetNode removes a node that the remote API server has no longer.
func (s *Store) ForgetNode(n *Node) {
	if !n.gone {
		s.dropNode(n)
	}
}
