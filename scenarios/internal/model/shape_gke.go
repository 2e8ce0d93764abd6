package model

import (
	"cmp"
	"strconv"
	"strings"
)

// gke fills in what nodes of a node pool of GKE have, as a node of 1.21 had them. No label names the image: a roll shows
// in the versions of the kubelet and the operating system alone.
func (sh Shape) gke(out *NodeShape, place Place, chance *Stream) {
	pool := NewStream(0, "gke", sh.Cluster, sh.Group)
	suffix := string(chance.AppendBase36(nil, 4))
	out.Name = cmp.Or(place.Name, strings.Join([]string{"gke", sh.Cluster, sh.Group, pool.Hex(8), suffix}, "-"))
	out.InstanceID = strconv.FormatUint(1e18+chance.N(8e18), 10)
	out.ProviderID = "gce://" + sh.Account + "/" + place.Zone + "/" + out.Name
	dns := out.Name + "." + place.Zone + ".c." + sh.Account + ".internal"
	out.Addresses = []Address{{"InternalIP", place.IP.String()}}
	if sh.ExternalIP && place.External.IsValid() {
		out.Addresses = append(out.Addresses, Address{"ExternalIP", place.External.String()})
	}
	out.Addresses = append(out.Addresses, Address{"InternalDNS", dns}, Address{"Hostname", dns})
	family, _, _ := strings.Cut(sh.Machine.Type, "-")
	distribution := "cos"
	switch sh.OS {
	case Ubuntu:
		distribution = "ubuntu"
	case Windows:
		distribution = "windows"
	}
	own := []Pair{
		{"cloud.google.com/gke-boot-disk", "pd-balanced"},
		{"cloud.google.com/gke-container-runtime", "containerd"},
		{"cloud.google.com/gke-cpu-scaling-level", strconv.Itoa(sh.Machine.CPU)},
		{"cloud.google.com/gke-logging-variant", "DEFAULT"},
		{"cloud.google.com/gke-max-pods-per-node", "110"},
		{"cloud.google.com/gke-nodepool", sh.Group},
		{"cloud.google.com/gke-os-distribution", distribution},
		{"cloud.google.com/gke-provisioning", "standard"},
		{"cloud.google.com/gke-stack-type", "IPV4"},
		{"cloud.google.com/machine-family", family},
		{"cloud.google.com/private-node", strconv.FormatBool(!sh.ExternalIP)},
	}
	if sh.CapacityType == Spot {
		for i := range own {
			if own[i].Key == "cloud.google.com/gke-provisioning" {
				own[i].Value = "spot"
			}
		}
		own = append(own, Pair{"cloud.google.com/gke-spot", "true"})
	}
	out.Labels = sortedPairs(own)
	applied := make([]string, len(out.Labels))
	for i, label := range out.Labels {
		applied[i] = label.Key + "=" + label.Value
	}
	out.Annotations = []Pair{
		{"container.googleapis.com/instance_id", out.InstanceID},
		{"node.gke.io/last-applied-node-labels", strings.Join(applied, ",")},
		{"node.gke.io/last-applied-node-taints", ""},
	}
	out.CloudLabels = []Pair{{"topology.gke.io/zone", place.Zone}}
	out.CSIAnnotations = []Pair{{"csi.volume.kubernetes.io/nodeid", `{"pd.csi.storage.gke.io":"projects/` + sh.Account + `/zones/` + place.Zone + `/instances/` + out.Name + `"}`}}
}
