package testcluster

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// The labels that EKS puts on the nodes of a managed node group.
const (
	LabelNodegroup      = "eks.amazonaws.com/nodegroup"
	LabelNodegroupImage = "eks.amazonaws.com/nodegroup-image"
	LabelCapacityType   = "eks.amazonaws.com/capacityType"
)

// A Group describes a managed node group as EKS would label it. The zero value of a field means the default
// named there.
type Group struct {
	Name     string   // spot-burst
	Capacity string   // SPOT
	Instance string   // m6i.large
	Zones    []string // us-east-1a; nodes take turns
	CPU      string   // 8
	Memory   string   // 16Gi
	Kubelet  string   // v1.33.4-eks-1
}

func (g Group) name() string { return cmp.Or(g.Name, "spot-burst") }

// Selector selects the group's nodes by label.
func (g Group) Selector() string { return LabelNodegroup + "=" + g.name() }

// Node is the object of the group's node with that number, as its kubelet would register it: generation 1 has the
// nodes ip-10-0-1-10, ip-10-0-1-11 and so on, generation 2 ip-10-0-2-10 and so on.
func (g Group) Node(generation, number int, image string) *corev1.Node {
	zones := g.Zones
	if len(zones) == 0 {
		zones = []string{"us-east-1a"}
	}
	zone := zones[number%len(zones)]
	name := fmt.Sprintf("ip-10-0-%d-%d", generation, 10+number)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cmp.Or(g.CPU, "8")),
		corev1.ResourceMemory: resource.MustParse(cmp.Or(g.Memory, "16Gi")),
		corev1.ResourcePods:   resource.MustParse("58"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				LabelNodegroup:                 g.name(),
				LabelNodegroupImage:            image,
				LabelCapacityType:              cmp.Or(g.Capacity, "SPOT"),
				KubeletLabel:                   kubeletAlive,
				corev1.LabelArchStable:         "amd64",
				corev1.LabelOSStable:           "linux",
				corev1.LabelHostname:           name,
				corev1.LabelInstanceTypeStable: cmp.Or(g.Instance, "m6i.large"),
				corev1.LabelTopologyZone:       zone,
			},
		},
		Spec: corev1.NodeSpec{ProviderID: fmt.Sprintf("aws:///%s/i-%s", zone, name)},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity.DeepCopy(),
			NodeInfo: corev1.NodeSystemInfo{
				Architecture: "amd64", OperatingSystem: "linux", OSImage: "Amazon Linux 2023",
				ContainerRuntimeVersion: "containerd://1.7.27", KubeletVersion: cmp.Or(g.Kubelet, "v1.33.4-eks-1"),
			},
		},
	}
}

// Join creates a node of the group and returns it, as it was created, when it is ready and schedulable.
func (g Group) Join(ctx context.Context, client kubernetes.Interface, generation, number int, image string) (*corev1.Node, error) {
	node, err := client.CoreV1().Nodes().Create(ctx, g.Node(generation, number, image), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("node joins: %w", err)
	}
	return node, UntilReady(ctx, client, node.Name)
}

// UntilReady waits until a node is ready and free of taints.
func UntilReady(ctx context.Context, client kubernetes.Interface, name string) error {
	return poll(ctx, 100*time.Millisecond, name+" to be ready", func(ctx context.Context) (bool, error) {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		return err == nil && ready(node) == corev1.ConditionTrue && len(node.Spec.Taints) == 0, err
	})
}

// UntilRegistered waits until the node lifecycle controller knows a node, and has said so in an Event. It looks for new
// nodes every five seconds (kube-controller-manager, --node-monitor-period), so that it never hears of one that is
// deleted sooner.
func UntilRegistered(ctx context.Context, client kubernetes.Interface, name string) error {
	registered := metav1.ListOptions{FieldSelector: fields.Set{
		"involvedObject.kind": "Node", "involvedObject.name": name, "reason": "RegisteredNode",
	}.String()}
	return poll(ctx, 100*time.Millisecond, name+" to be registered", func(ctx context.Context) (bool, error) {
		list, err := client.CoreV1().Events(metav1.NamespaceAll).List(ctx, registered)
		return err == nil && len(list.Items) > 0, err
	})
}

// JoinAll joins nodes 0 to count-1 of a generation, one after the other.
func (g Group) JoinAll(ctx context.Context, client kubernetes.Interface, generation, count int, image string) error {
	for number := range count {
		if _, err := g.Join(ctx, client, generation, number, image); err != nil {
			return err
		}
	}
	return nil
}

func ready(node *corev1.Node) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return corev1.ConditionUnknown
}

// podsOn lists the pods that are bound to a node, ending ones included.
func podsOn(ctx context.Context, client kubernetes.Interface, node string) ([]corev1.Pod, error) {
	list, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", node, err)
	}
	return list.Items, nil
}
