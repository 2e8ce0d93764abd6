package podadmission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CheckRange says what is wrong with a LimitRange (ValidateLimitRange of pkg/apis/core/validation/validation.go).
func CheckRange(r *corev1.LimitRange) (errs field.ErrorList) {
	seen := map[corev1.LimitType]bool{}
	for i := range r.Spec.Limits {
		l, at := &r.Spec.Limits[i], field.NewPath("spec", "limits").Index(i)
		errs = append(errs, checkType(l.Type, at.Child("type"))...)
		if seen[l.Type] {
			errs = append(errs, field.Duplicate(at.Child("type"), l.Type))
		}
		seen[l.Type] = true
		errs = append(errs, checkItem(l, at)...)
	}
	return errs
}

func checkType(t corev1.LimitType, at *field.Path) (errs field.ErrorList) {
	for _, wrong := range validation.IsQualifiedName(string(t)) {
		errs = append(errs, field.Invalid(at, t, wrong))
	}
	known := t == corev1.LimitTypePod || t == corev1.LimitTypeContainer || t == corev1.LimitTypePersistentVolumeClaim
	if len(errs) == 0 && !known && !strings.Contains(string(t), "/") {
		errs = append(errs, field.Invalid(at, t, "must be a standard limit type or fully qualified"))
	}
	return errs
}

func checkItem(l *corev1.LimitRangeItem, at *field.Path) (errs field.ErrorList) {
	lists := map[string]corev1.ResourceList{
		"default": l.Default, "defaultRequest": l.DefaultRequest, "max": l.Max, "maxLimitRequestRatio": l.MaxLimitRequestRatio, "min": l.Min,
	}
	if l.Type == corev1.LimitTypePod {
		for _, list := range []string{"default", "defaultRequest"} {
			if len(lists[list]) > 0 {
				errs = append(errs, field.Forbidden(at.Child(list), "may not be specified when `type` is 'Pod'"))
			}
			delete(lists, list)
		}
	}
	names := map[corev1.ResourceName]bool{}
	for _, list := range []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
		for _, name := range slices.Sorted(maps.Keys(lists[list])) {
			errs = append(errs, checkLimitName(l.Type, name, at.Child(list).Key(string(name)))...)
			names[name] = true
		}
	}
	if l.Type == corev1.LimitTypePersistentVolumeClaim {
		_, least := l.Min[corev1.ResourceStorage]
		_, most := l.Max[corev1.ResourceStorage]
		if !least && !most {
			errs = append(errs, field.Required(at.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		errs = append(errs, checkAmounts(lists, name, at)...)
	}
	return errs
}

// checkLimitName is validateLimitRangeResourceName.
func checkLimitName(t corev1.LimitType, name corev1.ResourceName, at *field.Path) field.ErrorList {
	if t == corev1.LimitTypePod || t == corev1.LimitTypeContainer {
		return checkContainerName(name, at)
	}
	return checkName(name, at)
}

// checkAmounts compares what the lists say of one resource.
func checkAmounts(lists map[string]corev1.ResourceList, name corev1.ResourceName, at *field.Path) (errs field.ErrorList) {
	var (
		least, hasLeast     = lists["min"][name]
		most, hasMost       = lists["max"][name]
		usual, hasUsual     = lists["default"][name]
		request, hasRequest = lists["defaultRequest"][name]
		ratio, hasRatio     = lists["maxLimitRequestRatio"][name]
	)
	more := func(both bool, a, b resource.Quantity, list string, value resource.Quantity, format string) {
		if both && a.Cmp(b) > 0 {
			errs = append(errs, field.Invalid(at.Child(list).Key(string(name)), value, fmt.Sprintf(format, a.String(), b.String())))
		}
	}
	more(hasLeast && hasMost, least, most, "min", least, "min value %s is greater than max value %s")
	more(hasRequest && hasLeast, least, request, "defaultRequest", request, "min value %s is greater than default request value %s")
	more(hasRequest && hasMost, request, most, "defaultRequest", request, "default request value %s is greater than max value %s")
	more(hasRequest && hasUsual, request, usual, "defaultRequest", request, "default request value %s is greater than default limit value %s")
	more(hasUsual && hasLeast, least, usual, "default", least, "min value %s is greater than default value %s")
	more(hasUsual && hasMost, usual, most, "default", most, "default value %s is greater than max value %s")
	if hasRatio && ratio.Cmp(one) < 0 {
		errs = append(errs, field.Invalid(at.Child("maxLimitRequestRatio").Key(string(name)), ratio, fmt.Sprintf("ratio %s is less than 1", ratio.String())))
	}
	if hasRatio && hasLeast && hasMost {
		a, b := precise(least, most)
		if bound := float64(b) / float64(a); float64(ratio.MilliValue())/1000 > bound {
			errs = append(errs, field.Invalid(at.Child("maxLimitRequestRatio").Key(string(name)), ratio, fmt.Sprintf("ratio %s is greater than max/min = %f", ratio.String(), bound)))
		}
	}
	if shared := Native(name) && !huge(name); !shared && hasUsual && hasRequest && usual.Cmp(request) != 0 {
		errs = append(errs, field.Invalid(at.Child("defaultRequest").Key(string(name)), request,
			fmt.Sprintf("default value %s must equal to defaultRequest value %s in %s", usual.String(), request.String(), name)))
	}
	return errs
}
