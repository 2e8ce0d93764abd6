package api

// lease is a node's Lease in kube-node-lease, which no tape holds: it is renewed
// every ten seconds from a moment on, until its kubelet falls silent. What
// stands in it at a moment is computed and never stored.
type lease struct {
	since, until Instant // until is 0 while it is being renewed
	last         Instant // the last renewal before since
}

// StartLease says that a node's kubelet renews its Lease now and every ten
// seconds from now on. Of a Lease that is being renewed it does nothing.
func (s *Store) StartLease(node string, since Instant) {
	l := s.leases[node]
	if l != nil && l.until == 0 {
		return
	}
	next := &lease{since: since}
	if l != nil {
		next.last = l.at(s.Now())
	}
	s.leases[node] = next
}

// StopLease says that a node's kubelet renews its Lease no longer.
func (s *Store) StopLease(node string) {
	if l := s.leases[node]; l != nil && l.until == 0 {
		l.until = s.Now()
	}
}

// DropLease removes a node's Lease, as the garbage collector does once its Node
// is gone.
func (s *Store) DropLease(node string) { delete(s.leases, node) }

// Renewed returns when a node's Lease was last renewed; false where there is no
// Lease.
func (s *Store) Renewed(node string) (Instant, bool) {
	l := s.leases[node]
	if l == nil {
		return 0, false
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
