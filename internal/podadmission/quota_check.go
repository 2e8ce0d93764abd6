package podadmission

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CheckQuota says what is wrong with a ResourceQuota (ValidateResourceQuotaSpec of pkg/apis/core/validation/validation.go).
func CheckQuota(q *corev1.ResourceQuota) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Hard)) {
		errs = append(errs, checkBound(name, q.Spec.Hard[name], spec.Child("hard").Key(string(name)))...)
	}
	return append(append(errs, checkScopes(&q.Spec, spec.Child("scopes"))...), checkSelector(&q.Spec, spec.Child("scopeSelector", "matchExpressions"))...)
}

// CheckQuotaUpdate says what of a ResourceQuota can't change (ValidateResourceQuotaUpdate).
func CheckQuotaUpdate(q, old *corev1.ResourceQuota) (errs field.ErrorList) {
	among := func(list []corev1.ResourceQuotaScope) func(corev1.ResourceQuotaScope) bool {
		return func(s corev1.ResourceQuotaScope) bool { return !slices.Contains(list, s) }
	}
	is, was := q.Spec.Scopes, old.Spec.Scopes
	if slices.ContainsFunc(is, among(was)) || slices.ContainsFunc(was, among(is)) {
		errs = append(errs, field.Invalid(field.NewPath("spec", "scopes"), is, apivalidation.FieldImmutableErrorMsg))
	}
	return errs
}

// whole are the names of a quota that count objects.
var whole = slices.Concat([]corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourcePersistentVolumeClaims,
	corev1.ResourceQuotas, corev1.ResourceReplicationControllers, corev1.ResourceSecrets, corev1.ResourceConfigMaps,
}, ofServices)

// standard reports whether a name is one of Kubernetes' own for quotas.
func standard(name corev1.ResourceName) bool {
	return slices.Contains(whole, name) || slices.Contains(ofPods, name) || slices.Contains(ofClaims, name) ||
		huge(name) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
}

func checkBound(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	errs := checkName(name, at)
	if !strings.Contains(string(name), "/") && !standard(name) {
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for quota"))
	}
	return append(errs, checkAmount(name, q, at)...)
}

// reach are the names that a scope may bound; of other scopes there are none.
func reach(s corev1.ResourceQuotaScope) (names []corev1.ResourceName, known bool) {
	switch s {
	case corev1.ResourceQuotaScopeBestEffort:
		return []corev1.ResourceName{corev1.ResourcePods}, true
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopePriorityClass, corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return append([]corev1.ResourceName{corev1.ResourcePods}, needed...), true
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		return ofClaims, true
	}
	return nil, false
}

// beyond counts the names of a quota that one of its scopes can't bound.
func beyond(spec *corev1.ResourceQuotaSpec, s corev1.ResourceQuotaScope) (n int) {
	names, known := reach(s)
	for name := range spec.Hard {
		if known && standard(name) && !slices.Contains(names, name) {
			n++
		}
	}
	return n
}

func opposed(scopes []corev1.ResourceQuotaScope) (pairs int) {
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			pairs++
		}
	}
	return pairs
}

func checkScopes(spec *corev1.ResourceQuotaSpec, at *field.Path) (errs field.ErrorList) {
	for _, s := range spec.Scopes {
		if _, known := reach(s); !known {
			errs = append(errs, field.Invalid(at, spec.Scopes, "unsupported scope"))
		}
		for range beyond(spec, s) {
			errs = append(errs, field.Invalid(at, spec.Scopes, "unsupported scope applied to resource"))
		}
	}
	for range opposed(spec.Scopes) {
		errs = append(errs, field.Invalid(at, spec.Scopes, "conflicting scopes"))
	}
	return errs
}

func checkSelector(spec *corev1.ResourceQuotaSpec, at *field.Path) (errs field.ErrorList) {
	if spec.ScopeSelector == nil {
		return nil
	}
	var all []corev1.ResourceQuotaScope
	for _, r := range spec.ScopeSelector.MatchExpressions {
		all = append(all, r.ScopeName)
		if _, known := reach(r.ScopeName); !known {
			errs = append(errs, field.Invalid(at.Child("scopeName"), r.ScopeName, "unsupported scope"))
		}
		for range beyond(spec, r.ScopeName) {
			errs = append(errs, field.Invalid(at, spec.ScopeSelector, "unsupported scope applied to resource"))
		}
		classed := r.ScopeName == corev1.ResourceQuotaScopePriorityClass || r.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass
		if _, known := reach(r.ScopeName); known && !classed && r.Operator != corev1.ScopeSelectorOpExists {
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "+
				"ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
		}
		switch r.Operator {
		case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
			if len(r.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
			}
		case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
			if len(r.Values) > 0 {
				errs = append(errs, field.Invalid(at.Child("values"), r.Values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
			}
		default:
			errs = append(errs, field.Invalid(at.Child("operator"), r.Operator, "not a valid selector operator"))
		}
	}
	for range opposed(all) {
		errs = append(errs, field.Invalid(at, spec.Scopes, "conflicting scopes"))
	}
	return errs
}
