package kube

// lease is a node's Lease in kube-node-lease, which no tape holds: it is renewed every ten seconds from a moment on,
// until its kubelet falls silent. Its content at a moment is computed and never stored.
type lease struct {
	since, until Instant // until is 0 while it is being renewed
	last         Instant // the last renewal before since
	dropped      bool
}

// A LeaseRef finds a node's Lease again without a look at its name. The zero
// LeaseRef has found none yet.
type LeaseRef struct{ lease *lease }

// StartLease says that a node's kubelet renews its Lease now and every ten
// seconds from now on. Of a Lease that is being renewed it does nothing.
func (s *Store) StartLease(node string, since Instant) {
	if r := s.outbound(); r != nil {
		r.SetLeaseRenewal(node, true)
	}
	l := s.leases[node]
	if l != nil && l.until == 0 {
		return
	}
	if l == nil {
		s.leases[node] = &lease{since: since}
		return
	}
	l.since, l.until, l.last = since, 0, l.at(s.Now())
}

// RenewLease says that a client has renewed a node's Lease, once. It does nothing for a node whose Lease a kubelet here
// renews.
func (s *Store) RenewLease(node string) {
	l := s.leases[node]
	switch {
	case l == nil:
		l = &lease{}
		s.leases[node] = l
	case l.until == 0:
		return
	}
	l.since, l.until = s.Now(), s.Now()
}

// StopLease says that a node's kubelet renews its Lease no longer.
func (s *Store) StopLease(node string) {
	if r := s.outbound(); r != nil {
		r.SetLeaseRenewal(node, false)
	}
	if l := s.leases[node]; l != nil && l.until == 0 {
		l.until = s.Now()
	}
}

// DropLease removes a node's Lease, as the garbage collector does once its Node
// is gone.
func (s *Store) DropLease(node string) {
	if l := s.leases[node]; l != nil {
		l.dropped = true
		delete(s.leases, node)
	}
}

// RenewedBy returns when a node's Lease was last renewed; false where there is no Lease. ref is the caller's own for
// this node: it makes the next call faster.
func (s *Store) RenewedBy(node string, ref *LeaseRef) (Instant, bool) {
	l := ref.lease
	if l == nil || l.dropped {
		if l = s.leases[node]; l == nil {
			return 0, false
		}
		ref.lease = l
	}
	return l.at(s.Now()), true
}

func (l *lease) at(now Instant) Instant {
	if l.until != 0 {
		now = l.until
	}
	if now < l.since {
		return l.last
	}
	return l.since.Add(now.Sub(l.since).Truncate(leaseRenewal))
}
