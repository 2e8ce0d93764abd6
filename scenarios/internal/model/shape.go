package model

import (
	"net/netip"
	"slices"
	"strings"
)

// Capacity types: how a machine is paid for, and so whether the cloud may take it back.
const (
	OnDemand = "on-demand"
	Spot     = "spot"
)

// Shape holds what the nodes of a group have in common. It is a plain value: fill in what matters; an empty text
// leaves its field out.
type Shape struct {
	Provider Provider
	OS       OS
	Machine  Machine
	Version  Version
	Image    Image
	// Cluster and Group are names: the managed node group, the NodePool, the node pool, the agent pool, the
	// MachineDeployment, the instance group.
	Cluster, Group string
	Region         string
	// CapacityType is OnDemand or Spot; empty is OnDemand.
	CapacityType string
	// LaunchTemplate is an id, "lt-0123456789abcdef0", and LaunchTemplateVersion counts it up. EKS alone.
	LaunchTemplate        string
	LaunchTemplateVersion int
	// Account is the project on GKE and the subscription on AKS.
	Account string
	// DiskGi is the size of the disk with the kubelet's files; 0 is the provider's default.
	DiskGi int64
	// ExternalIP says whether nodes have a public address.
	ExternalIP bool
	// Labels and Taints are the group's own, in the order of their declaration.
	Labels []Pair
	Taints []Taint
}

// Place holds the properties of one node of a group.
type Place struct {
	// Zone is the cloud's name of the zone: "us-east-1a", "europe-west1-b", and on AKS "westeurope-1", or "0" for none.
	Zone string
	// IP is the private address, External the public one where the shape has them.
	IP, External netip.Addr
	// Ordinal counts the machines of a scale set on AKS.
	Ordinal int
	// Name is the node's, where somebody else has named it.
	Name string
	// PodCIDR is the node's range for pods, where the provider has one: GKE, Cluster API and kOps.
	PodCIDR netip.Prefix
}

// Taint is one taint, without a time: who adds it says whether it has one.
type Taint struct {
	Key, Value, Effect string
}

// Address is one of a node's addresses.
type Address struct {
	Type, Address string
}

// NodeInfo is status.nodeInfo.
type NodeInfo struct {
	Architecture, BootID, ContainerRuntimeVersion, KernelVersion, KubeProxyVersion, KubeletVersion, MachineID, OperatingSystem, OSImage, SystemUUID string
}

// RuntimeHandler is one entry of status.runtimeHandlers.
type RuntimeHandler struct {
	Name                                    string
	RecursiveReadOnlyMounts, UserNamespaces bool
}

// NodeShape is one node, as it is created and as it becomes while it joins. All lists of pairs are sorted by key.
type NodeShape struct {
	Name       string
	ProviderID string
	InstanceID string
	PodCIDR    string
	// Labels and Annotations are those of the create request. CloudLabels are added by the cloud node controller together
	// with the removal of the taint uninitialized; PoolLabels and PoolAnnotations by the manager of the group (Karpenter,
	// Cluster API, kOps); CSILabels and CSIAnnotations when the CSI driver registers; Annotations of the control plane are
	// in ControlAnnotations, added at once.
	Labels, CloudLabels, PoolLabels, CSILabels                       []Pair
	Annotations, ControlAnnotations, PoolAnnotations, CSIAnnotations []Pair
	Finalizers                                                       []string
	// Taints are those of the create request in their order, without the one that admission appends
	// (not-ready: k8s.io/kubernetes/plugin/pkg/admission/nodetaint).
	Taints      []Taint
	Addresses   []Address
	Capacity    Resources
	Allocatable Resources
	Info        NodeInfo
	// RuntimeHandlers is empty where the version of the kubelet has none.
	RuntimeHandlers []RuntimeHandler
	// SupplementalGroups says whether status.features.supplementalGroupsPolicy is true.
	SupplementalGroups bool
}

// Uninitialized is on a node until the cloud node controller has seen it.
var Uninitialized = Taint{"node.cloudprovider.kubernetes.io/uninitialized", "true", "NoSchedule"}

// AllLabels are the labels of a node that has joined, sorted by key; a later writer's value holds.
func (n NodeShape) AllLabels() []Pair {
	return merged(n.Labels, n.CloudLabels, n.PoolLabels, n.CSILabels)
}

// AllAnnotations are the annotations of a node that has joined, sorted by key.
func (n NodeShape) AllAnnotations() []Pair {
	return merged(n.Annotations, n.ControlAnnotations, n.PoolAnnotations, n.CSIAnnotations)
}

func merged(lists ...[]Pair) []Pair {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	if n == 0 {
		return nil
	}
	out := make([]Pair, 0, n)
	for _, list := range lists {
		for _, pair := range list {
			if i := slices.IndexFunc(out, func(p Pair) bool { return p.Key == pair.Key }); i >= 0 {
				out[i] = pair
			} else {
				out = append(out, pair)
			}
		}
	}
	return sortedPairs(out)
}

func sortedPairs(pairs []Pair) []Pair {
	slices.SortStableFunc(pairs, func(a, b Pair) int { return strings.Compare(a.Key, b.Key) })
	return pairs
}

// Node returns one node of the group. chance is the source of what is random in its identity: instance, machine and boot ids.
func (sh Shape) Node(place Place, chance *Stream) NodeShape {
	disk := sh.DiskGi
	if disk == 0 {
		disk = defaultDisk(sh.Provider)
	}
	out := NodeShape{SupplementalGroups: sh.Version.SupplementalGroups() && sh.Image.userNamespaces()}
	out.Capacity = CapacityOf(sh.Provider, sh.OS, sh.Machine, disk)
	out.Allocatable = AllocatableOf(sh.Provider, sh.Version, sh.Machine, disk, out.Capacity)
	switch sh.Provider {
	case GKE:
		sh.gke(&out, place, chance)
	case AKS:
		sh.aks(&out, place)
	default:
		sh.ec2(&out, place, chance)
	}
	sh.info(&out, chance)
	out.Labels = merged(sh.kubeletLabels(out.Name), out.Labels, sh.Labels)
	out.CloudLabels = merged(sh.cloudLabels(place), out.CloudLabels)
	out.Annotations = merged([]Pair{
		{"alpha.kubernetes.io/provided-node-ip", place.IP.String()},
		{"volumes.kubernetes.io/controller-managed-attach-detach", "true"},
	}, out.Annotations)
	if sh.Provider == GKE {
		out.Annotations = slices.DeleteFunc(out.Annotations, func(p Pair) bool { return p.Key == "alpha.kubernetes.io/provided-node-ip" })
	}
	out.ControlAnnotations = sortedPairs(append(out.ControlAnnotations, Pair{"node.alpha.kubernetes.io/ttl", "0"}))
	if place.PodCIDR.IsValid() && sh.Provider != EKS && sh.Provider != Karpenter && sh.Provider != AKS {
		out.PodCIDR = place.PodCIDR.String()
	}
	out.Taints = append(slices.Clone(sh.Taints), out.Taints...)
	if sh.Provider != GKE && sh.Version.ExternalCloudTaint() {
		out.Taints = append(out.Taints, Uninitialized)
	}
	return out
}

// Identity is InstanceID and Name of [Shape.Node], for the same source.
func (sh Shape) Identity(place Place, chance *Stream) (instance, node string) {
	switch sh.Provider {
	case GKE, AKS:
		n := sh.Node(place, chance)
		return n.InstanceID, n.Name
	}
	return sh.ec2Identity(place, privateDNS(sh.Region, place.IP.String()), chance)
}

func defaultDisk(provider Provider) int64 {
	switch provider {
	case GKE:
		return 100
	case AKS:
		return 128
	case CAPI, KOps:
		return 64
	}
	return 20
}

// system is the operating system as a label has it.
func (sh Shape) system() string {
	if sh.OS == Windows {
		return "windows"
	}
	return "linux"
}

// kubeletLabels are those that every kubelet sets by itself.
func (sh Shape) kubeletLabels(name string) []Pair {
	return []Pair{
		{"beta.kubernetes.io/arch", sh.Machine.Arch},
		{"beta.kubernetes.io/os", sh.system()},
		{"kubernetes.io/arch", sh.Machine.Arch},
		{"kubernetes.io/hostname", name},
		{"kubernetes.io/os", sh.system()},
	}
}

// cloudLabels are those of every cloud node controller.
func (sh Shape) cloudLabels(place Place) []Pair {
	return []Pair{
		{"beta.kubernetes.io/instance-type", sh.Machine.Type},
		{"failure-domain.beta.kubernetes.io/region", sh.Region},
		{"failure-domain.beta.kubernetes.io/zone", place.Zone},
		{"node.kubernetes.io/instance-type", sh.Machine.Type},
		{"topology.kubernetes.io/region", sh.Region},
		{"topology.kubernetes.io/zone", place.Zone},
	}
}

// info fills in nodeInfo and what the container runtime can do. A cloud's machine has one id, which the firmware's is
// with dashes; Azure's machines have two.
func (sh Shape) info(out *NodeShape, chance *Stream) {
	id := chance.Hex(32)
	if sh.Provider != GKE && sh.Provider != AKS {
		id = "ec2" + id[3:]
	}
	uuid := id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
	if sh.Provider == AKS {
		uuid = chance.UUID()
	}
	out.Info = NodeInfo{
		Architecture: sh.Machine.Arch, BootID: chance.UUID(), ContainerRuntimeVersion: sh.Image.Runtime, KernelVersion: sh.Image.Kernel,
		KubeletVersion: sh.Image.Kubelet, MachineID: id, OperatingSystem: sh.system(), OSImage: sh.Image.OSImage, SystemUUID: uuid,
	}
	if sh.Version.KubeProxyVersion() {
		out.Info.KubeProxyVersion = sh.Image.Kubelet
	}
	if sh.Version.RuntimeHandlers() && sh.OS != Windows {
		namespaces := sh.Image.userNamespaces()
		out.RuntimeHandlers = []RuntimeHandler{{"", true, namespaces}, {"runc", true, namespaces}}
	}
}
