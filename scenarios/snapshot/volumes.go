package snapshot

import (
	"maps"
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
			if bytes, is := d.zonal(p, d.claims[key.NamespacedName]); is {
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
		return 0, false // see tie
	}
	if a := v.Spec.NodeAffinity; v.zone() == "" && a != nil && a.Required != nil {
		d.said.add("pods with volumes that only some nodes can mount", "they run on any node here", at)
	}
	return max(size, v.Spec.Capacity.Storage().Value()), v.zone() != ""
}

func once(m corev1.PersistentVolumeAccessMode) bool {
	return m == corev1.ReadWriteOnce || m == corev1.ReadWriteOncePod
}

// zoneOfClaims is the zone in which a pod that waits has to run; "" for any.
func (d *draft) zoneOfClaims(p *pod) string {
	for _, key := range p.claims {
		if c := d.claims[key.NamespacedName]; c != nil && d.volumes[c.Spec.VolumeName] != nil {
			if zone := d.volumes[c.Spec.VolumeName].zone(); slices.Contains(d.file.Cluster.Zones, zone) {
				return zone
			}
		}
	}
	return ""
}

// tie keeps a workload's next pods where the volumes of its pods are: on the nodes of those that one node alone can mount, and, but for
// a StatefulSet's, whose pods have a disk each in the simulation too, in the zones of their disks.
func (d *draft) tie(o *owned, s *corev1.PodSpec) {
	hosts, zones := map[string]bool{}, map[string]bool{}
	for _, p := range o.pods {
		for _, key := range p.claims {
			c := d.claims[key.NamespacedName]
			zone := d.zones[p.node]
			if c != nil {
				if v := d.volumes[c.Spec.VolumeName]; v != nil && v.pinned() {
					hosts[d.hostOf(v.host())] = true
					d.said.add("pods with a volume of one node alone", "those of a workload can run on the nodes of all of them here", ref{podName, p.Namespace, p.Name})
				}
				if _, is := d.zonal(p, c); !is {
					continue
				}
				if v := d.volumes[c.Spec.VolumeName]; v != nil {
					zone = v.zone()
				}
			}
			if !key.own && o.as != spec.KindStatefulSet && slices.Contains(d.file.Cluster.Zones, zone) {
				zones[zone] = true
			}
		}
	}
	require(s, corev1.LabelHostname, hosts)
	require(s, corev1.LabelTopologyZone, zones)
}

// require has a pod run only on nodes with one of some values of a label.
func require(s *corev1.PodSpec, key string, values map[string]bool) {
	if len(values) == 0 {
		return
	}
	if s.Affinity == nil {
		s.Affinity = &corev1.Affinity{}
	}
	if s.Affinity.NodeAffinity == nil {
		s.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	n := s.Affinity.NodeAffinity
	if n.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		n.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	terms := n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		terms[i].MatchExpressions = append(terms[i].MatchExpressions, corev1.NodeSelectorRequirement{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: slices.Sorted(maps.Keys(values)),
		})
	}
}

// zone is the zone that the volume's nodes have to be in.
func (v *persistentVolume) zone() string { return v.required(isZone) }

// host is the hostname of the one node that can mount the volume, or "".
func (v *persistentVolume) host() string {
	return v.required(func(key string) bool { return key == corev1.LabelHostname })
}

// pinned reports whether one node alone can mount the volume.
func (v *persistentVolume) pinned() bool { return v.host() != "" }

// hostOf is the name of the node with a hostname: nodes of a simulation have their names for hostnames.
func (d *draft) hostOf(hostname string) string {
	if name := d.hosts[hostname]; name != "" {
		return name
	}
	return hostname
}

// isZone reports whether a label of nodes is their zone: Kubernetes' own, or that of a CSI driver, such as topology.ebs.csi.aws.com/zone.
func isZone(key string) bool {
	return key == corev1.LabelTopologyZone || key == corev1.LabelFailureDomainBetaZone || strings.HasPrefix(key, "topology.") && strings.HasSuffix(key, "/zone")
}

// required is the one value that the volume's nodes must have for some labels; "" where there are several, as for a disk that
// is in several zones, or where a term of the affinity, of which one is enough, asks for none.
func (v *persistentVolume) required(is func(key string) bool) (only string) {
	if v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil {
		return ""
	}
	for _, term := range v.Spec.NodeAffinity.Required.NodeSelectorTerms {
		one := ""
		for _, e := range term.MatchExpressions {
			if is(e.Key) && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 {
				one = e.Values[0]
			}
		}
		if one == "" || only != "" && one != only {
			return ""
		}
		only = one
	}
	return only
}
