package noderoll

import (
	"fmt"
	"slices"
	"strings"
)

// A Provider says where a kind of node group writes down which pool a node
// belongs to and what it runs. It is a value: the known ones are returned by
// Providers, and a custom one may be put together from the fields. The zero
// Provider is "auto": each node is asked for its own, see Detect.
type Provider struct {
	// Name is the word by which ProviderByName finds it.
	Name string
	// PoolLabels are the labels that may name the pool; the first one present
	// counts.
	PoolLabels []string
	// OwnerAnnotations says that the pool is to be read from the annotations by
	// which Cluster API ties a node to its owner.
	OwnerAnnotations bool
	// ImageLabel is the label that names the machine image, empty if there is
	// none: then kubelet version, OS image and revisions tell old from new.
	ImageLabel string
	// RevisionAnnotations are at most two annotations that change with the
	// template from which nodes are made. Further ones are ignored.
	RevisionAnnotations []string
}

// IsAuto reports whether p is the zero Provider.
func (p Provider) IsAuto() bool {
	return p.Name == "" && len(p.PoolLabels) == 0 && !p.OwnerAnnotations && p.ImageLabel == "" && len(p.RevisionAnnotations) == 0
}

// Pool returns the pool that n belongs to, or "" if n doesn't say.
func (p Provider) Pool(n *Node) string {
	for _, label := range p.PoolLabels {
		if pool, ok := n.Labels[label]; ok {
			return pool
		}
	}
	if p.OwnerAnnotations {
		return ownerPool(n.Annotations)
	}
	return ""
}

// ownerPool names the pool of a Cluster API node: the owner of its Machine. A
// MachineSet is named after its MachineDeployment, with a hash that changes at
// each rollout, so that suffix is cut off.
func ownerPool(annotations map[string]string) string {
	name := annotations[annotationOwnerName]
	if annotations[annotationOwnerKind] == "MachineSet" {
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			return name[:i]
		}
	}
	return name
}

// Image returns what n runs, as far as it says.
func (p Provider) Image(n *Node) ImageID {
	if p.ImageLabel != "" {
		if label := n.Labels[p.ImageLabel]; label != "" {
			return ImageID{Label: label}
		}
	}
	id := ImageID{Kubelet: n.KubeletVersion, OS: n.OSImage}
	for i, key := range p.RevisionAnnotations {
		if i == len(id.Revisions) {
			break
		}
		id.Revisions[i] = n.Annotations[key]
	}
	return id
}

// ImageID holds what a node runs, comparable with ==. Nodes of the same ImageID
// are equally old or new in a roll. Label alone is set where the provider has
// an image label; otherwise everything else is.
type ImageID struct {
	Label     string
	Kubelet   string    // status.nodeInfo.kubeletVersion
	OS        string    // status.nodeInfo.osImage
	Revisions [2]string // template hashes or owner
}

// IsZero reports whether nothing is known of the image.
func (id ImageID) IsZero() bool { return id == ImageID{} }

// Matches reports whether a target given by a user means this image: it equals
// the label, or, where there is none, the kubelet version, the OS image, a
// revision, or the whole String. An empty target matches nothing.
func (id ImageID) Matches(target string) bool {
	if target == "" {
		return false
	}
	if id.Label != "" {
		return id.Label == target
	}
	return id.Kubelet == target || id.OS == target ||
		id.Revisions[0] == target || id.Revisions[1] == target || id.String() == target
}

// String is the image in one word if there is a label, otherwise the known
// parts in the order of the fields, divided by " / ".
func (id ImageID) String() string {
	if id.Label != "" {
		return id.Label
	}
	var parts []string
	for _, part := range []string{id.Kubelet, id.OS, id.Revisions[0], id.Revisions[1]} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " / ")
}

// ProviderByName finds a provider by its name: auto, eks, karpenter, gke, aks,
// capi or kops. The empty name is auto.
func ProviderByName(name string) (Provider, error) {
	if name == "" || name == "auto" {
		return Provider{}, nil
	}
	var known []string
	for _, p := range Providers() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return Provider{}, fmt.Errorf("provider %q: want auto, %s", name, strings.Join(known, ", "))
}

// Detect tells the provider from a node's labels and annotations. A node that
// none of them claims has the Generic provider.
func Detect(n *Node) Provider {
	return *detect(n)
}

func detect(n *Node) *Provider {
	for i := range providers {
		p := &providers[i]
		for _, label := range p.PoolLabels {
			if _, ok := n.Labels[label]; ok {
				return p
			}
		}
		if p.OwnerAnnotations && n.Annotations[annotationOwnerName] != "" {
			return p
		}
	}
	return &generic
}

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
