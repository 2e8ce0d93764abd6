package writes

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/internal/podadmission"
)

// newPod is the part of ValidatePodCreate of
// kubernetes/pkg/apis/core/validation/validation.go that is about what a pod
// can't do without: containers with names and images.
func newPod(p *corev1.Pod) field.ErrorList { return podSpec(&p.Spec, field.NewPath("spec")) }

func podSpec(p *corev1.PodSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(p.Containers) == 0 {
		errs = append(errs, field.Required(spec.Child("containers"), ""))
	}
	named := map[string]bool{}
	check := func(all []corev1.Container, at *field.Path) {
		for i, c := range all {
			at := at.Index(i)
			if c.Name == "" {
				errs = append(errs, field.Required(at.Child("name"), ""))
			} else {
				for _, wrong := range validation.IsDNS1123Label(c.Name) {
					errs = append(errs, field.Invalid(at.Child("name"), c.Name, wrong))
				}
			}
			if named[c.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
			}
			named[c.Name] = true
			if c.Image == "" {
				errs = append(errs, field.Required(at.Child("image"), ""))
			} else if strings.TrimSpace(c.Image) != c.Image {
				errs = append(errs, field.Invalid(at.Child("image"), c.Image, "must not have leading or trailing whitespace"))
			}
			errs = append(errs, podadmission.CheckResources(&c.Resources, at.Child("resources"))...)
		}
	}
	check(p.Containers, spec.Child("containers"))
	check(p.InitContainers, spec.Child("initContainers"))
	switch p.RestartPolicy {
	case "", corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	default:
		errs = append(errs, field.NotSupported(spec.Child("restartPolicy"), p.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	}
	if d := p.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(spec.Child("activeDeadlineSeconds"), *d, validation.InclusiveRangeError(1, math.MaxInt32)))
	}
	errs = append(errs, metav1validation.ValidateLabels(p.NodeSelector, spec.Child("nodeSelector"))...)
	if p.NodeName != "" {
		for _, wrong := range apivalidation.NameIsDNSSubdomain(p.NodeName, false) {
			errs = append(errs, field.Invalid(spec.Child("nodeName"), p.NodeName, wrong))
		}
	}
	return errs
}

// changeable are the fields of a pod's spec that may change.
var changeable = strings.Join([]string{
	"`spec.containers[*].image`",
	"`spec.initContainers[*].image`",
	"`spec.activeDeadlineSeconds`",
	"`spec.tolerations` (only additions to existing tolerations)",
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
}, ",")

// changedPod is ValidatePodUpdate, without its looser rules for pods that are
// held back by scheduling gates: those may get node selectors and affinity.
func changedPod(p, old *corev1.Pod) field.ErrorList {
	spec := field.NewPath("spec")
	errs, stop := changedContainers(p.Spec.Containers, old.Spec.Containers, spec.Child("containers"))
	if stop {
		return errs
	}
	more, stop := changedContainers(p.Spec.InitContainers, old.Spec.InitContainers, spec.Child("initContainers"))
	errs = append(errs, more...)
	if stop {
		return errs
	}
	more, stop = changedDeadline(p.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds, spec.Child("activeDeadlineSeconds"))
	errs = append(errs, more...)
	if stop {
		return errs
	}
	errs = append(errs, changedTolerations(p.Spec.Tolerations, old.Spec.Tolerations, spec.Child("tolerations"))...)
	gates := sets.New(old.Spec.SchedulingGates...)
	for i, gate := range p.Spec.SchedulingGates {
		if !gates.Has(gate) {
			errs = append(errs, field.Forbidden(spec.Child("schedulingGates").Index(i).Child("name"),
				fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
		}
	}
	munged := p.Spec.DeepCopy()
	for i := range munged.Containers {
		munged.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range munged.InitContainers {
		munged.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	munged.ActiveDeadlineSeconds, munged.SchedulingGates, munged.Tolerations = old.Spec.ActiveDeadlineSeconds, old.Spec.SchedulingGates, old.Spec.Tolerations
	if was, is := old.Spec.TerminationGracePeriodSeconds, munged.TerminationGracePeriodSeconds; was != nil && *was < 0 && is != nil && *is == 1 {
		munged.TerminationGracePeriodSeconds = was
	}
	if len(old.Spec.SchedulingGates) > 0 {
		munged.NodeSelector, munged.Affinity = old.Spec.NodeSelector, old.Spec.Affinity
	}
	if !equality.Semantic.DeepEqual(*munged, old.Spec) {
		errs = append(errs, field.Forbidden(spec, fmt.Sprintf("pod updates may not change fields other than %s\n%v", changeable, diff.Diff(old.Spec, *munged))))
	}
	return errs
}

func changedContainers(is, was []corev1.Container, at *field.Path) (errs field.ErrorList, stop bool) {
	if len(is) != len(was) {
		return field.ErrorList{field.Forbidden(at, "pod updates may not add or remove containers")}, true
	}
	for i, c := range is {
		at := at.Index(i).Child("image")
		if c.Image == "" {
			errs = append(errs, field.Required(at, ""))
		}
		if strings.TrimSpace(c.Image) != c.Image {
			errs = append(errs, field.Invalid(at, c.Image, "must not have leading or trailing whitespace"))
		}
	}
	return errs, false
}

func changedDeadline(is, was *int64, at *field.Path) (errs field.ErrorList, stop bool) {
	switch {
	case is == nil && was != nil:
		return field.ErrorList{field.Invalid(at, is, "must not update from a positive integer to nil value")}, false
	case is == nil:
		return nil, false
	case *is < 0 || *is > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, *is, validation.InclusiveRangeError(0, math.MaxInt32))}, true
	case was != nil && *was < *is:
		return field.ErrorList{field.Invalid(at, *is, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

// changedTolerations is validateOnlyAddedTolerations, without the rules for a
// toleration in itself.
func changedTolerations(is, was []corev1.Toleration, at *field.Path) field.ErrorList {
	kept := map[corev1.Toleration]bool{}
	for _, t := range is {
		t.TolerationSeconds = nil
		kept[t] = true
	}
	for _, t := range was {
		if t.TolerationSeconds = nil; !kept[t] {
			return field.ErrorList{field.Forbidden(at, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}

// changedPodStatus is the part of ValidatePodStatusUpdate about fields that
// can't change.
func changedPodStatus(p, old *corev1.Pod) field.ErrorList {
	at := field.NewPath("status")
	var errs field.ErrorList
	if n := p.Status.NominatedNodeName; n != "" && n != old.Status.NominatedNodeName && old.Spec.NodeName != "" {
		errs = append(errs, field.Forbidden(at.Child("nominatedNodeName"), "may not be set on pods that are already bound to a node"))
	}
	if old.Status.QOSClass != "" && p.Status.QOSClass != "" && p.Status.QOSClass != old.Status.QOSClass {
		errs = append(errs, apivalidation.ValidateImmutableField(p.Status.QOSClass, old.Status.QOSClass, at.Child("qosClass"))...)
	}
	return errs
}
