package workloads

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// complete fills in what the API server does (pkg/apis/apps/v1/defaults.go, pkg/apis/batch/v1/defaults.go) and the
// controllers read.
func complete(api apiObject) {
	if k := kindOf(api); k != nil && k.template != nil {
		if t := k.template(api); t != nil {
			completeTemplate(t)
		}
	}
	quarter := intstr.FromString("25%")
	switch o := api.(type) {
	case *appsv1.Deployment:
		s := &o.Spec
		fillPointer(&s.Replicas, 1)
		fillPointer(&s.RevisionHistoryLimit, 10)
		fillPointer(&s.ProgressDeadlineSeconds, 600)
		fill(&s.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
		if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
			fillPointer(&s.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
			fillPointer(&s.Strategy.RollingUpdate.MaxUnavailable, quarter)
			fillPointer(&s.Strategy.RollingUpdate.MaxSurge, quarter)
		}
	case *appsv1.ReplicaSet:
		fillPointer(&o.Spec.Replicas, 1)
	case *appsv1.StatefulSet:
		s := &o.Spec
		fillPointer(&s.Replicas, 1)
		fillPointer(&s.RevisionHistoryLimit, 10)
		fill(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
		if u := &s.UpdateStrategy; u.Type == "" || u.Type == appsv1.RollingUpdateStatefulSetStrategyType {
			u.Type = appsv1.RollingUpdateStatefulSetStrategyType
			fillPointer(&u.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
			fillPointer(&u.RollingUpdate.Partition, 0)
		}
	case *appsv1.DaemonSet:
		s := &o.Spec
		fillPointer(&s.RevisionHistoryLimit, 10)
		if u := &s.UpdateStrategy; u.Type == "" || u.Type == appsv1.RollingUpdateDaemonSetStrategyType {
			u.Type = appsv1.RollingUpdateDaemonSetStrategyType
			fillPointer(&u.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
			fillPointer(&u.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
			fillPointer(&u.RollingUpdate.MaxSurge, intstr.FromInt32(0))
		}
	case *batchv1.Job:
		completeJob(&o.Spec)
	case *batchv1.CronJob:
		s := &o.Spec
		fill(&s.ConcurrencyPolicy, batchv1.AllowConcurrent)
		fillPointer(&s.Suspend, false)
		fillPointer(&s.SuccessfulJobsHistoryLimit, 3)
		fillPointer(&s.FailedJobsHistoryLimit, 1)
	case *corev1.ReplicationController:
		fillPointer(&o.Spec.Replicas, 1)
		if o.Spec.Template == nil {
			o.Spec.Template = &corev1.PodTemplateSpec{}
		}
		if len(o.Spec.Selector) == 0 {
			o.Spec.Selector = o.Spec.Template.Labels
		}
	}
}

func completeJob(s *batchv1.JobSpec) {
	if s.Completions == nil && s.Parallelism == nil {
		fillPointer(&s.Completions, 1)
	}
	fillPointer(&s.Parallelism, 1)
	limit := int32(6)
	if s.BackoffLimitPerIndex != nil {
		limit = math.MaxInt32
	}
	fillPointer(&s.BackoffLimit, limit)
	fillPointer(&s.CompletionMode, batchv1.NonIndexedCompletion)
	fillPointer(&s.Suspend, false)
	fillPointer(&s.ManualSelector, false)
	replace := batchv1.TerminatingOrFailed
	if s.PodFailurePolicy != nil {
		replace = batchv1.Failed
	}
	fillPointer(&s.PodReplacementPolicy, replace)
}

// completeTemplate is complete for a template of pods (SetDefaults_PodSpec of pkg/apis/core/v1/defaults.go).
func completeTemplate(t *corev1.PodTemplateSpec) {
	s := &t.Spec
	fill(&s.RestartPolicy, corev1.RestartPolicyAlways)
	fill(&s.DNSPolicy, corev1.DNSClusterFirst)
	fill(&s.SchedulerName, corev1.DefaultSchedulerName)
	fill(&s.DeprecatedServiceAccount, s.ServiceAccountName)
	fillPointer(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	fillPointer(&s.SecurityContext, corev1.PodSecurityContext{})
	for _, list := range [][]corev1.Container{s.InitContainers, s.Containers} {
		for i := range list {
			c := &list[i]
			fill(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
			fill(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
			fill(&c.ImagePullPolicy, pullPolicy(c.Image))
			for k := range c.Ports {
				fill(&c.Ports[k].Protocol, corev1.ProtocolTCP)
			}
		}
	}
}

func fill[T comparable](field *T, with T) {
	var none T
	if *field == none {
		*field = with
	}
}

func fillPointer[T any](field **T, with T) {
	if *field == nil {
		*field = &with
	}
}
