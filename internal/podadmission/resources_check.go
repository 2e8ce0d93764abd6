package podadmission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CheckResources says what is wrong with what a container asks for, as a LimitRange may have made it: names that no container
// has, amounts that nothing has, and more than it may have (validateResourceRequirements of
// pkg/apis/core/validation/validation.go, but for claims). Kubernetes takes the names of a list in any order, this in theirs.
func CheckResources(r *corev1.ResourceRequirements, at *field.Path) (errs field.ErrorList) {
	limits, requests := at.Child("limits"), at.Child("requests")
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		errs = append(errs, checkResource(name, r.Limits[name], limits.Key(string(name)))...)
		errs = append(errs, checkPages(name, r.Limits[name], limits.Key(string(name)))...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		asked := r.Requests[name]
		errs = append(errs, checkResource(name, asked, requests.Key(string(name)))...)
		most, has := r.Limits[name]
		shared := Native(name) && !huge(name)
		switch {
		case !has && !shared:
			errs = append(errs, field.Required(limits, "Limit must be set for non overcommitable resources"))
		case !has:
		case !shared && asked.Cmp(most) != 0:
			errs = append(errs, field.Invalid(requests, asked.String(), fmt.Sprintf("must be equal to %s limit of %s", name, most.String())))
		case asked.Cmp(most) > 0:
			errs = append(errs, field.Invalid(requests, asked.String(), fmt.Sprintf("must be less than or equal to %s limit of %s", name, most.String())))
		}
		errs = append(errs, checkPages(name, asked, requests.Key(string(name)))...)
	}
	if asks(r, huge) && !asks(r, func(name corev1.ResourceName) bool {
		return name == corev1.ResourceCPU || name == corev1.ResourceMemory
	}) {
		errs = append(errs, field.Forbidden(at, "HugePages require cpu or memory"))
	}
	return errs
}

// asks reports whether one of the resources that a container names is such.
func asks(r *corev1.ResourceRequirements, is func(corev1.ResourceName) bool) bool {
	for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
		for name := range list {
			if is(name) {
				return true
			}
		}
	}
	return false
}

func checkResource(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	return append(checkContainerName(name, at), checkAmount(name, q, at)...)
}

// checkName is validateResourceName.
func checkName(name corev1.ResourceName, at *field.Path) (errs field.ErrorList) {
	for _, wrong := range validation.IsQualifiedName(string(name)) {
		errs = append(errs, field.Invalid(at, name, wrong))
	}
	if len(errs) == 0 && !strings.Contains(string(name), "/") && name != corev1.ResourceStorage && !standard(name) {
		errs = append(errs, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
	}
	return errs
}

// checkContainerName is validateContainerResourceName.
func checkContainerName(name corev1.ResourceName, at *field.Path) field.ErrorList {
	if limited(name) {
		return nil
	}
	errs := checkName(name, at)
	switch plain := !strings.Contains(string(name), "/"); {
	case plain && !huge(name):
		errs = append(errs, field.Invalid(at, name, "must be a standard resource for containers"))
	case !plain && !Native(name) && !extended(name):
		errs = append(errs, field.Invalid(at, name, "doesn't follow extended resource name standard"))
	}
	return errs
}

// extended reports whether a resource is none of Kubernetes' own (IsExtendedResourceName of pkg/apis/core/helper): its name
// is one that a quota can have as well.
func extended(name corev1.ResourceName) bool {
	return !Native(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+string(name))) == 0
}

func huge(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}

// checkAmount is ValidateResourceQuantityValue: nobody asks for less than nothing, nor for a part of a device.
func checkAmount(name corev1.ResourceName, q resource.Quantity, at *field.Path) (errs field.ErrorList) {
	if q.Sign() < 0 {
		errs = append(errs, field.Invalid(at, q.String(), apivalidation.IsNegativeErrorMsg).WithOrigin("minimum"))
	}
	if (slices.Contains(whole, name) || extended(name)) && q.MilliValue()%1000 != 0 {
		errs = append(errs, field.Invalid(at, q, "must be an integer"))
	}
	return errs
}

// checkPages is validateResourceQuantityHugePageValue: the name of huge pages has their size, of which there are whole ones.
func checkPages(name corev1.ResourceName, q resource.Quantity, at *field.Path) field.ErrorList {
	size, of := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
	if !of {
		return nil
	}
	if page, err := resource.ParseQuantity(size); err == nil && page.Sign() > 0 && page.MilliValue()%1000 == 0 && q.Value()%page.Value() == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, q.String(), fmt.Sprintf("%s is not positive integer multiple of %s", q.String(), name))}
}
