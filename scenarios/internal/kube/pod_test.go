package kube_test

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
)

// TestAPodIsGivenAVariant: what differs of a spec is in the patch, and the
// template that others share stays as it is.
func TestAPodIsGivenAVariant(t *testing.T) {
	r := newRig(t)
	shared := template()
	p := &kube.Pod{Meta: kube.Meta{Namespace: "shop", Name: "web-1", Generation: 1}, Template: shared, Phase: "Running"}
	if err := r.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	variant := shared.Variant(func(c *kube.ContainerSpec) { c.Image, c.CPU = "registry.example/web:2", 750 })
	r.UpdatePod(p, func(p *kube.Pod) { p.Template, p.Generation = variant, 2 })
	if same := shared.Variant(func(*kube.ContainerSpec) {}); r.UpdatePod(p, func(p *kube.Pod) { p.Template = variant.Variant(func(*kube.ContainerSpec) {}) }) || same.Origin() != shared || variant.Variant(func(*kube.ContainerSpec) {}).Origin() != shared {
		t.Error("a variant that differs in nothing was written, or has lost its origin")
	}
	var got []string
	for _, ev := range r.events(t)[:2] {
		c := strict[corev1.Pod](t, ev.Object).Spec.Containers[0]
		got = append(got, c.Image+" "+c.Resources.Requests.Cpu().String())
	}
	if diff := cmp.Diff([]string{"registry.example/web:1 500m", "registry.example/web:2 750m"}, got); diff != "" {
		t.Error(diff)
	}
	if shared.Containers[0].CPU != 500 {
		t.Error("the shared template has changed")
	}
}

// TestAContainerSaysWhatItWasGiven reads allocatedResources, resources and the
// policies of a resize back.
func TestAContainerSaysWhatItWasGiven(t *testing.T) {
	own := template()
	own.Containers[0].CPUPolicy, own.Containers[0].MemoryPolicy = "NotRequired", "RestartContainer"
	p := &kube.Pod{Meta: kube.Meta{UID: "u"}, Template: own}
	p.Containers = []kube.Container{{Name: "web", ContainerID: "containerd://1", Given: &kube.Given{
		Allocated: kube.Resources{CPU: 750, Memory: 256 << 20}, Actual: kube.Resources{CPU: 500, Memory: 128 << 20, CPULimit: 1000},
	}}}
	pod := strict[corev1.Pod](t, p.JSON())
	status, policy := pod.Status.ContainerStatuses[0], pod.Spec.Containers[0].ResizePolicy
	got := []string{
		status.AllocatedResources.Cpu().String(), status.AllocatedResources.Memory().String(),
		status.Resources.Requests.Cpu().String(), status.Resources.Limits.Cpu().String(),
		string(policy[0].ResourceName + " " + corev1.ResourceName(policy[0].RestartPolicy)),
		string(policy[1].ResourceName + " " + corev1.ResourceName(policy[1].RestartPolicy)),
	}
	if diff := cmp.Diff([]string{"750m", "256Mi", "500m", "1", "cpu NotRequired", "memory RestartContainer"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestAContainerStaysSmall: half a million pods have one each.
func TestAContainerStaysSmall(t *testing.T) {
	if size := unsafe.Sizeof(kube.Container{}); size > 256 {
		t.Errorf("a container takes %d bytes, want at most 256: the next size that Go allocates is 288", size)
	}
}
