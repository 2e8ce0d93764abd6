package scenarios

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// agent is a DaemonSet that a provider's clusters bring along: what a drain
// leaves alone, and what dies with its node.
type agent struct {
	name, label, image string
	cpu, memory        int64 // millicores and MiB
	size               int64 // of the image, MiB
	network            bool  // brings the node's network up
}

// agents are the DaemonSets of each provider's clusters. Versions and requests
// are those of the add-ons' manifests in 2025.
var agents = map[spec.Provider][]agent{
	spec.ProviderEKS: {
		{"aws-node", "k8s-app", "602401143452.dkr.ecr.REGION.amazonaws.com/amazon-k8s-cni:v1.20.4", 50, 0, 48, true},
		{"kube-proxy", "k8s-app", "602401143452.dkr.ecr.REGION.amazonaws.com/eks/kube-proxy:vVERSION.1-minimal-eksbuild.2", 100, 0, 36, false},
	},
	spec.ProviderGKE: {
		{"fluentbit-gke", "k8s-app", "gke.gcr.io/fluent-bit:v1.8.12-gke.55", 100, 200, 62, false},
		{"pdcsi-node", "k8s-app", "gke.gcr.io/gcp-compute-persistent-disk-csi-driver:v1.17.9-gke.0", 10, 20, 70, false},
	},
	spec.ProviderAKS: {
		{"azure-cns", "k8s-app", "mcr.microsoft.com/containernetworking/azure-cns:v1.6.21", 40, 250, 68, true},
		{"kube-proxy", "component", "mcr.microsoft.com/oss/kubernetes/kube-proxy:vVERSION.1", 100, 0, 37, false},
	},
	spec.ProviderCAPI: {
		{"calico-node", "k8s-app", "docker.io/calico/node:v3.30.3", 250, 0, 160, true},
		{"kube-proxy", "k8s-app", "registry.k8s.io/kube-proxy:vVERSION.1", 0, 0, 37, false},
	},
	spec.ProviderKOps: {
		{"cilium", "k8s-app", "quay.io/cilium/cilium:v1.17.6", 100, 128, 210, true},
		{"kops-node-cache", "k8s-app", "registry.k8s.io/dns/k8s-dns-node-cache:1.26.0", 25, 5, 30, false},
	},
}

// agents returns the DaemonSets that the cluster's provider brings: none where the file has the nodes of a cluster one by one, which
// has its DaemonSets as well.
func (s *Simulation) agents() []controllers.Workload {
	if s.file.Cluster.Kubelet == spec.KubeletKwok || slices.ContainsFunc(s.file.Groups, func(g spec.Group) bool { return len(g.Members) > 0 }) {
		return nil
	}
	return systemAgents(s.file.Cluster.Provider, s.file.Cluster.Region, s.env.Version)
}

// asAgent has a DaemonSet of the file that is a provider's agent do what the agent does.
func asAgent(w *controllers.Workload) {
	if w.Kind != controllers.DaemonSet || w.Namespace != metav1.NamespaceSystem {
		return
	}
	for _, list := range agents {
		for _, a := range list {
			if a.name == w.Name {
				w.Template.Traits.NetworkPlugin, w.Template.Traits.NodeProxy = a.network, a.name == "kube-proxy"
				return
			}
		}
	}
}

// systemAgents returns the DaemonSets of a provider as workloads of kube-system.
func systemAgents(p spec.Provider, region string, v model.Version) []controllers.Workload {
	if p == spec.ProviderKarpenter {
		p = spec.ProviderEKS // its nodes are EKS nodes
	}
	var all []controllers.Workload
	for _, a := range agents[p] {
		t := controllers.PodTemplate{
			Labels: kube.PairsOf(kube.Pair{Key: a.label, Value: a.name}), GraceSeconds: 30, HostNetwork: true,
			Containers: []kube.ContainerSpec{{
				Name: a.name, Image: expand(a.image, region, v), CPU: a.cpu, Memory: a.memory << 20,
			}},
			Priority: priorities["system-node-critical"], PriorityClass: "system-node-critical",
			Tolerations: []kube.Toleration{{Operator: "Exists", Seconds: -1}},
			Traits:      &component.PodTraits{ImageBytes: a.size << 20, NetworkPlugin: a.network, NodeProxy: a.name == "kube-proxy"},
		}
		if a.name == "aws-node" {
			t.GraceSeconds = 10
		}
		all = append(all, controllers.Workload{Kind: controllers.DaemonSet, Namespace: "kube-system", Name: a.name, Template: t})
	}
	return all
}

func expand(image, region string, v model.Version) string {
	return strings.NewReplacer("REGION", region, "VERSION", v.Short()).Replace(image)
}
