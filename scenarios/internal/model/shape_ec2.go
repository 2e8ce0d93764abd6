package model

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"strings"
)

// ec2 fills in what nodes on Amazon EC2 have under any provider.
func (sh Shape) ec2(out *NodeShape, place Place, chance *Stream) {
	private := privateDNS(sh.Region, place.IP.String())
	out.InstanceID, out.Name = sh.ec2Identity(place, private, chance)
	out.ProviderID = "aws:///" + place.Zone + "/" + out.InstanceID
	out.Addresses = []Address{{"InternalIP", place.IP.String()}}
	external := sh.ExternalIP && place.External.IsValid()
	if external {
		out.Addresses = append(out.Addresses, Address{"ExternalIP", place.External.String()})
	}
	out.Addresses = append(out.Addresses, Address{"InternalDNS", private}, Address{"Hostname", private})
	if external {
		out.Addresses = append(out.Addresses, Address{"ExternalDNS", publicDNS(sh.Region, place.External.String())})
	}
	out.CloudLabels = []Pair{
		{"k8s.io/cloud-provider-aws", clusterTag(sh.Cluster)},
		{"topology.k8s.aws/zone-id", zoneID(sh.Region, place.Zone)},
	}
	out.CSILabels = []Pair{{"topology.ebs.csi.aws.com/zone", place.Zone}}
	out.CSIAnnotations = []Pair{{"csi.volume.kubernetes.io/nodeid", `{"ebs.csi.aws.com":"` + out.InstanceID + `"}`}}
	switch sh.Provider {
	case EKS:
		sh.managed(out)
	case Karpenter:
		sh.karpenter(out)
	case CAPI:
		sh.capi(out, chance)
	case KOps:
		out.PoolLabels = []Pair{{"kops.k8s.io/instancegroup", sh.Group}, {"node-role.kubernetes.io/node", ""}}
		if sh.CapacityType == Spot {
			out.PoolLabels = append(out.PoolLabels, Pair{"node-role.kubernetes.io/spot-worker", "true"})
		}
		sortedPairs(out.PoolLabels)
	}
}

// ec2Identity names an instance and its node. It is the first to draw.
func (sh Shape) ec2Identity(place Place, private string, chance *Stream) (instance, node string) {
	instance, node = "i-0"+chance.Hex(16), private
	if sh.Provider == KOps {
		// kOps names the nodes of clusters of 1.24 and newer by their instance.
		node = instance
	}
	return instance, cmp.Or(place.Name, node)
}

// managed fills in what nodes of a managed node group have. The image's label is where a roll shows first; with a launch
// template its version is the other place.
func (sh Shape) managed(out *NodeShape) {
	capacity := "ON_DEMAND"
	if sh.CapacityType == Spot {
		capacity = "SPOT"
	}
	out.Labels = []Pair{
		{"eks.amazonaws.com/capacityType", capacity},
		{"eks.amazonaws.com/nodegroup", sh.Group},
		{"eks.amazonaws.com/nodegroup-image", sh.Image.ID},
	}
	if sh.LaunchTemplate != "" {
		out.Labels = append(out.Labels,
			Pair{"eks.amazonaws.com/sourceLaunchTemplateId", sh.LaunchTemplate},
			Pair{"eks.amazonaws.com/sourceLaunchTemplateVersion", strconv.Itoa(sh.LaunchTemplateVersion)})
	}
}

// karpenter fills in what Karpenter's nodes have. Their image is in the NodeClaim, not on the node.
func (sh Shape) karpenter(out *NodeShape) {
	capacity := sh.CapacityType
	if capacity == "" {
		capacity = OnDemand
	}
	family, size, _ := strings.Cut(sh.Machine.Type, ".")
	out.Labels = []Pair{{"karpenter.k8s.aws/ec2nodeclass", "default"}, {"karpenter.sh/capacity-type", capacity}, {"karpenter.sh/nodepool", sh.Group}}
	out.PoolLabels = []Pair{
		{"karpenter.k8s.aws/instance-category", family[:min(1, len(family))]},
		{"karpenter.k8s.aws/instance-cpu", strconv.Itoa(sh.Machine.CPU)},
		{"karpenter.k8s.aws/instance-cpu-manufacturer", manufacturer(family)},
		{"karpenter.k8s.aws/instance-encryption-in-transit-supported", strconv.FormatBool(strings.Contains(family, "6i") || strings.Contains(family, "7"))},
		{"karpenter.k8s.aws/instance-family", family},
		{"karpenter.k8s.aws/instance-generation", generation(family)},
		{"karpenter.k8s.aws/instance-hypervisor", hypervisor(family)},
		{"karpenter.k8s.aws/instance-memory", strconv.FormatInt(sh.Machine.MemoryMi, 10)},
		{"karpenter.k8s.aws/instance-size", size},
		{"karpenter.sh/registered", "true"},
	}
	hashes := NewStream(0, "nodepool", sh.Cluster, sh.Group, sh.Image.ID)
	out.PoolAnnotations = []Pair{
		{"karpenter.k8s.aws/ec2nodeclass-hash", strconv.FormatUint(hashes.Uint64(), 10)},
		{"karpenter.k8s.aws/ec2nodeclass-hash-version", "v4"},
		{"karpenter.sh/nodepool-hash", strconv.FormatUint(hashes.Uint64(), 10)},
		{"karpenter.sh/nodepool-hash-version", "v3"},
	}
	out.Finalizers = []string{"karpenter.sh/termination"}
	out.Taints = []Taint{{"karpenter.sh/unregistered", "", "NoExecute"}}
}

// capi fills in what a Machine of Cluster API leaves on its node: the set that owns it shows the roll.
func (sh Shape) capi(out *NodeShape, chance *Stream) {
	set := NewStream(0, "machineset", sh.Cluster, sh.Group, sh.Image.ID, sh.Version.String())
	owner := sh.Group + "-" + set.Suffix()
	out.PoolAnnotations = []Pair{
		{"cluster.x-k8s.io/cluster-name", sh.Cluster},
		{"cluster.x-k8s.io/cluster-namespace", "default"},
		{"cluster.x-k8s.io/machine", owner + "-" + chance.Suffix()},
		{"cluster.x-k8s.io/owner-kind", "MachineSet"},
		{"cluster.x-k8s.io/owner-name", owner},
	}
	out.Annotations = []Pair{{"kubeadm.alpha.kubernetes.io/cri-socket", "unix:///var/run/containerd/containerd.sock"}}
	out.Taints = []Taint{{"node.cluster.x-k8s.io/uninitialized", "", "NoSchedule"}}
}

// privateDNS is EC2's name of a private IPv4 address: ip-10-0-1-23.eu-central-1.compute.internal, and
// ip-10-0-1-23.ec2.internal in us-east-1.
func privateDNS(region, ip string) string {
	return "ip-" + strings.ReplaceAll(ip, ".", "-") + "." + domain(region, "ec2.internal", ".compute.internal")
}

// publicDNS is EC2's name of a public IPv4 address.
func publicDNS(region, ip string) string {
	return "ec2-" + strings.ReplaceAll(ip, ".", "-") + "." + domain(region, "compute-1.amazonaws.com", ".compute.amazonaws.com")
}

func domain(region, first, others string) string {
	if region == "us-east-1" {
		return first
	}
	return region + others
}

// zoneID is AWS's own name of a zone, use1-az1 for us-east-1a. Which letter is which number differs between accounts;
// here the letters are in order.
func zoneID(region, zone string) string {
	parts := strings.Split(region, "-")
	if len(parts) < 3 || len(zone) == 0 {
		return ""
	}
	short := parts[0]
	for _, direction := range []string{"north", "south", "east", "west", "central"} {
		if strings.Contains(parts[1], direction) {
			short += direction[:1]
		}
	}
	letter := zone[len(zone)-1]
	if letter < 'a' || letter > 'i' {
		return ""
	}
	return short + parts[2] + "-az" + string(letter-'a'+'1')
}

// clusterTag is the value of the label by which cloud-provider-aws remembers that it has tagged an instance: the MD5 of
// the tags, which are the same for all instances of a cluster (pkg/controllers/tagging of kubernetes/cloud-provider-aws).
func clusterTag(cluster string) string {
	sum := md5.Sum([]byte("kubernetes.io/cluster/" + cluster))
	return hex.EncodeToString(sum[:])
}

func generation(family string) string {
	for i := range len(family) {
		if family[i] >= '0' && family[i] <= '9' {
			return family[i : i+1]
		}
	}
	return ""
}

func manufacturer(family string) string {
	if i := strings.IndexAny(family, "0123456789"); i >= 0 && strings.Contains(family[i:], "g") {
		return "aws"
	}
	return "intel"
}

func hypervisor(family string) string {
	if family == "p3" {
		return "xen"
	}
	return "nitro"
}
