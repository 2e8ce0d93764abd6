package shell

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	"k8s.io/utils/ptr"
)

const (
	window = 15 * time.Second // between two changes of what is used, the resolution of metrics-server

	// What is used where nothing is requested, and what a node uses for itself: millicores and bytes.
	idleCPU, systemCPU       = 5, 60
	idleMemory, systemMemory = 24 << 20, 400 << 20
)

// Summaries say what each node and its running pods use, one for each node, in the order of Nodes.
func (s *Scripted) Summaries(ctx context.Context) ([]*statsv1alpha1.Summary, error) {
	if s.Nodes == nil {
		return nil, nil
	}
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("what nodes use: %w", err)
	}
	pods, err := s.Pods.GetPods(ctx)
	if err != nil {
		return nil, fmt.Errorf("what pods use: %w", err)
	}
	on := map[string][]*corev1.Pod{}
	for _, pod := range pods {
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
	}
	at := s.clock().Now().Truncate(window)
	var all []*statsv1alpha1.Summary
	for _, node := range nodes {
		all = append(all, summary(node, on[node.Name], at))
	}
	return all, nil
}

// Summary is an api.PodStatsSummaryHandlerFunc for the one node that there is. A listener that serves more nodes can't
// tell which of them was asked.
func (s *Scripted) Summary(ctx context.Context) (*statsv1alpha1.Summary, error) {
	all, err := s.Summaries(ctx)
	switch {
	case err != nil:
		return nil, err
	case len(all) != 1:
		return nil, notFound(fmt.Sprintf("stats summary: found %d nodes at one address, want 1", len(all)))
	}
	return all[0], nil
}

func summary(node *corev1.Node, pods []*corev1.Pod, at time.Time) *statsv1alpha1.Summary {
	all := &statsv1alpha1.Summary{Pods: []statsv1alpha1.PodStats{}}
	total := use{
		cpu:    wobble(systemCPU, at, string(node.UID), node.Name, "cpu"),
		memory: wobble(systemMemory, at, string(node.UID), node.Name, "memory"),
	}
	total.seconds = seconds(systemCPU, at.Sub(node.CreationTimestamp.Time))
	for _, pod := range pods {
		stats, used := podStats(pod, at)
		if len(stats.Containers) > 0 {
			all.Pods = append(all.Pods, stats)
			total.add(used)
		}
	}
	room := node.Status.Allocatable
	total.cap(room)
	all.Node = statsv1alpha1.NodeStats{
		NodeName: node.Name, StartTime: node.CreationTimestamp, CPU: total.cpuStats(at), Memory: total.memoryStats(at),
	}
	if capacity := room.Memory().Value(); capacity > 0 {
		all.Node.Memory.AvailableBytes = ptr.To(uint64(capacity) - total.memory)
	}
	return all
}

func podStats(pod *corev1.Pod, at time.Time) (statsv1alpha1.PodStats, use) {
	stats := statsv1alpha1.PodStats{
		PodRef: statsv1alpha1.PodReference{Name: pod.Name, Namespace: pod.Namespace, UID: string(pod.UID)},
	}
	if pod.Status.StartTime != nil {
		stats.StartTime = *pod.Status.StartTime
	}
	var total use
	for _, c := range pod.Spec.Containers {
		now, ok := status(pod, c.Name)
		if !ok || now.State.Running == nil {
			continue
		}
		given := c.Resources
		if now.Resources != nil { // resized in place
			given = *now.Resources
		}
		cpu, memory := uint64(given.Requests.Cpu().MilliValue()), uint64(given.Requests.Memory().Value())
		used := use{
			cpu:     wobble(max(cpu/2, idleCPU), at, string(pod.UID), c.Name, "cpu"),
			memory:  wobble(max(memory*3/5, idleMemory), at, string(pod.UID), c.Name, "memory"),
			seconds: seconds(max(cpu/2, idleCPU), at.Sub(now.State.Running.StartedAt.Time)),
		}
		used.cap(given.Limits)
		total.add(used)
		stats.Containers = append(stats.Containers, statsv1alpha1.ContainerStats{
			Name: c.Name, StartTime: now.State.Running.StartedAt, CPU: used.cpuStats(at), Memory: used.memoryStats(at),
		})
	}
	stats.CPU, stats.Memory = total.cpuStats(at), total.memoryStats(at)
	return stats, total
}

// use is millicores, bytes, and nanoseconds of CPU since the start.
type use struct{ cpu, memory, seconds uint64 }

func (u *use) add(v use) {
	u.cpu += v.cpu
	u.memory += v.memory
	u.seconds += v.seconds
}

// cap keeps within limits, where there are any.
func (u *use) cap(limits corev1.ResourceList) {
	if most := limits.Cpu().MilliValue(); most > 0 {
		u.cpu = min(u.cpu, uint64(most))
	}
	if most := limits.Memory().Value(); most > 0 {
		u.memory = min(u.memory, uint64(most))
	}
}

func (u use) cpuStats(at time.Time) *statsv1alpha1.CPUStats {
	return &statsv1alpha1.CPUStats{
		Time: metav1.NewTime(at), UsageNanoCores: ptr.To(u.cpu * 1_000_000), UsageCoreNanoSeconds: ptr.To(u.seconds),
	}
}

func (u use) memoryStats(at time.Time) *statsv1alpha1.MemoryStats {
	return &statsv1alpha1.MemoryStats{
		Time: metav1.NewTime(at), WorkingSetBytes: ptr.To(u.memory), UsageBytes: ptr.To(u.memory), RSSBytes: ptr.To(u.memory),
	}
}

// wobble is a number between 4/5 and 6/5 of the mean, another one in each window.
func wobble(mean uint64, at time.Time, words ...string) uint64 {
	draw := hash(append(words, strconv.FormatInt(at.Unix(), 10))...)
	return mean/1000*(800+draw%401) + mean%1000*(800+draw%401)/1000
}

// seconds returns the CPU time of so many millicores, in nanoseconds.
func seconds(mean uint64, d time.Duration) uint64 { return mean * uint64(max(0, d)/1000) }
