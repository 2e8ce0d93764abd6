package podadmission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// What a LimitRange gives a pod and forbids it (plugin/pkg/admission/limitranger/admission.go).

// setBy is the annotation that says what the plugin has set.
const setBy = "kubernetes.io/limit-ranger"

// limit gives containers that say nothing of a resource what a LimitRange says by default.
func limit(pod *corev1.Pod, r *corev1.LimitRange) {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	for i := range r.Spec.Limits {
		if l := &r.Spec.Limits[i]; l.Type == corev1.LimitTypeContainer {
			maps.Copy(requests, l.DefaultRequest)
			maps.Copy(limits, l.Default)
		}
	}
	var set []string
	give := func(containers []corev1.Container, kind string) {
		for i := range containers {
			c := &containers[i]
			if names := fill(&c.Resources.Requests, requests); names != "" {
				set = append(set, fmt.Sprintf("%s request for %s %s", names, kind, c.Name))
			}
			if names := fill(&c.Resources.Limits, limits); names != "" {
				set = append(set, fmt.Sprintf("%s limit for %s %s", names, kind, c.Name))
			}
		}
	}
	give(pod.Spec.Containers, "container")
	give(pod.Spec.InitContainers, "init container")
	if len(set) == 0 {
		return
	}
	pod.Annotations = maps.Clone(pod.Annotations)
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[setBy] = "LimitRanger plugin set: " + strings.Join(set, "; ")
}

// fill adds what a list lacks, and names it.
func fill(to *corev1.ResourceList, from corev1.ResourceList) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if _, has := (*to)[name]; has {
			continue
		}
		if len(names) == 0 {
			if *to = maps.Clone(*to); *to == nil {
				*to = corev1.ResourceList{}
			}
		}
		(*to)[name] = from[name].DeepCopy()
		names = append(names, string(name))
	}
	return strings.Join(names, ", ")
}

// CheckLimits says why the LimitRanges of its namespace forbid a new pod.
func CheckLimits(pod *corev1.Pod, ranges []*corev1.LimitRange) error {
	for _, r := range ranges {
		var errs []error
		for i := range r.Spec.Limits {
			l := &r.Spec.Limits[i]
			switch l.Type {
			case corev1.LimitTypeContainer:
				for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
					for j := range containers {
						errs = append(errs, bounds(l, containers[j].Resources.Requests, containers[j].Resources.Limits)...)
					}
				}
			case corev1.LimitTypePod:
				errs = append(errs, bounds(l, Requests(&pod.Spec), Limits(&pod.Spec))...)
			}
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return err
		}
	}
	return nil
}

// CheckClaim says why the LimitRanges of its namespace forbid a claim.
func CheckClaim(c *corev1.PersistentVolumeClaim, ranges []*corev1.LimitRange) error {
	requests := c.Spec.Resources.Requests
	for _, r := range ranges {
		var errs []error
		for i := range r.Spec.Limits {
			l := &r.Spec.Limits[i]
			if l.Type != corev1.LimitTypePersistentVolumeClaim {
				continue
			}
			errs = append(errs, each(l.Min, func(name corev1.ResourceName, least resource.Quantity) error {
				return atLeast(l.Type, name, least, requests, nil)
			})...)
			errs = append(errs, each(l.Max, func(name corev1.ResourceName, most resource.Quantity) error {
				switch asked, has := requests[name]; {
				case !has:
					return fmt.Errorf("maximum %s usage per %s is %s.  No request is specified", name, l.Type, most.String())
				case asked.Cmp(most) > 0:
					return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, l.Type, most.String(), asked.String())
				}
				return nil
			})...)
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return err
		}
	}
	return nil
}

// each checks the resources of a list in the order of their names; the server takes them in any.
func each(list corev1.ResourceList, check func(corev1.ResourceName, resource.Quantity) error) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if err := check(name, list[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func bounds(l *corev1.LimitRangeItem, requests, limits corev1.ResourceList) []error {
	return slices.Concat(
		each(l.Min, func(name corev1.ResourceName, least resource.Quantity) error {
			return atLeast(l.Type, name, least, requests, limits)
		}),
		each(l.Max, func(name corev1.ResourceName, most resource.Quantity) error {
			return atMost(l.Type, name, most, requests, limits)
		}),
		each(l.MaxLimitRequestRatio, func(name corev1.ResourceName, ratio resource.Quantity) error {
			return within(l.Type, name, ratio, requests, limits)
		}))
}

// atLeast is minConstraint.
func atLeast(of corev1.LimitType, name corev1.ResourceName, least resource.Quantity, requests, limits corev1.ResourceList) error {
	asked, asks := requests[name]
	most, has := limits[name]
	switch {
	case !asks:
		return fmt.Errorf("minimum %s usage per %s is %s.  No request is specified", name, of, least.String())
	case compare(asked, least) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but request is %s", name, of, least.String(), asked.String())
	case has && compare(most, least) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but limit is %s", name, of, least.String(), most.String())
	}
	return nil
}

// atMost is maxConstraint.
func atMost(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity, requests, limits corev1.ResourceList) error {
	asked, asks := requests[name]
	most, has := limits[name]
	switch {
	case !has:
		return fmt.Errorf("maximum %s usage per %s is %s.  No limit is specified", name, of, bound.String())
	case compare(most, bound) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but limit is %s", name, of, bound.String(), most.String())
	case asks && compare(asked, bound) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, of, bound.String(), asked.String())
	}
	return nil
}

// within is limitRequestRatioConstraint.
func within(of corev1.LimitType, name corev1.ResourceName, ratio resource.Quantity, requests, limits corev1.ResourceList) error {
	asked, most := requests[name], limits[name]
	if asked.IsZero() {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, of, ratio.String())
	}
	if most.IsZero() {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, of, ratio.String())
	}
	a, m := precise(asked, most)
	if is := float64(m) / float64(a); is*1000 > float64(ratio.MilliValue()) {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, of, ratio.String(), is)
	}
	return nil
}

// compare compares in thousandths, where they are few enough, as the server does.
func compare(a, b resource.Quantity) int {
	x, y := precise(a, b)
	return cmp.Compare(x, y)
}

// precise is requestLimitEnforcedValues.
func precise(a, b resource.Quantity) (x, y int64) {
	x, y = a.Value(), b.Value()
	if x <= resource.MaxMilliValue && y <= resource.MaxMilliValue {
		x, y = a.MilliValue(), b.MilliValue()
	}
	return x, y
}
