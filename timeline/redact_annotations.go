package timeline

// annotationKeeps lists the annotations by which kubelets, controllers,
// autoscalers and rollers talk about nodes, drains and updates. They are kept
// by their whole keys: of a prefix, it is unknown what else is under it.
var annotationKeeps = set(
	// Nodes: kubelet, cloud providers, kubeadm, CSI.
	"alpha.kubernetes.io/provided-node-ip",
	"container.googleapis.com/instance_id",
	"csi.volume.kubernetes.io/nodeid",
	"kubeadm.alpha.kubernetes.io/cri-socket",
	"node.alpha.kubernetes.io/ttl",
	"volumes.kubernetes.io/controller-managed-attach-detach",

	// Pods and their owners.
	"batch.kubernetes.io/job-completion-index",
	"cluster-autoscaler.kubernetes.io/safe-to-evict",
	"controller.kubernetes.io/pod-deletion-cost",
	"deployment.kubernetes.io/desired-replicas",
	"deployment.kubernetes.io/max-replicas",
	"deployment.kubernetes.io/revision",
	"deprecated.daemonset.template.generation",
	"descheduler.alpha.kubernetes.io/evict",
	"kubectl.kubernetes.io/restartedAt",
	"kubernetes.io/config.hash",
	"kubernetes.io/config.mirror",
	"kubernetes.io/config.seen",
	"kubernetes.io/config.source",

	// Volumes.
	"pv.kubernetes.io/bind-completed",
	"pv.kubernetes.io/bound-by-controller",
	"pv.kubernetes.io/provisioned-by",
	"storageclass.beta.kubernetes.io/is-default-class",
	"storageclass.kubernetes.io/is-default-class",
	"volume.beta.kubernetes.io/storage-class",
	"volume.beta.kubernetes.io/storage-provisioner",
	"volume.kubernetes.io/selected-node",
	"volume.kubernetes.io/storage-provisioner",

	// The cluster autoscaler, as its FAQ says, and kured (kured.dev/docs).
	"cluster-autoscaler.kubernetes.io/enable-ds-eviction",
	"cluster-autoscaler.kubernetes.io/scale-down-disabled",
	"weave.works/kured-most-recent-reboot-needed",
	"weave.works/kured-reboot-in-progress",

	// Karpenter (sigs.k8s.io/karpenter/pkg/apis/v1/labels.go and the AWS provider's).
	"karpenter.k8s.aws/ec2nodeclass-hash",
	"karpenter.k8s.aws/ec2nodeclass-hash-version",
	"karpenter.k8s.aws/tagged",
	"karpenter.sh/do-not-disrupt",
	"karpenter.sh/nodeclaim-termination-timestamp",
	"karpenter.sh/nodepool-hash",
	"karpenter.sh/nodepool-hash-version",

	// Cluster API (sigs.k8s.io/cluster-api/api/core, common_types.go).
	"cluster.x-k8s.io/annotations-from-machine",
	"cluster.x-k8s.io/cloned-from-groupkind",
	"cluster.x-k8s.io/cloned-from-name",
	"cluster.x-k8s.io/cluster-name",
	"cluster.x-k8s.io/cluster-namespace",
	"cluster.x-k8s.io/delete-machine",
	"cluster.x-k8s.io/disable-machine-create",
	"cluster.x-k8s.io/labels-from-machine",
	"cluster.x-k8s.io/machine",
	"cluster.x-k8s.io/owner-kind",
	"cluster.x-k8s.io/owner-name",
	"cluster.x-k8s.io/paused",
	"cluster.x-k8s.io/remediate-machine",
	"cluster.x-k8s.io/replicas-managed-by",
	"cluster.x-k8s.io/skip-remediation",
	"machine.cluster.x-k8s.io/certificates-expiry",
	"machine.cluster.x-k8s.io/exclude-node-draining",
	"machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach",
	"machinedeployment.clusters.x-k8s.io/desired-replicas",
	"machinedeployment.clusters.x-k8s.io/max-replicas",
	"machinedeployment.clusters.x-k8s.io/revision",

	// kOps, EKS, OpenShift (machine-config-operator, pkg/daemon/constants).
	"eks.amazonaws.com/nodegroup",
	"eks.amazonaws.com/nodegroup-image",
	"kops.k8s.io/needs-update",
	"kops.k8s.io/scheduled-for-update",
	"machine.openshift.io/machine",
	"machineconfiguration.openshift.io/currentConfig",
	"machineconfiguration.openshift.io/desiredConfig",
	"machineconfiguration.openshift.io/desiredDrain",
	"machineconfiguration.openshift.io/lastAppliedDrain",
	"machineconfiguration.openshift.io/reason",
	"machineconfiguration.openshift.io/state",

	// Updates in place, and what nodesim itself writes into real clusters.
	"agentbox.navix.sh/inplace-resize-state",
	"agentbox.navix.sh/inplace-update-state",
	"agentbox.navix.sh/last-active",
	"agentbox.navix.sh/started-at",
	"nodesim.dev/kubelet-address",
	"nodesim.dev/machine",
	"nodesim.dev/replay-uid",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
