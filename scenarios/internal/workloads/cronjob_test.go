package workloads

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

const cron = `{"spec":{"schedule":"*/5 * * * *","jobTemplate":{"metadata":{"labels":{"made":"by-cron"}},"spec":{"template":{"metadata":{"labels":{"app":"cron"}},` + podSpec + `}}}}}`

func (r *rig) jobs() (names []string) {
	for key := range r.texts {
		if name, is := strings.CutPrefix(key, "jobs/"); is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A CronJob makes Jobs in time, and keeps some that have ended.
func TestCronJobs(t *testing.T) {
	r := newRig(t)
	r.put("cronjobs", "cron", cron)
	r.pass(10 * time.Second)
	for range 6 {
		r.pass(5 * time.Minute)
		for _, p := range r.running() {
			r.end(p, "Succeeded", 0)
		}
	}
	r.pass(4 * time.Minute)
	if got := r.jobs(); len(got) != 3 {
		t.Errorf("Jobs %v, want the last three", got)
	}
	c := &batchv1.CronJob{}
	r.read("cronjobs", "cron", c)
	if s := c.Status; len(s.Active) != 0 || s.LastScheduleTime == nil || s.LastScheduleTime.UTC().Format("15:04:05") != "22:30:00" || s.LastSuccessfulTime == nil {
		t.Errorf("status %+v", s)
	}
	job := &batchv1.Job{}
	r.read("jobs", r.jobs()[0], job)
	if !strings.HasPrefix(job.Name, "cron-") || job.Labels["made"] != "by-cron" || job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] != string(job.UID) ||
		job.Spec.Template.Labels["job-name"] != job.Name || job.Annotations[batchv1.CronJobScheduledTimestampAnnotation] == "" {
		t.Errorf("job %+v", job)
	}
	said := r.said()
	for _, want := range []string{"SuccessfulCreate: Created job cron-", "SawCompletedJob: Saw completed job: cron-", ", condition: Complete", "SuccessfulDelete: Deleted job cron-"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}

// What is still running when the next Job is due.
func TestConcurrencyOfCronJobs(t *testing.T) {
	for policy, want := range map[string]struct {
		jobs int
		said string
	}{
		"Allow":   {2, "SuccessfulCreate: Created job"},
		"Forbid":  {1, "JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid"},
		"Replace": {1, "SuccessfulDelete: Deleted job"},
	} {
		r := newRig(t)
		r.put("cronjobs", "cron", cron)
		r.put("cronjobs", "cron", `{"spec":{"concurrencyPolicy":"`+policy+`"}}`)
		r.pass(11 * time.Minute)
		if got := len(r.jobs()); got != want.jobs {
			t.Errorf("%s: %d Jobs, want %d", policy, got, want.jobs)
		}
		if said := r.said(); !strings.Contains(said, want.said) {
			t.Errorf("%s: no %q in\n%s", policy, want.said, said)
		}
	}
}

func TestCronJobsMayNotStart(t *testing.T) {
	for patch, want := range map[string]string{
		`{"spec":{"suspend":true}}`:               "",
		`{"spec":{"schedule":"nonsense"}}`:        "UnparseableSchedule: unparseable schedule: \"nonsense\" : expected exactly 5 fields, found 1: [nonsense]",
		`{"spec":{"timeZone":"Nowhere/Nothing"}}`: "UnknownTimeZone: invalid timeZone: \"Nowhere/Nothing\"",
	} {
		r := newRig(t)
		r.put("cronjobs", "cron", cron)
		r.put("cronjobs", "cron", patch)
		r.pass(11 * time.Minute)
		if got := r.jobs(); len(got) > 0 {
			t.Errorf("%s: Jobs %v", patch, got)
		}
		if said := r.said(); !strings.Contains(said, want) {
			t.Errorf("%s: no %q in\n%s", patch, want, said)
		}
	}
}
