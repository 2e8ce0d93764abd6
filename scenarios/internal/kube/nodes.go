package kube

import "fmt"

// Nodes returns the nodes in the order of their creation. The slice must not be
// changed; nodes that come and go while one walks along don't disturb it.
func (s *Store) Nodes() []*Node { return s.nodes.list() }

// Node returns the node of a name, or nil.
func (s *Store) Node(name string) *Node { return s.nodes.byName[key{name: name}] }

// CreateNode adds a node, with what admission does to it: a node that isn't
// Ready carries the not-ready taint from the beginning, without timeAdded
// (plugin/pkg/admission/nodetaint). A second node of the name is refused.
func (s *Store) CreateNode(n *Node) error {
	if s.Node(n.Name) != nil {
		return fmt.Errorf("nodes %q already exists", n.Name)
	}
	n.AddTaint(Taint{Key: "node.kubernetes.io/not-ready", Effect: "NoSchedule"})
	s.addNode(n)
	return nil
}

// SeedNode adds a node as it is: one that was there before the tape began.
func (s *Store) SeedNode(n *Node) { s.addNode(n) }

func (s *Store) addNode(n *Node) {
	s.stamp(&n.Meta)
	s.nodes.put(key{name: n.Name}, n)
	add(s, &ofNodes, &n.Meta, n, nil)
	s.tellNodes(Added, nil, n)
}

// UpdateNode lets change work on a node, and writes what it did. It reports
// whether that was anything; an update that changes nothing takes no version.
func (s *Store) UpdateNode(n *Node, change func(*Node)) bool {
	if n.gone {
		return false
	}
	old := keep(s, &s.scratch.node, n)
	change(n)
	patch, is := changed(s, &ofNodes, old, n)
	if !is {
		return false
	}
	n.rv = s.version()
	modify(s, &ofNodes, &n.Meta, old, n, patch)
	s.tellNodes(Modified, old, n)
	if n.Terminating() && len(n.Finalizers) == 0 && s.cfg.Remote == nil {
		s.dropNode(n)
	}
	return true
}

// DeleteNode removes a node, or, where finalizers hold it, says that it is to
// go. It reports whether it did either.
func (s *Store) DeleteNode(n *Node) bool {
	if n.gone {
		return false
	}
	if len(n.Finalizers) > 0 {
		return s.UpdateNode(n, func(n *Node) {
			if !n.Terminating() {
				n.Deleting = s.Now()
			}
		})
	}
	s.dropNode(n)
	return true
}

func (s *Store) dropNode(n *Node) {
	old := *n
	n.rv = s.version()
	n.gone = true
	s.nodes.drop(key{name: n.Name})
	remove(s, &ofNodes, &n.Meta, n)
	s.tellNodes(Deleted, &old, n)
	s.forget("Node", &n.Meta)
}

func (s *Store) tellNodes(c Change, old, n *Node) {
	s.watching++
	if r := s.outbound(); r != nil {
		r.NodeWritten(c, old, n)
	}
	s.watchers.nodes.tell(n.Name, c, old, n)
	s.watching--
}
