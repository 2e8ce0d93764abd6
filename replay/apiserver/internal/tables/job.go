package tables

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"
)

func jobCells(job *batchv1.Job, now time.Time) []any {
	names, images := containers(&job.Spec.Template)
	return []any{
		job.Name, jobStatus(job), completions(job), jobDuration(&job.Status, now), since(job.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(job.Spec.Selector),
	}
}

// jobStatus is the weightiest condition that is true; being deleted comes after an end and before everything else.
func jobStatus(job *batchv1.Job) string {
	switch {
	case jobIs(job, batchv1.JobComplete):
		return "Complete"
	case jobIs(job, batchv1.JobFailed):
		return "Failed"
	case job.DeletionTimestamp != nil:
		return "Terminating"
	case jobIs(job, batchv1.JobSuspended):
		return "Suspended"
	case jobIs(job, batchv1.JobFailureTarget):
		return "FailureTarget"
	case jobIs(job, batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	default:
		return "Running"
	}
}

// jobIs reports whether the first condition of a type is true.
func jobIs(job *batchv1.Job, of batchv1.JobConditionType) bool {
	for _, condition := range job.Status.Conditions {
		if condition.Type == of {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// completions counts the pods that succeeded. A job without a number of completions is a work queue: it is complete
// when one has. A job with neither completions nor parallelism has one of each (pkg/apis/batch/v1/defaults.go).
func completions(job *batchv1.Job) string {
	succeeded, wanted, parallelism := job.Status.Succeeded, job.Spec.Completions, ptr.Deref(job.Spec.Parallelism, 1)
	switch {
	case wanted != nil:
		return fmt.Sprintf("%d/%d", succeeded, *wanted)
	case parallelism > 1:
		return fmt.Sprintf("%d/1 of %d", succeeded, parallelism)
	default:
		return fmt.Sprintf("%d/1", succeeded)
	}
}

// jobDuration returns how long the job took, or has taken so far; empty before it has started.
func jobDuration(status *batchv1.JobStatus, now time.Time) string {
	if status.StartTime == nil {
		return ""
	}
	if status.CompletionTime != nil {
		now = status.CompletionTime.Time
	}
	return duration.HumanDuration(now.Sub(status.StartTime.Time))
}

// containers are the names and the images of a template's containers, in its order.
func containers(template *corev1.PodTemplateSpec) (names, images string) {
	var n, i []string
	for _, c := range template.Spec.Containers {
		n, i = append(n, c.Name), append(i, c.Image)
	}
	return strings.Join(n, ","), strings.Join(i, ",")
}
