package kube

import "slices"

// Node is a v1 Node.
type Node struct {
	Meta
	ProviderID    string
	PodCIDR       string
	Unschedulable bool
	Taints        []Taint
	Conditions    Conditions
	Addresses     []Address
	// Capacity and Allocatable are quantities in the order of their names.
	Capacity, Allocatable Pairs
	// Phase is set by kwok ("Running"); kubelets leave it empty.
	Phase string
	// KubeletPort is 10250 for a kubelet, 0 for kwok.
	KubeletPort int
	Info        NodeInfo
	Images      []Image
	Handlers    []Handler
	// Attached are volumes that the attach-detach controller says are
	// attached, InUse what the kubelet says it has mounted.
	Attached []Attached
	InUse    []string

	readiness readiness
}

// readiness remembers what Ready has found in which conditions. Conditions are
// never changed where they stand, and are asked for it more often than for
// anything else.
type readiness struct {
	of *Condition
	is bool
}

func (r *readiness) in(cs Conditions) bool {
	if len(cs) == 0 {
		return false
	}
	if r.of != &cs[0] {
		r.of, r.is = &cs[0], cs.Is("Ready", "True")
	}
	return r.is
}

// A Taint is an entry of spec.taints; Added is 0 where there is no timeAdded.
type Taint struct {
	Key, Value, Effect string
	Added              Instant
}

// An Address of a node.
type Address struct{ Type, Address string }

// Image is one of the images that a node has pulled.
type Image struct {
	Names []string
	Bytes int64
}

// Handler is an entry of status.runtimeHandlers.
type Handler struct {
	Name                                    string
	RecursiveReadOnlyMounts, UserNamespaces bool
}

// Attached is a volume in status.volumesAttached.
type Attached struct{ Name, Device string }

// NodeInfo is status.nodeInfo.
type NodeInfo struct {
	MachineID, SystemUUID, BootID string
	Kernel, OSImage, Runtime      string
	KubeletVersion, ProxyVersion  string
	OS, Architecture              string
}

// Ready reports whether the node's Ready condition is True.
func (n *Node) Ready() bool { return n.readiness.in(n.Conditions) }

// HasTaint reports whether the node has a taint of that key and effect; an empty effect is any.
func (n *Node) HasTaint(key, effect string) bool {
	for i := range n.Taints {
		if n.Taints[i].Key == key && (effect == "" || n.Taints[i].Effect == effect) {
			return true
		}
	}
	return false
}

// AddTaint appends a taint, unless one of the same key and effect is there.
func (n *Node) AddTaint(t Taint) {
	if !n.HasTaint(t.Key, t.Effect) {
		n.Taints = append(slices.Clip(n.Taints), t)
	}
}

// RemoveTaint takes the taints of a key and effect away; an empty effect is any.
func (n *Node) RemoveTaint(key, effect string) {
	if n.HasTaint(key, effect) {
		n.Taints = slices.DeleteFunc(slices.Clone(n.Taints), func(t Taint) bool {
			return t.Key == key && (effect == "" || t.Effect == effect)
		})
	}
}
