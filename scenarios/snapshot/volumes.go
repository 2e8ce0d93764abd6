package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nodesim/nodesim/scenarios/spec"
)

// Sizes that a volume in a file may have.
const (
	leastVolume = 1 << 20
	mostVolume  = 64 << 40
)

// volumeOf is the size of the claim that each of a workload's pods has in one zone, nil where they have none.
func (d *draft) volumeOf(o *owned) *resource.Quantity {
	var size int64
	zonal := false
	for _, p := range o.pods {
		its, n := int64(0), 0
		for _, key := range p.claims {
			if bytes, is := d.zonal(p, d.claims[key]); is {
				its, n = its+bytes, n+1
			}
		}
		if n > 1 {
			d.said.add("pods with several disks", "each has one of the size of all here", ref{podName, p.Namespace, p.Name})
		}
		zonal, size = zonal || n > 0, max(size, its)
	}
	if !zonal {
		return nil
	}
	if o.as == spec.KindDaemonSet {
		d.said.add("DaemonSets whose pods have disks", "they have none here", ref{workloadName, o.Namespace, o.Name})
	}
	return resource.NewQuantity(min(max(size, leastVolume), mostVolume), resource.BinarySI)
}

// zonal reports whether a claim of a pod is a disk of one zone, and how large it is.
func (d *draft) zonal(p *pod, c *claim) (size int64, is bool) {
	at := ref{podName, p.Namespace, p.Name}
	if c == nil {
		if d.zones[p.node] == "" {
			return 0, false
		}
		d.said.add("pods whose claims aren't among the objects", "each has a disk in its node's zone here", at)
		return 0, true
	}
	size = c.Spec.Resources.Requests.Storage().Value()
	if len(c.Spec.AccessModes) > 0 && !slices.ContainsFunc(c.Spec.AccessModes, once) {
		d.said.add("pods with volumes that several nodes mount", "they are in every zone here", at)
		return 0, false
	}
	v := d.volumes[c.Spec.VolumeName]
	switch {
	case c.Spec.VolumeName == "":
		return size, true // its first pod decides where it will be
	case v == nil:
		if d.zones[p.node] != "" {
			d.said.add("pods whose volumes aren't among the objects", "each has a disk in its node's zone here", at)
		}
		return size, d.zones[p.node] != ""
	case v.pinned():
		d.said.add("pods with a volume of one node alone", "here they can run elsewhere", at)
		return 0, false
	}
	return max(size, v.Spec.Capacity.Storage().Value()), v.zone() != ""
}

func once(m corev1.PersistentVolumeAccessMode) bool {
	return m == corev1.ReadWriteOnce || m == corev1.ReadWriteOncePod
}

// zoneOfClaims is the zone in which a pod that waits has to run; "" for any.
func (d *draft) zoneOfClaims(p *pod) string {
	for _, key := range p.claims {
		if c := d.claims[key]; c != nil && d.volumes[c.Spec.VolumeName] != nil {
			if zone := d.volumes[c.Spec.VolumeName].zone(); slices.Contains(d.file.Cluster.Zones, zone) {
				return zone
			}
		}
	}
	return ""
}

// zone is the zone that the volume's nodes have to be in.
func (v *persistentVolume) zone() string { return v.required(isZone) }

// pinned reports whether one node alone can mount the volume.
func (v *persistentVolume) pinned() bool {
	return v.required(func(key string) bool { return key == corev1.LabelHostname }) != ""
}

// isZone reports whether a label of nodes is their zone: Kubernetes' own, or that of a CSI driver, such as topology.ebs.csi.aws.com/zone.
func isZone(key string) bool {
	return key == corev1.LabelTopologyZone || key == corev1.LabelFailureDomainBetaZone || strings.HasPrefix(key, "topology.") && strings.HasSuffix(key, "/zone")
}

// required is the first value that the volume's nodes must have for one of some labels.
func (v *persistentVolume) required(is func(key string) bool) string {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return ""
	}
	for _, term := range v.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, e := range term.MatchExpressions {
			if is(e.Key) && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) > 0 {
				return e.Values[0]
			}
		}
	}
	return ""
}
