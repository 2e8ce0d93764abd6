package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Version is a version of Kubernetes, by what changes between releases: the minor version, and the patch for what a
// kubelet says of itself. The zero Version is no version.
type Version struct {
	Minor uint16
	Patch uint16
}

// ParseVersion reads "1.34", "v1.34.2" or what a kubelet reports, "v1.34.2-eks-ecaa3a6" and "v1.29.5-gke.1091000"; a
// missing patch is 0. Only major version 1 exists.
func ParseVersion(text string) (Version, error) {
	wrong := func() (Version, error) {
		return Version{}, fmt.Errorf("Kubernetes version %q: want a minor version such as 1.34, or a patch of it such as v1.34.2", text)
	}
	rest, ok := strings.CutPrefix(strings.TrimPrefix(text, "v"), "1.")
	if !ok {
		return wrong()
	}
	if end := strings.IndexAny(rest, "-+"); end >= 0 {
		rest = rest[:end]
	}
	minor, patch, patched := strings.Cut(rest, ".")
	m, err := strconv.ParseUint(minor, 10, 16)
	if err != nil {
		return wrong()
	}
	if !patched {
		return Version{Minor: uint16(m)}, nil
	}
	p, err := strconv.ParseUint(patch, 10, 16)
	if err != nil {
		return wrong()
	}
	return Version{Minor: uint16(m), Patch: uint16(p)}, nil
}

// String writes "1.34.2"; Minor alone is in Short.
func (v Version) String() string { return fmt.Sprintf("1.%d.%d", v.Minor, v.Patch) }

// Short writes "1.34".
func (v Version) Short() string { return fmt.Sprintf("1.%d", v.Minor) }

// atLeast says whether v is of that minor version or a newer one.
func (v Version) atLeast(minor uint16) bool { return v.Minor >= minor }

// MonitorGrace returns how long the node lifecycle controller waits for a sign of a node before its conditions become
// Unknown: 50 s in k8s.io/kubernetes/pkg/controller/nodelifecycle/config/v1alpha1/defaults.go, 40 s formerly. That it
// changed with 1.32 is not proven.
func (v Version) MonitorGrace() time.Duration {
	if v.atLeast(32) {
		return 50 * time.Second
	}
	return 40 * time.Second
}

// TaintEvictionComponent returns the component that reports TaintManagerEviction: a controller of its own since 1.29
// (the feature SeparateTaintEvictionController), the node lifecycle controller's taint manager before.
func (v Version) TaintEvictionComponent() string {
	if v.atLeast(29) {
		return "taint-eviction-controller"
	}
	return "taint-controller"
}

// GracefulShutdown says whether a node's kubelet has a graceful shutdown configured. The kubelet itself has none by
// default (shutdownGracePeriod is 0); the image decides: those of Amazon Linux 2023 for EKS have it since 1.34 (nodeadm
// of awslabs/amazon-eks-ami), and so has Google's Container-Optimized OS on GKE.
func (v Version) GracefulShutdown(os OS) bool {
	switch os {
	case AL2023, NVIDIA:
		return v.atLeast(34)
	case COS:
		return true
	}
	return false
}

// PodGeneration says whether a pod's metadata counts generations and its status and conditions say which one they
// observed: by default since 1.34 (the feature PodObservedGenerationTracking).
func (v Version) PodGeneration() bool { return v.atLeast(34) }

// PodReadyToStartContainers says whether a pod has the condition of that name: by default since 1.29 (the feature
// PodReadyToStartContainersCondition).
func (v Version) PodReadyToStartContainers() bool { return v.atLeast(29) }

// TerminalPhase says whether the kubelet sets Succeeded or Failed on a pod that is being deleted before it deletes it:
// since 1.27 (k8s.io/kubernetes/pkg/kubelet/kubelet_pods.go, KEP-3329).
func (v Version) TerminalPhase() bool { return v.atLeast(27) }

// RuntimeHandlers says whether a node's status has them: by default since 1.31 (the feature RecursiveReadOnlyMounts).
func (v Version) RuntimeHandlers() bool { return v.atLeast(31) }

// SupplementalGroups says whether a node's status has features.supplementalGroupsPolicy: by default since 1.33 (the
// feature SupplementalGroupsPolicy).
func (v Version) SupplementalGroups() bool { return v.atLeast(33) }

// ExternalCloudTaint says whether a node on EC2 registers with node.cloudprovider.kubernetes.io/uninitialized: with the
// external cloud provider, which EKS uses since 1.27.
func (v Version) ExternalCloudTaint() bool { return v.atLeast(27) }

// AppArmorMessage says whether the kubelet of a distribution with AppArmor appends to the message of Ready that it is
// enabled. A node of 1.21 on GKE does, one of 1.32 on AKS doesn't; that it ended with 1.30 is an estimate.
func (v Version) AppArmorMessage() bool { return !v.atLeast(31) }

// KubeProxyVersion says whether a node's info names one, which was the kubelet's own version: until 1.32 (the feature
// DisableNodeKubeProxyVersion).
func (v Version) KubeProxyVersion() bool { return !v.atLeast(33) }

// InPlaceResize says whether the resources of a running pod can be changed, and whether the status of each container says
// what it was given: by default since 1.33 (the feature InPlacePodVerticalScaling).
func (v Version) InPlaceResize() bool { return v.atLeast(33) }

// ResizeCompletedEvent says whether the kubelet reports ResizeCompleted: since 1.34.
func (v Version) ResizeCompletedEvent() bool { return v.atLeast(34) }

// ResizeEvents says whether it reports ResizeStarted, ResizeDeferred and ResizeInfeasible as well
// (k8s.io/kubernetes/pkg/kubelet/allocation/allocation_manager.go). Kubelets of 1.36 do; that it began with 1.35 is an
// estimate.
func (v Version) ResizeEvents() bool { return v.atLeast(35) }

// ResizeAdmission says whether the API server refuses a resize beyond what the pod's node has, instead of the kubelet
// calling it infeasible (k8s.io/kubernetes/plugin/pkg/admission/podresize). A server of 1.36 does; that it began with 1.36
// is an estimate.
func (v Version) ResizeAdmission() bool { return v.atLeast(36) }

// PullErrorInBackOff says whether the message of ImagePullBackOff repeats why the last pull failed
// (k8s.io/kubernetes/pkg/kubelet/images/image_manager.go). Current kubelets do; that it began with 1.32 is an estimate.
func (v Version) PullErrorInBackOff() bool { return v.atLeast(32) }
