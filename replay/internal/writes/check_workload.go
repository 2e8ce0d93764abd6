package writes

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of workloads, as far as controllers would go astray without: kubernetes/pkg/apis/apps/validation/validation.go.

// deployment is ValidateDeploymentSpec.
func deployment(d *appsv1.Deployment) field.ErrorList {
	at := field.NewPath("spec")
	errs := natural(at, "replicas", d.Spec.Replicas)
	errs = append(errs, selects(d.Spec.Selector, &d.Spec.Template, at, "deployment")...)
	errs = append(errs, strategy(&d.Spec.Strategy, at.Child("strategy"))...)
	errs = append(errs, natural(at, "minReadySeconds", &d.Spec.MinReadySeconds)...)
	errs = append(errs, natural(at, "revisionHistoryLimit", d.Spec.RevisionHistoryLimit)...)
	if deadline := d.Spec.ProgressDeadlineSeconds; deadline != nil {
		errs = append(errs, natural(at, "progressDeadlineSeconds", deadline)...)
		if *deadline <= d.Spec.MinReadySeconds {
			errs = append(errs, field.Invalid(at.Child("progressDeadlineSeconds"), *deadline, "must be greater than minReadySeconds"))
		}
	}
	return errs
}

// strategy is ValidateDeploymentStrategy.
func strategy(s *appsv1.DeploymentStrategy, at *field.Path) field.ErrorList {
	switch u := s.RollingUpdate; s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if u != nil {
			return field.ErrorList{field.Forbidden(at.Child("rollingUpdate"), "may not be specified when strategy `type` is '"+string(s.Type)+"'")}
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		if u == nil {
			return field.ErrorList{field.Required(at.Child("rollingUpdate"), "this should be defaulted and never be nil")}
		}
		at := at.Child("rollingUpdate")
		errs := positive(u.MaxUnavailable, at.Child("maxUnavailable"))
		errs = append(errs, positive(u.MaxSurge, at.Child("maxSurge"))...)
		if none(u.MaxUnavailable) && none(u.MaxSurge) {
			errs = append(errs, field.Invalid(at.Child("maxUnavailable"), u.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
		}
		return errs
	case "": // nothing was filled in
	default:
		return field.ErrorList{field.NotSupported(at, innerStrategy{s.Type, s.RollingUpdate},
			[]appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType})}
	}
	return nil
}

// innerStrategy is the server's own type, as its messages print it.
type innerStrategy struct {
	Type          appsv1.DeploymentStrategyType
	RollingUpdate *appsv1.RollingUpdateDeployment
}

// none reports whether a number or percentage is none.
func none(n *intstr.IntOrString) bool {
	v, err := intstr.GetScaledValueFromIntOrPercent(n, 100, false)
	return err == nil && v == 0
}

// replicaSet is ValidateReplicaSetSpec.
func replicaSet(s *appsv1.ReplicaSet) field.ErrorList {
	at := field.NewPath("spec")
	errs := natural(at, "replicas", s.Spec.Replicas)
	errs = append(errs, natural(at, "minReadySeconds", &s.Spec.MinReadySeconds)...)
	return append(errs, selects(s.Spec.Selector, &s.Spec.Template, at, "deployment")...)
}

// statefulSet is ValidateStatefulSetSpec.
func statefulSet(s *appsv1.StatefulSet) field.ErrorList {
	at := field.NewPath("spec")
	var errs field.ErrorList
	if p := s.Spec.PodManagementPolicy; p != "" && p != appsv1.OrderedReadyPodManagement && p != appsv1.ParallelPodManagement {
		errs = append(errs, field.Invalid(at.Child("podManagementPolicy"), p,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	switch u := s.Spec.UpdateStrategy; u.Type {
	case appsv1.OnDeleteStatefulSetStrategyType:
		if u.RollingUpdate != nil {
			errs = append(errs, field.Invalid(at.Child("updateStrategy", "rollingUpdate"), u.RollingUpdate,
				fmt.Sprintf("only allowed for updateStrategy '%s'", appsv1.RollingUpdateStatefulSetStrategyType)))
		}
	case appsv1.RollingUpdateStatefulSetStrategyType, "":
		if u.RollingUpdate != nil {
			errs = append(errs, natural(at.Child("updateStrategy", "rollingUpdate"), "partition", u.RollingUpdate.Partition)...)
		}
	default:
		errs = append(errs, field.Invalid(at.Child("updateStrategy"), u,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType)))
	}
	errs = append(errs, natural(at, "replicas", s.Spec.Replicas)...)
	errs = append(errs, natural(at, "minReadySeconds", &s.Spec.MinReadySeconds)...)
	if o := s.Spec.Ordinals; o != nil {
		errs = append(errs, natural(at.Child("ordinals"), "start", &o.Start)...)
	}
	return append(errs, selects(s.Spec.Selector, &s.Spec.Template, at, "statefulset")...)
}

// changedStatefulSet is ValidateStatefulSetUpdate.
func changedStatefulSet(s, old *appsv1.StatefulSet) field.ErrorList {
	munged := s.Spec.DeepCopy()
	munged.Replicas, munged.Template, munged.UpdateStrategy = old.Spec.Replicas, old.Spec.Template, old.Spec.UpdateStrategy
	munged.MinReadySeconds, munged.Ordinals = old.Spec.MinReadySeconds, old.Spec.Ordinals
	munged.PersistentVolumeClaimRetentionPolicy, munged.RevisionHistoryLimit = old.Spec.PersistentVolumeClaimRetentionPolicy, old.Spec.RevisionHistoryLimit
	if equality.Semantic.DeepEqual(munged, &old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "+
		"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")}
}

// daemonSet is ValidateDaemonSetSpec.
func daemonSet(s *appsv1.DaemonSet) field.ErrorList {
	at := field.NewPath("spec")
	errs := selects(s.Spec.Selector, &s.Spec.Template, at, "daemonset")
	errs = append(errs, natural(at, "minReadySeconds", &s.Spec.MinReadySeconds)...)
	switch u := s.Spec.UpdateStrategy; u.Type {
	case appsv1.OnDeleteDaemonSetStrategyType, "":
	case appsv1.RollingUpdateDaemonSetStrategyType:
		if u.RollingUpdate == nil {
			errs = append(errs, field.Required(at.Child("updateStrategy", "rollingUpdate"), ""))
			break
		}
		at := at.Child("updateStrategy", "rollingUpdate")
		errs = append(errs, positive(u.RollingUpdate.MaxUnavailable, at.Child("maxUnavailable"))...)
		errs = append(errs, positive(u.RollingUpdate.MaxSurge, at.Child("maxSurge"))...)
		switch surge := !none(u.RollingUpdate.MaxSurge); {
		case surge && !none(u.RollingUpdate.MaxUnavailable):
			errs = append(errs, field.Invalid(at.Child("maxSurge"), u.RollingUpdate.MaxSurge, "may not be set when maxUnavailable is non-zero"))
		case !surge && none(u.RollingUpdate.MaxUnavailable):
			errs = append(errs, field.Required(at.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
		}
	default:
		errs = append(errs, field.NotSupported(at.Child("updateStrategy", "type"), u.Type,
			[]appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType}))
	}
	return append(errs, natural(at, "revisionHistoryLimit", s.Spec.RevisionHistoryLimit)...)
}

// selects says what is wrong with a workload's selector and template: the pods have to be those that it selects, and run
// for ever.
func selects(s *metav1.LabelSelector, t *corev1.PodTemplateSpec, at *field.Path, kind string) field.ErrorList {
	var errs field.ErrorList
	if s == nil {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	} else {
		errs = append(errs, metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
		if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(at.Child("selector"), s, "empty selector is invalid for "+kind))
		}
	}
	in := at.Child("template")
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return append(errs, field.Invalid(at.Child("selector"), s, "invalid label selector"))
	}
	if s != nil && !selector.Empty() && !selector.Matches(labels.Set(t.Labels)) {
		errs = append(errs, field.Invalid(in.Child("metadata", "labels"), t.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, podTemplate(t, in)...)
	if p := t.Spec.RestartPolicy; p != "" && p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(in.Child("spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(in.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicaSet is not Supported"))
	}
	return errs
}

// podTemplate is ValidatePodTemplateSpec.
func podTemplate(t *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(t.Labels, at.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, at.Child("annotations"))...)
	return append(errs, podSpec(&t.Spec, at.Child("spec"))...)
}

// natural says that a number, where there is one, is 0 or more.
func natural(at *field.Path, name string, n *int32) field.ErrorList {
	if n == nil {
		return nil
	}
	return apivalidation.ValidateNonnegativeField(int64(*n), at.Child(name))
}
