package convert

import (
	"encoding/json"
	"fmt"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// annotationTTL is the kube-controller-manager's, which is real: it follows the number of nodes, and a writer of
// another value never comes to rest in a cluster of a hundred or more (k8s.io/kubernetes,
// pkg/controller/ttl/ttl_controller.go).
const annotationTTL = "node.alpha.kubernetes.io/ttl"

// NodeToAPI is a node as the API server is to have it. Its creationTimestamp and
// version are left out, and the annotation of real controllers: the server has its
// own.
func NodeToAPI(n *kube.Node, c Clock) (*corev1.Node, error) {
	out := &corev1.Node{}
	if err := json.Unmarshal(n.JSON(), out); err != nil {
		return nil, fmt.Errorf("node %s: %w", n.Name, err)
	}
	identify(&out.ObjectMeta, &n.Meta)
	delete(out.Annotations, annotationTTL)
	for i := range out.Status.Conditions {
		is := &out.Status.Conditions[i]
		is.LastHeartbeatTime, is.LastTransitionTime = c.second(n.Conditions[i].Heartbeat), c.second(n.Conditions[i].Transition)
	}
	for i := range out.Spec.Taints {
		if t := out.Spec.Taints[i].TimeAdded; t != nil {
			*t = c.second(n.Taints[i].Added)
		}
	}
	return out, nil
}

// PodToAPI is a pod as its kubelet posts it.
func PodToAPI(p *kube.Pod, c Clock) (*corev1.Pod, error) {
	out := &corev1.Pod{}
	if err := json.Unmarshal(p.JSON(), out); err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	identify(&out.ObjectMeta, &p.Meta)
	if p.Deleting != 0 {
		deleted := metav1.NewTime(c.Time(p.Deleting))
		out.DeletionTimestamp = &deleted
	}
	qos := out.Status.QOSClass
	out.Status = PodStatus(p, c)
	out.Status.QOSClass = qos
	return out, nil
}

func identify(out *metav1.ObjectMeta, m *kube.Meta) {
	out.Namespace, out.Name, out.UID = m.Namespace, m.Name, types.UID(m.UID)
	out.ResourceVersion, out.CreationTimestamp = "", metav1.Time{}
	out.ManagedFields = nil
}
