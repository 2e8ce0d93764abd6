package writes

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nodesim/nodesim/internal/kubedefaults"
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
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: kubedefaults.QOSOf(&pod.Spec)}
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

// beginJob gives a new Job its selector, and its pods' labels where it has none of its own.
func (k kind) beginJob(u unstructured.Unstructured) error {
	job, err := as[batchv1.Job](u)
	if err != nil {
		return err
	}
	kubedefaults.SelectJob(job, len(job.Labels) == 0 || maps.Equal(job.Labels, job.Spec.Template.Labels))
	full, err := k.untyped(job)
	if err != nil {
		return err
	}
	maps.Copy(u.Object, full.Object)
	return nil
}

// countTemplates counts the templates that a DaemonSet has had, in the annotation
// that its pods are labelled by (PrepareForCreate and PrepareForUpdate of
// kubernetes/pkg/registry/apps/daemonset/strategy.go). live is nil for a new one.
func countTemplates(u unstructured.Unstructured, live *object) {
	n := int64(1)
	if live != nil {
		n, _ = strconv.ParseInt(live.GetAnnotations()[appsv1.DeprecatedTemplateGeneration], 10, 64)
		is, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "template")
		was, _, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "template")
		if !equality.Semantic.DeepEqual(is, was) {
			n++
		}
	}
	a := u.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(n, 10)
	u.SetAnnotations(a)
}
