package writes

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// beginJob gives a new Job a selector that only its own pods have, unless its
// author has one (generateSelector of kubernetes/pkg/registry/batch/job/strategy.go),
// and its pods' labels where it has none of its own (SetDefaults_Job of
// kubernetes/pkg/apis/batch/v1/defaults.go has both be one map).
func (k kind) beginJob(u unstructured.Unstructured) error {
	job, err := as[batchv1.Job](u)
	if err != nil {
		return err
	}
	shared := len(job.Labels) == 0 || maps.Equal(job.Labels, job.Spec.Template.Labels)
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
		job.Labels = job.Spec.Template.Labels
	}
	full, err := k.untyped(job)
	if err != nil {
		return err
	}
	maps.Copy(u.Object, full.Object)
	return nil
}

// countTemplates counts the templates that a DaemonSet has had, in the annotation
// that its pods are labelled by (PrepareForCreate and PrepareForUpdate of
// kubernetes/pkg/registry/apps/daemonset/strategy.go). live is nil for a new one.
func countTemplates(u unstructured.Unstructured, live *object) {
	n := int64(1)
	if live != nil {
		n, _ = strconv.ParseInt(live.GetAnnotations()[appsv1.DeprecatedTemplateGeneration], 10, 64)
		is, _, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "template")
		was, _, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "template")
		if !equality.Semantic.DeepEqual(is, was) {
			n++
		}
	}
	a := u.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(n, 10)
	u.SetAnnotations(a)
}
