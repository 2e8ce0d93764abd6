package component

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Room is a node's free resources, or a pod's share of them: millicores, bytes, and a number of pods.
type Room struct {
	CPU, Memory, Pods int64
}

// Holds reports whether a need fits. What needs nothing of a resource fits where there is less than nothing left of it
// (fitsRequest of pkg/scheduler/framework/plugins/noderesources/fit.go).
func (r Room) Holds(need Room) bool {
	return (need.CPU <= r.CPU || need.CPU == 0) && (need.Memory <= r.Memory || need.Memory == 0) && need.Pods <= r.Pods
}

// Plus adds a room to another.
func (r Room) Plus(o Room) Room { return Room{r.CPU + o.CPU, r.Memory + o.Memory, r.Pods + o.Pods} }

// Minus takes a room from another.
func (r Room) Minus(o Room) Room { return Room{r.CPU - o.CPU, r.Memory - o.Memory, r.Pods - o.Pods} }

// Times is the room of k of a kind.
func (r Room) Times(k int) Room {
	return Room{r.CPU * int64(k), r.Memory * int64(k), r.Pods * int64(k)}
}

// NeedOf is what a pod requests of a node.
func NeedOf(p *kube.Pod) Room {
	cpu, memory := p.Requests()
	return Room{CPU: cpu, Memory: memory, Pods: 1}
}

// AllocatableOf reads a node's allocatable; what can't be read is nothing.
func AllocatableOf(n *kube.Node) Room {
	read := func(name string) resource.Quantity {
		q, err := resource.ParseQuantity(n.Allocatable.Get(name))
		if err != nil {
			return resource.Quantity{}
		}
		return q
	}
	cpu, memory, pods := read("cpu"), read("memory"), read("pods")
	return Room{CPU: cpu.MilliValue(), Memory: memory.Value(), Pods: pods.Value()}
}
