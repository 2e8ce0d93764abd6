package kubedefaults

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SelectJob gives a new Job a selector that only its own pods have, unless its author has one (generateSelector of
// pkg/registry/batch/job/strategy.go). The Job has its name and UID. shared says that it has no labels of its own, but those
// of its pods (SetDefaults_Job of pkg/apis/batch/v1/defaults.go has both be one map).
func SelectJob(job *batchv1.Job, shared bool) {
	if t := &job.Spec.Template; job.Spec.ManualSelector == nil || !*job.Spec.ManualSelector {
		own := map[string]string{
			"job-name": job.Name, batchv1.JobNameLabel: job.Name, "controller-uid": string(job.UID), batchv1.ControllerUidLabel: string(job.UID),
		}
		maps.Copy(own, t.Labels)
		t.Labels = own
		if job.Spec.Selector == nil {
			job.Spec.Selector = &metav1.LabelSelector{}
		}
		if job.Spec.Selector.MatchLabels == nil {
			job.Spec.Selector.MatchLabels = map[string]string{}
		}
		if _, has := job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !has {
			job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(job.UID)
		}
	}
	if shared {
		job.Labels = maps.Clone(job.Spec.Template.Labels)
	}
}
