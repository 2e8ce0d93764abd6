package model

import (
	"cmp"
	"slices"
)

// ContainerImage is one entry of a node's status.images.
type ContainerImage struct {
	// Names are the digest's and the tags' names.
	Names []string
	Bytes int64
}

// NodeImages returns images as a kubelet reports them: the biggest first, at most 50 of them with at most five names each
// (k8s.io/kubernetes/pkg/kubelet/nodestatus/setters.go and images/image_gc_manager.go). The arguments are left alone.
func NodeImages(images []ContainerImage) []ContainerImage {
	out := slices.Clone(images)
	slices.SortStableFunc(out, func(a, b ContainerImage) int { return cmp.Compare(b.Bytes, a.Bytes) })
	out = out[:min(len(out), 50)]
	for i := range out {
		out[i].Names = out[i].Names[:min(len(out[i].Names), 5):min(len(out[i].Names), 5)]
	}
	return out
}

// SystemImages are those that the agents of a provider's node bring: the network plugin, kube-proxy, the CSI driver and
// the sandbox. Their sizes are those of real nodes, rounded; their digests are made up and the same for one release.
func (sh Shape) SystemImages() []ContainerImage {
	var of []struct {
		name, tag string
		bytes     int64
	}
	add := func(name, tag string, bytes int64) {
		of = append(of, struct {
			name, tag string
			bytes     int64
		}{name, tag, bytes})
	}
	kubelet := "v" + sh.Version.String()
	switch sh.Provider {
	case EKS, Karpenter:
		registry := "602401143452.dkr.ecr." + sh.Region + ".amazonaws.com/"
		add(registry+"amazon-k8s-cni", "v1.19.2-eksbuild.1", 52_300_000)
		add(registry+"amazon/aws-network-policy-agent", "v1.1.6-eksbuild.1", 46_800_000)
		add(registry+"amazon-k8s-cni-init", "v1.19.2-eksbuild.1", 62_600_000)
		add(registry+"eks/kube-proxy", kubelet+"-minimal-eksbuild.2", 34_900_000)
		add(registry+"eks/aws-ebs-csi-driver", "v1.38.1", 30_100_000)
		add(registry+"eks/pause", "3.10", 318_000)
	case GKE:
		add("gke.gcr.io/kube-proxy-amd64", sh.Image.Kubelet, 107_500_000)
		add("gke.gcr.io/gcp-compute-persistent-disk-csi-driver", "v1.15.4-gke.0", 70_100_000)
		add("gke.gcr.io/k8s-dns-node-cache", "1.23.0-gke.9", 46_600_000)
		add("gke.gcr.io/pause", "3.8", 311_000)
	case AKS:
		add("mcr.microsoft.com/oss/kubernetes/kube-proxy", kubelet, 94_000_000)
		add("mcr.microsoft.com/containernetworking/azure-cns", "v1.6.23", 79_000_000)
		add("mcr.microsoft.com/oss/kubernetes-csi/azuredisk-csi", "v1.32.4", 106_000_000)
		add("mcr.microsoft.com/oss/kubernetes/pause", "3.6", 301_000)
	default:
		add("registry.k8s.io/kube-proxy", kubelet, 94_000_000)
		add("registry.k8s.io/provider-aws/aws-ebs-csi-driver", "v1.38.1", 30_100_000)
		add("registry.k8s.io/pause", "3.10", 320_000)
	}
	out := make([]ContainerImage, len(of))
	for i, image := range of {
		digest := NewStream(0, "digest", image.name, image.tag)
		out[i] = ContainerImage{Names: []string{image.name + "@sha256:" + digest.Hex(64), image.name + ":" + image.tag}, Bytes: image.bytes}
	}
	return NodeImages(out)
}
