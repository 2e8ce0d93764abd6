package noderoll

import corev1 "k8s.io/api/core/v1"

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
