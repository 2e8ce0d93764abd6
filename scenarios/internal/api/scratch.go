package api

// scratch holds what an object was before the write that is under way. Who
// watches sees it during the call only, and there is one write at a time, so
// that half a million updates need no memory of their own for it.
type scratch struct {
	pod  Pod
	node Node
}

// keepPod copies a pod's state. Within a watch, where nobody may write, an
// outer write still needs the scratch: the error then isn't made worse.
func (x *scratch) keepPod(s *Store, p *Pod) *Pod {
	if s.watching > 0 {
		old := *p
		return &old
	}
	x.pod = *p
	return &x.pod
}

func (x *scratch) keepNode(s *Store, n *Node) *Node {
	if s.watching > 0 {
		old := *n
		return &old
	}
	x.node = *n
	return &x.node
}
