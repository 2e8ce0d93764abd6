package scenarios

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// node lets a node of the group register, Ready or not yet. Labels, taints and
// conditions are those of an EKS managed node group.
func (s *demoCluster) node(name, image string, ready bool) {
	n := &corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: s.meta(name, "")}
	n.Labels = map[string]string{
		"eks.amazonaws.com/nodegroup":       s.group,
		"eks.amazonaws.com/nodegroup-image": image,
		"eks.amazonaws.com/capacityType":    "ON_DEMAND",
		"kubernetes.io/hostname":            name,
		"kubernetes.io/os":                  "linux",
		"kubernetes.io/arch":                "amd64",
	}
	n.Spec.ProviderID = fmt.Sprintf("aws:///eu-central-1a/i-%017x", s.born)
	n.Status.NodeInfo = corev1.NodeSystemInfo{
		KubeletVersion: "v1.36.3-eks-ecaa3a6", OSImage: "Amazon Linux 2023.9.20251208",
		OperatingSystem: "linux", Architecture: "amd64",
	}
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady",
		Message:           "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady",
		LastHeartbeatTime: s.now(), LastTransitionTime: s.now(),
	}}
	s.nodes[name] = n
	if ready {
		s.makeReady(n)
	} else {
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
	}
	s.tell(timeline.Added, "nodes", n)
}

// online lets a node that has joined become Ready.
func (s *demoCluster) online(name string) {
	n := s.nodes[name]
	s.makeReady(n)
	n.Spec.Taints = nil
	s.tell(timeline.Modified, "nodes", n)
}

func (s *demoCluster) makeReady(n *corev1.Node) {
	c := &n.Status.Conditions[0]
	c.Status, c.Reason, c.Message = corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"
	c.LastHeartbeatTime, c.LastTransitionTime = s.now(), s.now()
}

// cordon makes a node unschedulable, with the taint that the node lifecycle
// controller adds.
func (s *demoCluster) cordon(name string) {
	n := s.nodes[name]
	added := s.now()
	n.Spec.Unschedulable = true
	n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &added}}
	s.tell(timeline.Modified, "nodes", n)
}

// terminate takes a node away.
func (s *demoCluster) terminate(name string) {
	s.tell(timeline.Deleted, "nodes", s.nodes[name])
	delete(s.nodes, name)
}

func podLabels() map[string]string { return map[string]string{"app": "web"} }

// pod makes a pod of the one Deployment there is, bound to a node and
// ready at once: the demo is about nodes.
func (s *demoCluster) pod(node string) {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}
	p.ObjectMeta = s.meta("", "shop")
	p.Name = fmt.Sprintf("web-7f9c5d8b6-%05d", s.born)
	p.Labels = podLabels()
	yes := true
	p.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7f9c5d8b6", Controller: &yes,
		UID: "00000000-0000-4000-8000-0000000a0b0c",
	}}
	p.Spec = corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "web", Image: "registry.example/web:1.4.2"}}}
	p.Status.Phase = corev1.PodRunning
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: s.now()}}
	s.pods = append(s.pods, p)
	s.tell(timeline.Added, "pods", p)
}
