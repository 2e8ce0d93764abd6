package writes

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// begin makes of an object what a server stores first: no status of the
// client's but a node's, a pod that is pending, a node that nothing is
// scheduled to until it is ready.
func (k kind) begin(u unstructured.Unstructured) error {
	if k.counted() {
		u.SetGeneration(1)
	} else if k.builtIn {
		u.SetGeneration(0)
	}
	switch {
	case k.isNode():
		return k.unready(u)
	case k.isPod():
		return k.pend(u)
	case k.is("namespaces"):
		u.Object["status"] = map[string]any{"phase": string(corev1.NamespaceActive)}
	case k.hasStatus() && k.builtIn:
		obj, err := k.typed(unstructured.Unstructured{Object: map[string]any{}})
		if err != nil {
			return err
		}
		empty, err := k.untyped(obj)
		take(u, empty, "status")
		if err == nil && k.isDefinition() {
			err = storedIn(u)
		}
		return err
	case !k.builtIn && k.hasStatus():
		delete(u.Object, "status")
	}
	return nil
}

// unready is kubernetes/plugin/pkg/admission/nodetaint.
func (k kind) unready(u unstructured.Unstructured) error {
	taints, _, err := unstructured.NestedSlice(u.Object, "spec", "taints")
	if err != nil {
		return err
	}
	for _, t := range taints {
		if t, ok := t.(map[string]any); ok && t["key"] == corev1.TaintNodeNotReady && t["effect"] == string(corev1.TaintEffectNoSchedule) {
			return nil
		}
	}
	taints = append(taints, map[string]any{"key": corev1.TaintNodeNotReady, "effect": string(corev1.TaintEffectNoSchedule)})
	return unstructured.SetNestedSlice(u.Object, taints, "spec", "taints")
}

// pend is PrepareForCreate of kubernetes/pkg/registry/core/pod/strategy.go.
func (k kind) pend(u unstructured.Unstructured) error {
	pod, err := as[corev1.Pod](u)
	if err != nil {
		return err
	}
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: quality(&pod.Spec)}
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			Message: "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod.Status)
	u.Object["status"] = content
	return err
}

// quality is GetPodQOS of kubernetes/pkg/apis/core/v1/helper/qos: guaranteed
// where every container is limited to what it requests of both, best effort
// where none asks for anything.
func quality(spec *corev1.PodSpec) corev1.PodQOSClass {
	asked, exact := false, true
	for _, c := range append(append([]corev1.Container(nil), spec.InitContainers...), spec.Containers...) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit := c.Resources.Limits[name]
			request, requested := c.Resources.Requests[name]
			asked = asked || !limit.IsZero() || !request.IsZero()
			exact = exact && !limit.IsZero() && (!requested || limit.Cmp(request) == 0)
		}
	}
	switch {
	case !asked:
		return corev1.PodQOSBestEffort
	case exact:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
