package scenarios

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// demoBeat is the time between two moments of the demo: long enough to read a
// panel, short enough to watch to the end.
const demoBeat = 2 * time.Second

const (
	demoGroup = "demo"
	demoOld   = "ami-0a1b2c3d4e5f60718"
	demoNew   = "ami-0f9e8d7c6b5a43210"
)

// Demo is the tape whose snapshots are those of noderoll.DemoTimeline, with nodes by name: a surge
// roll of an EKS node group of three, one node at a time. Twelve pods of one
// Deployment move with it, under a budget that wants seven of them.
//
// Each frame of DemoTimeline is one moment of the tape, demoBeat apart. The
// nodes that there are at the first SYNC are the old ones.
func Demo() (timeline.Header, []timeline.Event) {
	const (
		a, b, c = "ip-10-0-1-12", "ip-10-0-3-21", "ip-10-0-2-08" // old
		d, e, f = "ip-10-0-1-44", "ip-10-0-2-77", "ip-10-0-3-05" // new
	)
	s := newDemoCluster(demoGroup)
	for _, name := range []string{a, b, c} {
		s.node(name, demoOld, true)
	}
	s.sync("nodes")
	s.run(a, 4)
	s.run(b, 3)
	s.run(c, 5)
	s.sync("pods")
	s.guard(7)
	s.sync("poddisruptionbudgets")
	s.sync("events")

	s.beat()
	s.node(d, demoNew, false)
	s.beat()
	s.online(d)
	s.cordon(a)
	s.evict(a, 2)
	s.beat()
	s.move(a, d)
	s.evict(a, 2)
	s.beat()
	s.move(a, d)
	s.beat()
	s.terminate(a)
	s.replace(b, e, 3)
	s.replace(c, f, 5)
	return s.header(), s.events
}

// replace lets a node join, and moves the pods of an old one there, all at once.
func (s *demoCluster) replace(old, young string, pods int) {
	s.beat()
	s.node(young, demoNew, false)
	s.beat()
	s.online(young)
	s.cordon(old)
	s.evict(old, pods)
	s.beat()
	s.move(old, young)
	s.beat()
	s.terminate(old)
}

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
