package model

import (
	"fmt"
	"strings"
)

// Image is the machine image that the nodes of a group boot, and what they report of it. A roll replaces it.
type Image struct {
	// ID is the cloud's name of the image: "ami-0" and 16 hexadecimal digits on EC2; on AKS the node image version,
	// such as "AKSUbuntu-2204gen2containerd-202601.27.0"; empty on GKE, whose nodes don't name theirs.
	ID string
	// Release is the date in it, "20260127".
	Release string
	// What nodeInfo says.
	OSImage, Kernel, Runtime, Kubelet string
}

// ImageOf returns the image of that provider for a version of Kubernetes, an architecture and a day, written "20260127".
// Another day gives another ID, and another kubelet build where the provider builds its own. Its identity depends on its
// arguments alone, so every group and every run has the same.
func ImageOf(provider Provider, os OS, v Version, arch, release string) Image {
	chance := NewStream(0, "image", string(provider), string(os), v.String(), arch, release)
	out := Image{Release: release, Kubelet: "v" + v.String()}
	switch provider {
	case EKS, Karpenter:
		out.ID = "ami-0" + chance.Hex(16)
		out.Kubelet += "-eks-" + chance.Hex(7)
	case GKE:
		out.Kubelet += fmt.Sprintf("-gke.%d", 1000000+chance.N(400)*1000)
	case AKS:
		out.ID = aksImage(os, release)
	default:
		out.ID = "ami-0" + chance.Hex(16)
	}
	out.OSImage, out.Kernel, out.Runtime = system(provider, os, v, arch, release)
	return out
}

// ReleaseVersion is a managed node group's name of the image: "1.34.9-20260714".
func (i Image) ReleaseVersion(v Version) string { return v.String() + "-" + i.Release }

func aksImage(os OS, release string) string {
	when := release
	if len(release) == 8 {
		when = release[:6] + "." + release[6:] + ".0"
	}
	switch os {
	case AzureLinux:
		return "AKSAzureLinux-V3gen2-" + when
	case Windows:
		return "AKSWindows-2022-containerd-" + when
	}
	return "AKSUbuntu-2204gen2containerd-" + when
}

// system holds what real nodes with these images reported, for the versions at hand.
func system(provider Provider, os OS, v Version, arch, release string) (image, kernel, runtime string) {
	machine := "x86_64"
	if arch == "arm64" {
		machine = "aarch64"
	}
	switch os {
	case AL2023, NVIDIA:
		kernel = "6.1.158-180.294.amzn2023."
		switch {
		case v.atLeast(36):
			kernel = "6.18.8-9.213.amzn2023."
		case v.atLeast(33):
			kernel = "6.12.58-82.121.amzn2023."
		}
		return "Amazon Linux 2023.9." + release, kernel + machine, "containerd://2.1.5"
	case AL2:
		return "Amazon Linux 2", "5.10.225-213.878.amzn2." + machine, "containerd://1.7.11"
	case Bottlerocket:
		return fmt.Sprintf("Bottlerocket OS 1.19.4 (aws-k8s-%s)", v.Short()), "5.15.152", "containerd://1.6.31+bottlerocket"
	case COS:
		return "Container-Optimized OS from Google", "6.1.100+", "containerd://1.7.19"
	case AzureLinux:
		return "Microsoft Azure Linux 3.0", "6.6.96.2-2.azl3", "containerd://2.0.0"
	case Windows:
		return "Windows Server 2022 Datacenter", "10.0.20348.2700", "containerd://1.7.25"
	}
	switch provider {
	case AKS:
		return "Ubuntu 22.04.5 LTS", "5.15.0-1096-azure", "containerd://1.7.28-1"
	case GKE:
		return "Ubuntu 22.04.5 LTS", "5.15.0-1070-gke", "containerd://1.7.24"
	}
	return "Ubuntu 22.04.5 LTS", "6.8.0-1015-aws", "containerd://1.7.24"
}

// userNamespaces says whether the container runtime supports them: containerd 2.
func (i Image) userNamespaces() bool {
	return strings.HasPrefix(i.Runtime, "containerd://2.")
}
