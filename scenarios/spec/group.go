package spec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// Nodes is the number of nodes of all groups together when the tape begins.
func (f *File) Nodes() (n int) {
	for i := range f.Groups {
		n += f.Groups[i].Nodes
	}
	return n
}

// A Group is a set of like nodes: a managed node group of EKS, a NodePool of
// Karpenter, a node pool of GKE or AKS, a MachineDeployment of Cluster API, an
// instance group of kOps.
type Group struct {
	// Name of the group, a DNS-1123 label; no two groups have the same.
	Name string `yaml:"name" need:"true" form:"label"`
	// Nodes that the group has when the tape begins.
	Nodes int `yaml:"nodes" need:"true" max:"100000"`
	// Members are the nodes that are there when the tape begins, one by one, as many as nodes says. Absent: nodesim names them.
	Members []Member `yaml:"members"`
	// NodesPerGroup bounds the nodes of one group, 450 on EKS by default; for more there are further groups like it,
	// NAME-1, NAME-2 and so on, which nothing else in the file may name. 0 is without limit.
	NodesPerGroup int `yaml:"nodesPerGroup" default:"0" max:"100000"`
	// Zones that the nodes spread over: the group may be in more than it has nodes. Default: the members' or the instance
	// type's, which are the cluster's unless the file says otherwise.
	Zones []string `yaml:"zones" form:"place"`
	// InstanceType of the nodes: one that nodesim knows, or one of the cluster's instanceTypes. Default: m5.large, e2-standard-2 for gke, Standard_D2s_v5 for aks.
	InstanceType string `yaml:"instanceType" form:"instanceType"`
	// CapacityType is the instances' purchase option.
	CapacityType CapacityType `yaml:"capacityType" default:"ON_DEMAND"`
	// OS of the nodes' image. It has to be one of the provider's. Default: al2023 for eks and karpenter, cos for gke, else ubuntu.
	OS OS `yaml:"os"`
	// Min is the least number of nodes for the autoscaler. Default: 1, or 0 where the group has no nodes.
	Min int `yaml:"min" max:"100000"`
	// Max is the largest number of nodes for the autoscaler. Default: twice the group's nodes, or ten more if that is
	// more.
	Max int `yaml:"max" max:"200000"`
	// From is the image that the nodes run when the tape begins. Default: an older image of the cluster's version.
	From NodeImage `yaml:"from"`
	// To is the image that nodes run once the group is rolled. Default: a newer image of the cluster's version.
	To NodeImage `yaml:"to"`
	// Labels that each node has besides the provider's.
	Labels map[string]string `yaml:"labels" form:"labels"`
	// Taints that each node registers with besides the provider's.
	Taints []Taint `yaml:"taints"`
	// FreeIPs is the number of addresses left for pods in all of the group's subnets together.
	FreeIPs int `yaml:"freeIPs" default:"1000000" max:"1000000"`
}

// A NodeImage is a node's boot image. A roll replaces one by another.
type NodeImage struct {
	// Image as the provider names it: ami-0a1b2c3d4e5f60718, AKSUbuntu-2204gen2containerd-202511.07.0; none on GKE, whose nodes don't name theirs.
	Image string `yaml:"image" form:"image"`
	// Version of the kubelet, as in status.nodeInfo.kubeletVersion; not newer than the cluster, at most three minor versions older.
	Version string `yaml:"version" form:"version"`
	// Release of the image: 1.34.9-20260714 on EKS.
	Release string `yaml:"release" form:"line"`
	// InstanceType of nodes with this image. Default: the group's.
	InstanceType string `yaml:"instanceType" form:"instanceType"`
}

// A Taint keeps pods without a matching toleration off a node.
type Taint struct {
	// Key of the taint.
	Key string `yaml:"key" need:"true" form:"key"`
	// Value of the taint; may be empty.
	Value string `yaml:"value" form:"value"`
	// Effect on pods that don't tolerate the taint.
	Effect Effect `yaml:"effect" need:"true"`
}

// An Effect is a taint's effect, with the values of corev1.TaintEffect.
type Effect corev1.TaintEffect

func (Effect) values() []string {
	return []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
}

// A CapacityType is the purchase option of instances, as EKS writes it in the label eks.amazonaws.com/capacityType.
type CapacityType string

// The capacity types.
const (
	CapacityOnDemand CapacityType = "ON_DEMAND"
	CapacitySpot     CapacityType = "SPOT"
)

func (CapacityType) values() []string { return []string{"ON_DEMAND", "SPOT"} }

// An OS is a family of node images, one of model.OSes for the cluster's provider.
type OS = model.OS
