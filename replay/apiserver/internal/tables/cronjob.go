package tables

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func cronJobs() *Printer {
	spec, status := batchv1.CronJobSpec{}, batchv1.CronJobStatus{}
	return typed(cronJobCells,
		nameColumn(),
		text("Schedule", doc(spec, "schedule")),
		text("Timezone", doc(spec, "timeZone")),
		boolean("Suspend", doc(spec, "suspend")),
		integer("Active", doc(status, "active")),
		text("Last Schedule", doc(status, "lastScheduleTime")),
		ageColumn(),
		wide(containersColumn()),
		wide(imagesColumn()),
		wide(text("Selector", doc(batchv1.JobSpec{}, "selector"))),
	)
}

// cronJobCells writes suspend as a word, in spite of its column's type.
func cronJobCells(c *batchv1.CronJob, now time.Time) []any {
	suspend := "False"
	if ptr.Deref(c.Spec.Suspend, false) {
		suspend = "True"
	}
	last := none
	if c.Status.LastScheduleTime != nil {
		last = since(*c.Status.LastScheduleTime, now)
	}
	job := &c.Spec.JobTemplate.Spec
	names, images := containers(&job.Template)
	return []any{
		c.Name, c.Spec.Schedule, ptr.Deref(c.Spec.TimeZone, none), suspend, int64(len(c.Status.Active)), last,
		since(c.CreationTimestamp, now), names, images, metav1.FormatLabelSelector(job.Selector),
	}
}
