package writes

import (
	policyv1 "k8s.io/api/policy/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// budget is ValidatePodDisruptionBudgetSpec of
// kubernetes/pkg/apis/policy/validation/validation.go.
func budget(b *policyv1.PodDisruptionBudget) field.ErrorList {
	at := field.NewPath("spec")
	var errs field.ErrorList
	if b.Spec.MinAvailable != nil && b.Spec.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(at, innerSpec{b.Spec.MinAvailable, b.Spec.Selector, b.Spec.MaxUnavailable, b.Spec.UnhealthyPodEvictionPolicy}, "minAvailable and maxUnavailable cannot be both set"))
	}
	errs = append(errs, positive(b.Spec.MinAvailable, at.Child("minAvailable"))...)
	errs = append(errs, positive(b.Spec.MaxUnavailable, at.Child("maxUnavailable"))...)
	errs = append(errs, metav1validation.ValidateLabelSelector(b.Spec.Selector, metav1validation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
	if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil && *p != policyv1.IfHealthyBudget && *p != policyv1.AlwaysAllow {
		errs = append(errs, field.NotSupported(at.Child("unhealthyPodEvictionPolicy"), *p, []policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}))
	}
	return errs
}

// innerSpec is the server's own type, as its messages print it.
type innerSpec struct {
	MinAvailable               *intstr.IntOrString
	Selector                   *metav1.LabelSelector
	MaxUnavailable             *intstr.IntOrString
	UnhealthyPodEvictionPolicy *policyv1.UnhealthyPodEvictionPolicyType
}

// positive is ValidatePositiveIntOrPercent and IsNotMoreThan100Percent of
// kubernetes/pkg/apis/apps/validation/validation.go.
func positive(n *intstr.IntOrString, at *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	if n.Type == intstr.Int {
		return apivalidation.ValidateNonnegativeField(int64(n.IntVal), at)
	}
	var errs field.ErrorList
	for _, wrong := range validation.IsValidPercent(n.StrVal) {
		errs = append(errs, field.Invalid(at, n, wrong))
	}
	if percent, err := intstr.GetScaledValueFromIntOrPercent(n, 100, false); err == nil && percent > 100 {
		errs = append(errs, field.Invalid(at, n, "must not be greater than 100%"))
	}
	return errs
}

// budgetStatus is ValidatePodDisruptionBudgetStatusUpdate.
func budgetStatus(b *policyv1.PodDisruptionBudget) field.ErrorList {
	at := field.NewPath("status")
	errs := metav1validation.ValidateConditions(b.Status.Conditions, at.Child("conditions"))
	for _, n := range []struct {
		value int32
		name  string
	}{
		{b.Status.DisruptionsAllowed, "disruptionsAllowed"}, {b.Status.CurrentHealthy, "currentHealthy"},
		{b.Status.DesiredHealthy, "desiredHealthy"}, {b.Status.ExpectedPods, "expectedPods"},
	} {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(n.value), at.Child(n.name))...)
	}
	return errs
}
