package place

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Machine is the Node that a new machine's kubelet registers. The kubelet is simulated in both places: the annotation asks
// a simulated cluster for one, the label asks the kubelets beside a control plane (testcluster.KubeletLabel).
func Machine(name, providerID string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("2"),
		corev1.ResourceMemory:           resource.MustParse("8Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("20Gi"),
		corev1.ResourcePods:             resource.MustParse("58"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
			Labels: map[string]string{
				"testcluster.nodesim.dev/kubelet": "alive",
				corev1.LabelHostname:              name,
				corev1.LabelArchStable:            "amd64",
				corev1.LabelOSStable:              "linux",
			},
		},
		Spec:   corev1.NodeSpec{ProviderID: providerID},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room.DeepCopy()},
	}
}

// NodeNames lists the nodes by name, and whether each is Ready.
func (p *Place) NodeNames() map[string]bool {
	p.Helper()
	list, err := p.Kube.CoreV1().Nodes().List(p.Context(), metav1.ListOptions{})
	p.Must(err)
	names := map[string]bool{}
	for _, n := range list.Items {
		names[n.Name] = NodeReady(&n)
	}
	return names
}

// NodeReady reports whether a node is Ready.
func NodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
