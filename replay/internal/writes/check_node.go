package writes

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// newNode is ValidateNode of kubernetes/pkg/apis/core/validation/validation.go:
// taints, and that there are no resources below zero.
func newNode(n *corev1.Node) field.ErrorList {
	return append(checkTaints(n.Spec.Taints, field.NewPath("metadata", "taints")), checkResources(n)...)
}

// changedNode is ValidateNodeUpdate.
func changedNode(n, old *corev1.Node) field.ErrorList {
	errs := checkResources(n)
	seen := map[corev1.NodeAddress]bool{}
	for i, a := range n.Status.Addresses {
		if seen[a] {
			errs = append(errs, field.Duplicate(field.NewPath("status", "addresses").Index(i), struct{ Type, Address string }{string(a.Type), a.Address}))
		}
		seen[a] = true
	}
	if len(old.Spec.PodCIDRs) > 0 && strings.Join(old.Spec.PodCIDRs, ",") != strings.Join(n.Spec.PodCIDRs, ",") {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "podCIDRs"), `node updates may not change podCIDR except from "" to valid`))
	}
	if old.Spec.ProviderID != "" && old.Spec.ProviderID != n.Spec.ProviderID {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "providerID"), `node updates may not change providerID except from "" to valid`))
	}
	errs = append(errs, checkTaints(n.Spec.Taints, field.NewPath("metadata", "taints"))...)
	if n.Spec.DoNotUseExternalID != old.Spec.DoNotUseExternalID {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "externalID"), "may not be updated"))
	}
	return errs
}

// checkTaints is validateNodeTaints. That the path says metadata is the
// server's own slip.
func checkTaints(taints []corev1.Taint, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	type id struct {
		effect corev1.TaintEffect
		key    string
	}
	seen := map[id]bool{}
	for i, t := range taints {
		at := at.Index(i)
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, at.Child("key"))...)
		if wrong := validation.IsValidLabelValue(t.Value); len(wrong) > 0 {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, strings.Join(wrong, ";")))
		}
		switch t.Effect {
		case "":
			errs = append(errs, field.Required(at.Child("effect"), ""))
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			errs = append(errs, field.NotSupported(at.Child("effect"), t.Effect, []corev1.TaintEffect{
				corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
			}))
		}
		if seen[id{t.Effect, t.Key}] {
			twice := field.Duplicate(at, innerTaint{t.Key, t.Value, string(t.Effect), t.TimeAdded})
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		seen[id{t.Effect, t.Key}] = true
	}
	return errs
}

// innerTaint is the server's own type, as its messages print it.
type innerTaint struct {
	Key, Value, Effect string
	TimeAdded          *metav1.Time
}

// checkResources says which of a node's resources are below zero.
func checkResources(n *corev1.Node) field.ErrorList {
	var errs field.ErrorList
	check := func(of corev1.ResourceList, at *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			if q := of[name]; q.Sign() < 0 {
				errs = append(errs, field.Invalid(at.Child(string(name)), q.String(), "must be greater than or equal to 0"))
			}
		}
	}
	check(n.Status.Capacity, field.NewPath("status", "capacity"))
	check(n.Status.Allocatable, field.NewPath("status", "allocatable"))
	return errs
}
