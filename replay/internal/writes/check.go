package writes

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of kinds that tapes hold, as far as apimachinery and the types
// carry them. What each kind's own validation says beyond is not said here: see
// the package comment.

// check finds what is wrong with a new object.
func (k kind) check(u unstructured.Unstructured) field.ErrorList {
	switch {
	case k.isNode():
		return typedRule(u, newNode)
	case k.isPod():
		return typedRule(u, newPod)
	case k.isBudget() && k.Version == "v1":
		return typedRule(u, budget)
	}
	return nil
}

// checkUpdate finds what is wrong with a change.
func (k kind) checkUpdate(u unstructured.Unstructured, live *object) field.ErrorList {
	switch {
	case k.isNode():
		return append(typedRule(u, newNode), changeRule(u, live, changedNode)...)
	case k.isPod():
		return append(typedRule(u, newPod), changeRule(u, live, changedPod)...)
	case k.among([]string{"deployments.apps", "replicasets.apps", "daemonsets.apps"}) && k.Version == "v1":
		return sameSelector(u, live)
	case k.isBudget() && k.Version == "v1":
		return typedRule(u, budget)
	}
	return nil
}

// sameSelector says that a workload's selector can't change
// (kubernetes/pkg/registry/apps, ValidateUpdate of the strategies).
func sameSelector(u unstructured.Unstructured, live *object) field.ErrorList {
	is, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "selector")
	was, _, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "selector")
	return apivalidation.ValidateImmutableField(is, was, field.NewPath("spec", "selector"))
}

// checkStatus finds what is wrong with a change of a status.
func (k kind) checkStatus(u unstructured.Unstructured, live *object) field.ErrorList {
	switch {
	case k.isNode():
		return changeRule(u, live, changedNode)
	case k.isPod():
		return changeRule(u, live, changedPodStatus)
	case k.isBudget() && k.Version == "v1":
		return typedRule(u, budgetStatus)
	}
	return nil
}

func typedRule[T corev1.Node | corev1.Pod | policyv1.PodDisruptionBudget](u unstructured.Unstructured, rule func(*T) field.ErrorList) field.ErrorList {
	obj, err := as[T](u)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return rule(obj)
}

func changeRule[T corev1.Node | corev1.Pod](u unstructured.Unstructured, live *object, rule func(obj, old *T) field.ErrorList) field.ErrorList {
	old, err := as[T](live.Unstructured)
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return typedRule(u, func(obj *T) field.ErrorList { return rule(obj, old) })
}
