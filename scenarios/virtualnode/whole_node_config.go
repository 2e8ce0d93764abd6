package virtualnode

import (
	"runtime"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Defaults of [NodeConfig].
const (
	// DefaultKubeletPort is where the API server looks for the HTTP routes of a node
	// (k8s.io/kubernetes, pkg/cluster/ports/ports.go, KubeletPort).
	DefaultKubeletPort = 10250

	// DefaultResync is the interval at which the informers of a Node hand all their objects out again.
	DefaultResync = time.Minute
)

// NodeConfig configures a [Node], besides its name, client and provider. The functions that NewNode is given get it
// with its defaults.
type NodeConfig struct {
	// Node is registered, under the Node's name. By default it has a kubelet's labels for hostname, operating system and architecture, the
	// provider's capacity where that has a method Capacity() corev1.ResourceList, the condition Ready, and
	// DefaultKubeletPort. What serves there is the caller's: package virtualnode/api; its server's Endpoints go into
	// Node.Status.DaemonEndpoints.
	Node *corev1.Node

	// Workers is the number of pods that each queue of the pod controller works on at once; 0 is the number of CPUs.
	Workers int

	// Resync is the informers' interval: 0 is DefaultResync, and less than 0 is none.
	Resync time.Duration

	// NodeOptions are the node controller's, besides the lease that it has in any case.
	NodeOptions []NodeControllerOpt

	// Pods changes the pod controller's configuration, if set.
	Pods func(*PodControllerConfig)
}

// sized is a provider that knows what its node offers.
type sized interface{ Capacity() corev1.ResourceList }

// newNodeConfig is the configuration after opts, with what these left at 0 filled.
func newNodeConfig(name string, provider PodLifecycleHandler, opts []func(*NodeConfig)) NodeConfig {
	cfg := NodeConfig{Node: defaultNode(name)}
	if p, ok := provider.(sized); ok {
		cfg.Node.Status.Capacity, cfg.Node.Status.Allocatable = p.Capacity(), p.Capacity()
	}
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	if cfg.Node == nil {
		cfg.Node = defaultNode(name)
	}
	cfg.Node.Name = name
	if cfg.Workers == 0 {
		cfg.Workers = runtime.NumCPU()
	}
	if cfg.Resync == 0 {
		cfg.Resync = DefaultResync
	}
	return cfg
}

// defaultNode has the labels that a kubelet gives its node (k8s.io/kubernetes, pkg/kubelet/kubelet_node_status.go,
// initialNode), and is ready: a Node registers it when its pods are followed.
func defaultNode(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{
			NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64"},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "the node's pods are followed",
				LastTransitionTime: metav1.Now(),
			}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: DefaultKubeletPort}},
		},
	}
}
