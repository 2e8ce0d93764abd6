package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// A Source says what is used, and the labels by which a client selects. The functions are called for each request,
// from many goroutines, and what they return is only read.
type Source struct {
	// Summaries are those of the nodes, one each. Required.
	Summaries func(context.Context) ([]*statsv1alpha1.Summary, error)
	// Nodes and Pods have the labels; nil has none.
	Nodes func(context.Context) ([]*corev1.Node, error)
	Pods  func(context.Context) ([]*corev1.Pod, error)
	// Window is the time over which CPU is taken to have been measured; 0 is 15 s.
	Window time.Duration
}

func (s Source) window() metav1.Duration {
	if s.Window <= 0 {
		return metav1.Duration{Duration: 15 * time.Second}
	}
	return metav1.Duration{Duration: s.Window}
}

// nodes are the metrics of nodes, by name. A node without a value for CPU or memory has no metrics, as with
// metrics-server.
func (s Source) nodes(ctx context.Context) ([]nodeMetrics, error) {
	summaries, err := s.Summaries(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics of nodes: %w", err)
	}
	labels := map[string]map[string]string{}
	if s.Nodes != nil {
		nodes, err := s.Nodes(ctx)
		if err != nil {
			return nil, fmt.Errorf("labels of nodes: %w", err)
		}
		for _, node := range nodes {
			labels[node.Name] = node.Labels
		}
	}
	all := []nodeMetrics{}
	for _, summary := range summaries {
		usage, at, ok := usage(summary.Node.CPU, summary.Node.Memory)
		if !ok {
			continue
		}
		all = append(all, nodeMetrics{
			TypeMeta:   metav1.TypeMeta{Kind: "NodeMetrics", APIVersion: groupVersion},
			ObjectMeta: metav1.ObjectMeta{Name: summary.Node.NodeName, Labels: labels[summary.Node.NodeName], CreationTimestamp: at},
			Timestamp:  at, Window: s.window(), Usage: usage,
		})
	}
	slices.SortFunc(all, func(a, b nodeMetrics) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// pods are the metrics of pods, by namespace and name.
func (s Source) pods(ctx context.Context) ([]podMetrics, error) {
	summaries, err := s.Summaries(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics of pods: %w", err)
	}
	labels := map[string]map[string]string{}
	if s.Pods != nil {
		pods, err := s.Pods(ctx)
		if err != nil {
			return nil, fmt.Errorf("labels of pods: %w", err)
		}
		for _, pod := range pods {
			labels[pod.Namespace+"/"+pod.Name] = pod.Labels
		}
	}
	all := []podMetrics{}
	for _, summary := range summaries {
		for _, pod := range summary.Pods {
			m := podMetrics{
				TypeMeta:   metav1.TypeMeta{Kind: "PodMetrics", APIVersion: groupVersion},
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.PodRef.Namespace, Name: pod.PodRef.Name, Labels: labels[pod.PodRef.Namespace+"/"+pod.PodRef.Name]},
				Window:     s.window(), Containers: []containerMetrics{},
			}
			for _, container := range pod.Containers {
				if usage, at, ok := usage(container.CPU, container.Memory); ok {
					m.Containers = append(m.Containers, containerMetrics{Name: container.Name, Usage: usage})
					m.Timestamp, m.CreationTimestamp = at, at
				}
			}
			if len(m.Containers) > 0 {
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, func(a, b podMetrics) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return all, nil
}

// usage returns the use of both, and its time.
func usage(cpu *statsv1alpha1.CPUStats, memory *statsv1alpha1.MemoryStats) (corev1.ResourceList, metav1.Time, bool) {
	if cpu == nil || cpu.UsageNanoCores == nil || memory == nil || memory.WorkingSetBytes == nil {
		return nil, metav1.Time{}, false
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewScaledQuantity(int64(*cpu.UsageNanoCores), resource.Nano),
		corev1.ResourceMemory: *resource.NewQuantity(int64(*memory.WorkingSetBytes), resource.BinarySI),
	}, cpu.Time, true
}
