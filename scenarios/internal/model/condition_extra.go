package model

// ExtraConditions are those before the kubelet's four on a node, in their order: what a node problem detector
// watches, and whether the cloud has a route to the node. EKS, Karpenter and a cluster with a network plugin of its
// own have none. The kubelet creates its four first; these come within the node's first minute, and the API lists
// them as their writers' patches put them: in front.
//
// GKE's are those of a node of 1.21, AKS's those of a node of 1.32 with Azure CNI in overlay mode, which has no route.
func ExtraConditions(provider Provider) []Condition {
	switch provider {
	case GKE:
		return append(problems(
			"KernelDeadlock", "ReadonlyFilesystem", "CorruptDockerOverlay2", "FrequentUnregisterNetDevice",
			"FrequentKubeletRestart", "FrequentDockerRestart", "FrequentContainerdRestart",
		), Condition{Type: "NetworkUnavailable", Status: False, Reason: "RouteCreated", Message: "NodeController create implicit route"})
	case AKS:
		return problems(
			"VMEventScheduled", "FrequentKubeletRestart", "KubeletProblem", "FrequentContainerdRestart", "ReadonlyFilesystem",
			"FilesystemCorruptionProblem", "FrequentUnregisterNetDevice", "FrequentDockerRestart", "KernelDeadlock", "ContainerRuntimeProblem",
		)
	}
	return nil
}

// healthy has what a node problem detector says where nothing is wrong: reason and message by type.
var healthy = map[string][2]string{
	"ContainerRuntimeProblem":     {"ContainerRuntimeIsUp", "container runtime service is up"},
	"CorruptDockerOverlay2":       {"NoCorruptDockerOverlay2", "docker overlay2 is functioning properly"},
	"FilesystemCorruptionProblem": {"FilesystemIsOK", "Filesystem is healthy"},
	"FrequentContainerdRestart":   {"NoFrequentContainerdRestart", "containerd is functioning properly"},
	"FrequentDockerRestart":       {"NoFrequentDockerRestart", "docker is functioning properly"},
	"FrequentKubeletRestart":      {"NoFrequentKubeletRestart", "kubelet is functioning properly"},
	"FrequentUnregisterNetDevice": {"NoFrequentUnregisterNetDevice", "node is functioning properly"},
	"KernelDeadlock":              {"KernelHasNoDeadlock", "kernel has no deadlock"},
	"KubeletProblem":              {"KubeletIsUp", "kubelet service is up"},
	"ReadonlyFilesystem":          {"FilesystemIsNotReadOnly", "Filesystem is not read-only"},
	"VMEventScheduled":            {"NoVMEventScheduled", "VM has no scheduled event"},
}

func problems(types ...string) []Condition {
	out := make([]Condition, len(types))
	for i, kind := range types {
		out[i] = Condition{Type: kind, Status: False, Reason: healthy[kind][0], Message: healthy[kind][1]}
	}
	return out
}
