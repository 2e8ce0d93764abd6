package model

// Provider runs the nodes of a group: it decides what they look like and how they are rolled.
type Provider string

// The providers whose nodes the package knows.
const (
	// EKS is a managed node group of Amazon EKS.
	EKS Provider = "eks"
	// Karpenter is Karpenter on Amazon EKS.
	Karpenter Provider = "karpenter"
	// GKE is a node pool of Google Kubernetes Engine.
	GKE Provider = "gke"
	// AKS is an agent pool of Azure Kubernetes Service.
	AKS Provider = "aks"
	// CAPI is a MachineDeployment of Cluster API, on Amazon EC2.
	CAPI Provider = "capi"
	// KOps is an instance group of kOps, on Amazon EC2.
	KOps Provider = "kops"
)

// Providers returns all of them, in the order above.
func Providers() []Provider {
	return []Provider{EKS, Karpenter, GKE, AKS, CAPI, KOps}
}

// OS is the image family of a node's machine.
type OS string

// The image families whose nodes the package knows.
const (
	AL2023       OS = "al2023"        // Amazon Linux 2023
	AL2          OS = "al2"           // Amazon Linux 2
	Bottlerocket OS = "bottlerocket"  // Bottlerocket
	NVIDIA       OS = "al2023-nvidia" // Amazon Linux 2023 with NVIDIA drivers
	COS          OS = "cos"           // Google's Container-Optimized OS
	Ubuntu       OS = "ubuntu"        // Ubuntu 22.04
	AzureLinux   OS = "azurelinux"    // Azure Linux 3
	Windows      OS = "windows"       // Windows Server 2022
)

// OSes returns the image families that a provider's nodes run, its default first; none for an unknown provider.
func OSes(provider Provider) []OS {
	switch provider {
	case EKS, Karpenter:
		return []OS{AL2023, AL2, Bottlerocket, NVIDIA, Windows}
	case GKE:
		return []OS{COS, Ubuntu, Windows}
	case AKS:
		return []OS{Ubuntu, AzureLinux, Windows}
	case CAPI, KOps:
		return []OS{Ubuntu}
	}
	return nil
}
