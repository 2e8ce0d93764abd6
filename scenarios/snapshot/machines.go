package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// unnamed is the type of nodes that name none.
const unnamed = "observed"

const machineLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// What a file may say of a machine.
const (
	mostCPU     = 1024
	leastMemory = 512 << 20
	mostPods    = 10_000
	mostAmount  = 1e14
)

// machines describes the nodes' instance types in the file, and returns that of each node. A type has the least of what its nodes
// report.
func (d *draft) machines(nodes []*corev1.Node) map[string]string {
	of := map[string]string{}
	byType := map[string][]*corev1.Node{}
	for _, n := range nodes {
		name := n.Labels[corev1.LabelInstanceTypeStable]
		if name == "" || len(name) > 63 || strings.Trim(name, machineLetters) != "" || strings.Trim(name[:1], "._-") == "" {
			name = fmt.Sprintf("%s-%dcpu-%dmi", unnamed, n.Status.Capacity.Cpu().Value(), n.Status.Capacity.Memory().Value()>>20)
		}
		of[n.Name] = name
		byType[name] = append(byType[name], n)
	}
	for _, name := range slices.Sorted(maps.Keys(byType)) {
		d.file.Cluster.InstanceTypes = append(d.file.Cluster.InstanceTypes, d.machine(name, byType[name]))
	}
	return of
}

// reporting are the nodes that say what they have. A node that has just joined, or whose kubelet never started, says nothing: that isn't
// what its type has.
func (d *draft) reporting(nodes []*corev1.Node) (all []*corev1.Node) {
	for _, n := range nodes {
		if len(n.Status.Allocatable) > 0 {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		for _, n := range nodes {
			d.said.add("nodes that report nothing allocatable, nor does any of their instance type", "they have here what nodesim knows of the type, or else of their capacity", ref{nodeName, "", n.Name})
		}
		return nodes
	}
	for _, n := range nodes {
		if len(n.Status.Allocatable) == 0 {
			d.said.add("nodes that report nothing allocatable", "they have what others of their instance type have here", ref{nodeName, "", n.Name})
		}
	}
	return all
}

// device reports whether a resource is one that a plugin reports some time after its node is Ready, and not while it is down
// (https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins): a node without it has it as others of its type.
func device(name corev1.ResourceName) bool { return strings.Contains(string(name), "/") }

func (d *draft) machine(name string, nodes []*corev1.Node) spec.InstanceType {
	nodes = d.reporting(nodes)
	t := spec.InstanceType{Name: name, Allocatable: spec.Amounts{}}
	least := map[corev1.ResourceName]int64{} // of the CPU in thousandths
	for i, n := range nodes {
		allocatable := d.allocatable(n)
		for resource, q := range allocatable {
			value := q.Value()
			if resource == corev1.ResourceCPU {
				value = q.MilliValue()
			}
			if device(resource) && value == 0 {
				continue
			}
			if was, there := least[resource]; !there && (i == 0 || device(resource)) || there && value < was {
				least[resource] = value
			}
		}
		for resource := range least {
			if _, there := allocatable[resource]; !there && !device(resource) {
				delete(least, resource)
			}
		}
	}
	d.unlike(name, nodes, least)
	for resource, value := range least {
		if q, ok := amountOf(resource, value); ok {
			t.Allocatable[string(resource)] = q
		}
	}
	if len(t.Allocatable) == 0 {
		t.Allocatable = nil
	}
	first := nodes[0]
	if pods := least[corev1.ResourcePods]; pods > 0 {
		t.Pods = int(min(pods, mostPods))
	}
	if _, known := model.FindMachine(name); known {
		return t
	}
	t.CPU = int(min(max(first.Status.Capacity.Cpu().Value(), 1), mostCPU))
	t.Memory = *resource.NewQuantity(max(first.Status.Capacity.Memory().Value(), leastMemory)>>20<<20, resource.BinarySI)
	if arch := spec.Arch(first.Labels[corev1.LabelArchStable]); arch == spec.ArchARM64 {
		t.Arch = arch
	}
	if gpus := first.Status.Capacity["nvidia.com/gpu"]; gpus.Value() > 0 {
		t.GPUs = int(min(gpus.Value(), 64))
	}
	return t
}

// unlike says where nodes of a type report more than the file has: by a hundredth or more, since no two machines have the same memory to
// the byte.
func (d *draft) unlike(name string, nodes []*corev1.Node, least map[corev1.ResourceName]int64) {
	for _, n := range nodes {
		has := d.allocatable(n)
		for resource := range least {
			if q := has[resource]; device(resource) && q.IsZero() {
				d.said.add("nodes without a device that others of their instance type report", "they have it here", ref{nodeName, "", n.Name})
				break
			}
		}
		for resource, q := range has {
			value := q.Value()
			if resource == corev1.ResourceCPU {
				value = q.MilliValue()
			}
			if value > 0 && value-least[resource] > value/100 {
				d.said.add("nodes with more allocatable than others of their instance type", "they have the least of them here", ref{nodeName, "", n.Name})
				break
			}
		}
	}
}

// amountOf is an amount of a resource as a file writes it. What nodes have none of, and pages that no node is chosen by, are left out.
func amountOf(name corev1.ResourceName, value int64) (resource.Quantity, bool) {
	if value <= 0 || value > mostAmount || len(validation.IsQualifiedName(string(name))) > 0 {
		return resource.Quantity{}, false
	}
	switch {
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(value, resource.DecimalSI), true
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		return *resource.NewQuantity(value, resource.BinarySI), true
	}
	return *resource.NewQuantity(value, resource.DecimalSI), true
}
