package snapshot

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// limitOfVolumes begins the name by which a file says how many volumes of a driver a node takes.
const limitOfVolumes = corev1.ResourceAttachableVolumesPrefix + "csi-"

// A csiNode is what a node's drivers say.
type csiNode struct {
	meta `json:"metadata"`
	Spec struct {
		Drivers []struct {
			Name        string `json:"name"`
			Allocatable struct {
				Count int64 `json:"count"`
			} `json:"allocatable"`
		} `json:"drivers"`
	} `json:"spec"`
}

func (r *Reading) addLimits(raw []byte) error {
	var n csiNode
	if named, err := r.decode("CSINode", raw, &n, &n.meta); !named {
		return err
	}
	limits := corev1.ResourceList{}
	for _, d := range n.Spec.Drivers {
		if d.Allocatable.Count > 0 {
			limits[limitOfVolumes+corev1.ResourceName(d.Name)] = *resource.NewQuantity(d.Allocatable.Count, resource.DecimalSI)
		}
	}
	if r.limits[n.Name] = limits; len(r.limits) > spec.MaxNodes {
		return tooMany("CSINodes", spec.MaxNodes)
	}
	return nil
}

// allocatable is what a node has for pods, and how many volumes it takes. What its status says of volumes is of drivers that were
// built in once.
func (d *draft) allocatable(n *corev1.Node) corev1.ResourceList {
	all := maps.Clone(n.Status.Allocatable)
	maps.DeleteFunc(all, func(name corev1.ResourceName, _ resource.Quantity) bool {
		return strings.HasPrefix(string(name), corev1.ResourceAttachableVolumesPrefix)
	})
	if limits := d.limits[n.Name]; len(limits) > 0 {
		if all == nil {
			all = corev1.ResourceList{}
		}
		maps.Copy(all, limits)
	}
	return all
}
