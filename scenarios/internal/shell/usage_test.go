package shell_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

func node(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(start.Add(-time.Hour))},
		Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"),
		}},
	}
}

func summaries(t *testing.T, after time.Duration, change func(*corev1.Pod)) []*statsv1alpha1.Summary {
	t.Helper()
	s, pods, _ := scripted(after)
	if change != nil {
		pods.change(change)
	}
	s.Nodes = func(context.Context) ([]*corev1.Node, error) {
		return []*corev1.Node{node("ip-10-0-1-10"), node("ip-10-0-1-11")}, nil
	}
	all, err := s.Summaries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What is used is the same when asked again, another in time, about half of what is requested, and adds up.
func TestUsage(t *testing.T) {
	now := summaries(t, time.Minute, nil)
	if diff := cmp.Diff(now, summaries(t, time.Minute+5*time.Second, nil)); diff != "" {
		t.Errorf("five seconds later, in the same window:\n%s", diff)
	}
	later := summaries(t, 2*time.Minute, nil)
	if len(now) != 2 || len(now[0].Pods) != 1 || len(now[1].Pods) != 0 || len(now[0].Pods[0].Containers) != 1 {
		t.Fatalf("summaries %+v", now)
	}
	pod, before := now[0].Pods[0], later[0].Pods[0]
	if cpu := *pod.CPU.UsageNanoCores / 1e6; cpu < 80 || cpu > 120 {
		t.Errorf("the pod uses %dm of 200m, want 80m to 120m", cpu)
	}
	if memory := *pod.Memory.WorkingSetBytes >> 20; memory < 48 || memory > 72 {
		t.Errorf("the pod uses %dMi of 100Mi, want 48Mi to 72Mi", memory)
	}
	if *pod.CPU.UsageNanoCores == *before.CPU.UsageNanoCores {
		t.Error("a minute changes nothing")
	}
	if *pod.CPU.UsageCoreNanoSeconds >= *before.CPU.UsageCoreNanoSeconds {
		t.Error("the seconds of CPU don't grow")
	}
	if alone := *now[0].Node.CPU.UsageNanoCores - *pod.CPU.UsageNanoCores; alone < 48e6 || alone > 72e6 {
		t.Errorf("the node uses %d nanocores beside its pod, want 48m to 72m", alone)
	}
	if sum := *now[0].Node.Memory.AvailableBytes + *now[0].Node.Memory.WorkingSetBytes; sum != 4<<30 {
		t.Errorf("free and used memory add up to %d, want 4Gi", sum)
	}
}

func TestUsageFollowsResources(t *testing.T) {
	for name, c := range map[string]struct {
		change      func(*corev1.Pod)
		least, most uint64 // millicores; 0 and 0 for no metrics
	}{
		"limited": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m")}
		}, 50, 50},
		"resized": {func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses[0].Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}
		}, 400, 600},
		"without requests": {func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{} }, 4, 6},
		"more than the node": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("100")
		}, 40_000, 60_000},
		"ended": {terminate(start.Add(time.Second), 0, ""), 0, 0},
	} {
		summary := summaries(t, time.Minute, c.change)[0]
		if c.most == 0 {
			if len(summary.Pods) != 0 {
				t.Errorf("%s: %+v, want no pods", name, summary.Pods)
			}
			continue
		}
		if got := *summary.Pods[0].CPU.UsageNanoCores / 1e6; got < c.least || got > c.most {
			t.Errorf("%s: %dm, want %dm to %dm", name, got, c.least, c.most)
		}
		if got := *summary.Node.CPU.UsageNanoCores / 1e6; got > 2000 {
			t.Errorf("%s: the node of two cores uses %dm", name, got)
		}
	}
}

func TestSummaryOfOneNode(t *testing.T) {
	s, _, _ := scripted(time.Minute)
	if got, err := s.Summary(t.Context()); err == nil {
		t.Errorf("no nodes: %+v, want an error", got)
	}
	s.Nodes = func(context.Context) ([]*corev1.Node, error) { return []*corev1.Node{node("ip-10-0-1-10")}, nil }
	got, err := s.Summary(t.Context())
	if err != nil || got.Node.NodeName != "ip-10-0-1-10" || len(got.Pods) != 1 {
		t.Errorf("one node: %+v, %v", got, err)
	}
}
