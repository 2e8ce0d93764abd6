package timeline

// What the default redaction keeps, where it keeps by list. The names are
// those of k8s.io/api/core/v1 and of the providers' own documentation.

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// podSpecKeeps lists the fields of core/v1 PodSpec that tell where a pod may
// run, how it leaves, and what it asks for.
var podSpecKeeps = set(
	"nodeName", "nodeSelector", "affinity", "topologySpreadConstraints", "tolerations",
	"schedulerName", "schedulingGates", "priority", "priorityClassName", "preemptionPolicy",
	"restartPolicy", "terminationGracePeriodSeconds", "activeDeadlineSeconds",
	"hostNetwork", "serviceAccountName", "os", "overhead", "runtimeClassName", "resources",
	"containers", "initContainers", "ephemeralContainers", "volumes",
)

// containerKeeps lists the fields of core/v1 Container.
var containerKeeps = set("name", "image", "resources", "resizePolicy", "restartPolicy")

// annotationPrefixes and annotationKeeps list the annotations by which
// kubelets, autoscalers and node controllers talk about nodes and drains, and
// those of updates in place, which are how such a roll stands.
var annotationPrefixes = [][]byte{
	[]byte("cluster.x-k8s.io/"), []byte("cluster-autoscaler.kubernetes.io/"), []byte("karpenter.sh/"),
	[]byte("karpenter.k8s.aws/"), []byte("kops.k8s.io/"), []byte("nodesim.dev/"),
	[]byte("eks.amazonaws.com/nodegroup"), []byte("node.kubernetes.io/"), []byte("agentbox.navix.sh/inplace-"),
}

var annotationKeeps = set(
	"agentbox.navix.sh/last-active",
	"agentbox.navix.sh/started-at",
	"alpha.kubernetes.io/provided-node-ip",
	"container.googleapis.com/instance_id",
	"controller.kubernetes.io/pod-deletion-cost",
	"csi.volume.kubernetes.io/nodeid",
	"deployment.kubernetes.io/revision",
	"descheduler.alpha.kubernetes.io/evict",
	"kubernetes.io/config.hash",
	"kubernetes.io/config.mirror",
	"kubernetes.io/config.seen",
	"kubernetes.io/config.source",
	"node.alpha.kubernetes.io/ttl",
	"volumes.kubernetes.io/controller-managed-attach-detach",
)
