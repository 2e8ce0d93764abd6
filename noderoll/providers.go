package noderoll

import "slices"

// Annotations by which Cluster API ties a Node to its Machine's owner; they are
// set by its Machine controller (api/core/v1beta1, OwnerKindAnnotation and
// OwnerNameAnnotation).
const (
	annotationOwnerKind = "cluster.x-k8s.io/owner-kind"
	annotationOwnerName = "cluster.x-k8s.io/owner-name"
)

// providers are the known ones in the order in which Detect asks: Karpenter
// comes first, since its nodes may carry labels of the cloud beneath as well.
var providers = []Provider{
	{
		// The AMI is on the NodeClaim, not on the Node, so versions and the
		// hashes of NodePool and EC2NodeClass must tell. A drift that changes
		// none of them is only seen against a baseline.
		Name:                "karpenter",
		PoolLabels:          []string{"karpenter.sh/nodepool"},
		RevisionAnnotations: []string{"karpenter.k8s.aws/ec2nodeclass-hash", "karpenter.sh/nodepool-hash"},
	},
	{
		Name:       "eks",
		PoolLabels: []string{LabelNodegroup},
		ImageLabel: LabelImage,
	},
	{
		Name:       "gke",
		PoolLabels: []string{"cloud.google.com/gke-nodepool"},
	},
	{
		// "agentpool" is the label of older clusters; newer ones carry both.
		Name:       "aks",
		PoolLabels: []string{"kubernetes.azure.com/agentpool", "agentpool"},
		ImageLabel: "kubernetes.azure.com/node-image-version",
	},
	{
		Name:       "kops",
		PoolLabels: []string{"kops.k8s.io/instancegroup"},
	},
	{
		// A new MachineSet is made for every rollout, so the owner's name is a
		// revision; versions tell where the owner stays (control planes, pools).
		Name:                "capi",
		OwnerAnnotations:    true,
		RevisionAnnotations: []string{annotationOwnerName},
	},
}

// generic knows no pools; images are told apart by version.
var generic = Provider{Name: "generic"}

// Providers returns the known providers, most specific first.
func Providers() []Provider {
	own := slices.Clone(providers)
	for i := range own {
		own[i].PoolLabels = slices.Clone(own[i].PoolLabels)
		own[i].RevisionAnnotations = slices.Clone(own[i].RevisionAnnotations)
	}
	return own
}

// Generic returns the provider of nodes that no provider claims: no pools, and
// images told apart by kubelet version and OS image.
func Generic() Provider { return generic }

// EKS returns the provider of EKS managed node groups.
func EKS() Provider {
	p, _ := ProviderByName("eks")
	return p
}
