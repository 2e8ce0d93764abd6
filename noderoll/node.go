package noderoll

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Node holds what a roll needs to know of a Node object. The maps and slices may
// be shared with the object it was made from; nothing here writes to them, and
// State keeps none of them.
type Node struct {
	Name        string
	UID         string // empty where the source has none; then the name is the identity
	Labels      map[string]string
	Annotations map[string]string // only those named by a Provider are read

	Unschedulable bool     // spec.unschedulable
	TaintKeys     []string // spec.taints[*].key

	// Ready is the status of the first condition of type Ready: "True", "False"
	// or "Unknown", and empty if there is none. Reason and message are of the
	// same condition.
	Ready        string
	ReadyReason  string
	ReadyMessage string
	// Pressure are the pressure conditions with status True.
	Pressure Pressure

	KubeletVersion string // status.nodeInfo.kubeletVersion
	OSImage        string // status.nodeInfo.osImage

	Created time.Time // metadata.creationTimestamp
	// Deleting says that the object has a deletion timestamp, and only a
	// finalizer keeps it. It is not a reason to call the node draining: who
	// holds a finalizer on nodes (Karpenter) taints them as well.
	Deleting bool
}

// NodeFrom extracts what a roll needs from a Node object. It shares the object's
// label and annotation maps.
func NodeFrom(o *corev1.Node) Node {
	n := Node{
		Name:           o.Name,
		UID:            string(o.UID),
		Labels:         o.Labels,
		Annotations:    o.Annotations,
		Unschedulable:  o.Spec.Unschedulable,
		KubeletVersion: o.Status.NodeInfo.KubeletVersion,
		OSImage:        o.Status.NodeInfo.OSImage,
		Created:        o.CreationTimestamp.Time,
		Deleting:       o.DeletionTimestamp != nil,
	}
	if len(o.Spec.Taints) > 0 {
		n.TaintKeys = make([]string, len(o.Spec.Taints))
		for i := range o.Spec.Taints {
			n.TaintKeys[i] = o.Spec.Taints[i].Key
		}
	}
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		n.SetCondition(string(c.Type), string(c.Status), c.Reason, c.Message)
	}
	return n
}

// SetCondition notes one condition; call it once for each, in the object's
// order. Only Ready and the pressure conditions are kept, and of several Ready
// conditions the first.
func (n *Node) SetCondition(typ, status, reason, message string) {
	if typ == string(corev1.NodeReady) {
		if n.Ready == "" {
			n.Ready, n.ReadyReason, n.ReadyMessage = status, reason, message
		}
		return
	}
	if status == string(corev1.ConditionTrue) {
		n.Pressure |= PressureOf(typ)
	}
}

// Pressure is a set of pressure conditions that are True.
type Pressure uint8

// The members of a Pressure set, in the order in which they are listed.
const (
	MemoryPressure Pressure = 1 << iota
	DiskPressure
	PIDPressure
	NetworkUnavailable

	allPressure = MemoryPressure | DiskPressure | PIDPressure | NetworkUnavailable
)

// PressureOf returns the set of one condition type, and the empty set for a
// type that is no pressure.
func PressureOf(conditionType string) Pressure {
	switch corev1.NodeConditionType(conditionType) {
	case corev1.NodeMemoryPressure:
		return MemoryPressure
	case corev1.NodeDiskPressure:
		return DiskPressure
	case corev1.NodePIDPressure:
		return PIDPressure
	case corev1.NodeNetworkUnavailable:
		return NetworkUnavailable
	}
	return 0
}

// pressureTypes lists every set once, so that naming a set allocates nothing.
var pressureTypes = func() (lists [allPressure + 1][]string) {
	for set := Pressure(1); set <= allPressure; set++ {
		for _, t := range []corev1.NodeConditionType{
			corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure, corev1.NodeNetworkUnavailable,
		} {
			if set&PressureOf(string(t)) != 0 {
				lists[set] = append(lists[set], string(t))
			}
		}
	}
	return lists
}()

// Types names the members: MemoryPressure, DiskPressure, PIDPressure,
// NetworkUnavailable, in this order; nil when there is none. The slice is
// shared: don't write to it.
func (p Pressure) Types() []string { return pressureTypes[p&allPressure] }
