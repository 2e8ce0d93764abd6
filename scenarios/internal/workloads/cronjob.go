package workloads

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubedefaults"
)

// scheduleDelta is by how much later than its time a CronJob's controller looks, for clocks that differ (nextScheduleDelta
// of pkg/controller/cronjob/cronjob_controllerv2.go).
const scheduleDelta = 100 * time.Millisecond

// cronSync is what a sync of a CronJob works with.
type cronSync struct {
	*Actor
	o    *object
	cron *batchv1.CronJob // a copy, which is written at the end
	jobs []*object
}

// syncCronJob is a CronJob's controller (pkg/controller/cronjob/cronjob_controllerv2.go).
func (a *Actor) syncCronJob(o *object) time.Duration {
	c := &cronSync{Actor: a, o: o, cron: o.api.DeepCopyObject().(*batchv1.CronJob)}
	for _, j := range a.within[place{"jobs", o.doc.Namespace}] {
		if a.controller(j.api, "CronJob") == o {
			c.jobs = append(c.jobs, j)
		}
	}
	c.cleanUp()
	c.follow()
	again := time.Duration(0)
	if s := &c.cron.Spec; c.cron.DeletionTimestamp == nil && c.zone() != nil && (s.Suspend == nil || !*s.Suspend) {
		if schedule, err := kubedefaults.ParseSchedule(s.Schedule, c.zone()); err != nil {
			c.warn("UnparseableSchedule", fmt.Sprintf("unparseable schedule: %q : %s", s.Schedule, err))
		} else {
			again = c.start(schedule)
		}
	}
	updateStatus(a, o, func(cron *batchv1.CronJob) { cron.Status = c.cron.Status })
	return again
}

func (c *cronSync) warn(reason, message string) {
	c.record(c.o, corev1.EventTypeWarning, reason, message)
}

func (c *cronSync) zone() *time.Location {
	name := c.cron.Spec.TimeZone
	if name == nil {
		return time.UTC
	}
	zone, err := time.LoadLocation(*name)
	if err != nil {
		c.warn("UnknownTimeZone", fmt.Sprintf("invalid timeZone: %q: %s", *name, err))
		return nil
	}
	return zone
}

// cleanUp deletes the oldest finished Jobs that are too many (cleanupFinishedJobs).
func (c *cronSync) cleanUp() {
	limit := func(kind batchv1.JobConditionType, most *int32) {
		var some []*object
		for _, j := range c.jobs {
			if end := finished(jobOf(j)); end != nil && end.Type == kind {
				some = append(some, j)
			}
		}
		if most == nil || len(some) <= int(*most) {
			return
		}
		slices.SortFunc(some, byStart)
		for _, j := range some[:len(some)-int(*most)] {
			c.delete(j)
		}
	}
	limit(batchv1.JobComplete, c.cron.Spec.SuccessfulJobsHistoryLimit)
	limit(batchv1.JobFailed, c.cron.Spec.FailedJobsHistoryLimit)
}

func jobOf(o *object) *batchv1.Job { return o.api.(*batchv1.Job) }

// byStart puts Jobs in the order of their start, those that haven't started last.
func byStart(a, b *object) int {
	x, y := jobOf(a).Status.StartTime, jobOf(b).Status.StartTime
	switch {
	case x == nil && y != nil:
		return 1
	case x != nil && y == nil:
		return -1
	case x != nil && !x.Equal(y):
		return x.Compare(y.Time)
	}
	return cmp.Compare(a.doc.Name, b.doc.Name)
}

func (c *cronSync) delete(j *object) {
	if jobOf(j).DeletionTimestamp != nil {
		return
	}
	c.forget(j.api.GetUID())
	c.remove(j, false)
	c.jobs = slices.DeleteFunc(c.jobs, func(o *object) bool { return o == j })
	c.record(c.o, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job "+j.doc.Name)
}

func (c *cronSync) forget(uid types.UID) {
	s := &c.cron.Status
	s.Active = slices.DeleteFunc(slices.Clone(s.Active), func(r corev1.ObjectReference) bool { return r.UID == uid })
	if len(s.Active) == 0 {
		s.Active = nil
	}
}

func (c *cronSync) knows(uid types.UID) bool {
	return slices.ContainsFunc(c.cron.Status.Active, func(r corev1.ObjectReference) bool { return r.UID == uid })
}

// follow notes which Jobs run, and when the last one succeeded.
func (c *cronSync) follow() {
	s := &c.cron.Status
	for _, j := range c.jobs {
		job := jobOf(j)
		end := finished(job)
		switch known := c.knows(job.UID); {
		case end == nil && !known:
			c.warn("UnexpectedJob", "Saw a job that the controller did not create or forgot: "+job.Name)
		case end != nil && known:
			c.forget(job.UID)
			c.record(c.o, corev1.EventTypeNormal, "SawCompletedJob", fmt.Sprintf("Saw completed job: %s, condition: %s", job.Name, end.Type))
		}
		if t := job.Status.CompletionTime; end != nil && end.Type == batchv1.JobComplete && t != nil && (s.LastSuccessfulTime == nil || t.After(s.LastSuccessfulTime.Time)) {
			s.LastSuccessfulTime = t.DeepCopy()
		}
	}
	for _, r := range slices.Clone(s.Active) {
		if !slices.ContainsFunc(c.jobs, func(j *object) bool { return j.api.GetUID() == r.UID }) && c.byUID[r.UID] == nil {
			c.record(c.o, corev1.EventTypeNormal, "MissingJob", "Active job went missing: "+r.Name)
			c.forget(r.UID)
		}
	}
}

// start creates the Job whose time has come. It returns when to look again.
func (c *cronSync) start(schedule *kubedefaults.Schedule) time.Duration {
	now := c.now()
	at, missed, err := c.recent(schedule, now, true)
	if err != nil {
		c.warn("InvalidSchedule", fmt.Sprintf("invalid schedule: %s : %s", c.cron.Spec.Schedule, err))
		return 0
	}
	if at.IsZero() {
		return c.next(schedule, now)
	}
	if missed > 100 {
		c.warn("TooManyMissedTimes", "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	s := &c.cron.Status
	name := fmt.Sprintf("%s-%d", c.o.doc.Name, at.Unix()/60)
	deadline := c.cron.Spec.StartingDeadlineSeconds
	switch {
	case deadline != nil && at.Add(time.Duration(*deadline)*time.Second).Before(now):
		c.warn("MissSchedule", "Missed scheduled time to start a job: "+at.UTC().Format(time.RFC1123Z))
		return c.next(schedule, now)
	case s.LastScheduleTime != nil && s.LastScheduleTime.Time.Equal(at), slices.ContainsFunc(s.Active, func(r corev1.ObjectReference) bool { return r.Name == name }):
		return c.next(schedule, now)
	case c.cron.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(s.Active) > 0:
		c.record(c.o, corev1.EventTypeNormal, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return c.next(schedule, now)
	case c.cron.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		for _, r := range slices.Clone(s.Active) {
			if j := c.byUID[r.UID]; j != nil {
				c.delete(j)
			}
		}
	}
	c.create(name, at)
	return c.next(schedule, now)
}

// create creates the Job of a time (getJobFromTemplate2 of pkg/controller/cronjob/utils.go).
func (c *cronSync) create(name string, at time.Time) {
	t := &c.cron.Spec.JobTemplate
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.o.doc.Namespace, Name: name, Labels: maps.Clone(t.Labels),
			Annotations:     with(t.Annotations, batchv1.CronJobScheduledTimestampAnnotation, at.In(c.zone()).Format(time.RFC3339)),
			OwnerReferences: []metav1.OwnerReference{c.o.reference()},
		},
		Spec: *t.Spec.DeepCopy(),
	}
	o, is := c.createJob(job)
	if o == nil || !is && (c.controller(o.api, "") != c.o || c.knows(o.api.GetUID())) {
		return
	}
	if is {
		c.record(c.o, corev1.EventTypeNormal, "SuccessfulCreate", "Created job "+name)
	}
	c.cron.Status.Active = append(c.cron.Status.Active, corev1.ObjectReference{
		Kind: "Job", APIVersion: batchv1.SchemeGroupVersion.String(), Namespace: o.doc.Namespace, Name: name, UID: o.api.GetUID(),
		ResourceVersion: fmt.Sprint(o.doc.Version()),
	})
	c.cron.Status.LastScheduleTime = &metav1.Time{Time: at}
}

// createJob creates a Job, with the selector and the labels that the API server gives it.
func (a *Actor) createJob(job *batchv1.Job) (*object, bool) {
	bare := len(job.Labels) == 0
	return a.createWith(kinds["jobs"], job, func() {
		a.complete(job)
		kubedefaults.SelectJob(job, bare)
	})
}

// recent is the last time that has passed, the zero time where none has since the last Job was to start, and about how
// many were missed (mostRecentScheduleTime). Those before the deadline don't count where bounded says so.
func (c *cronSync) recent(s *kubedefaults.Schedule, now time.Time, bounded bool) (last time.Time, missed int64, err error) {
	from := c.since(now, bounded)
	first := s.Next(from)
	second := s.Next(first)
	switch {
	case now.Before(first):
		return time.Time{}, 0, nil
	case now.Before(second):
		return first, 0, nil
	}
	each := int64(second.Sub(first).Round(time.Second).Seconds())
	if each < 1 {
		return time.Time{}, 0, fmt.Errorf("time difference between two schedules is less than 1 second")
	}
	missed = int64(now.Sub(first).Seconds())/each + 1
	for t := s.Next(first.Add(time.Duration((missed-2)*each) * time.Second)); !t.IsZero() && !t.After(now); t = s.Next(t) {
		last = t
	}
	return last, missed, nil
}

// since is when times begin to count.
func (c *cronSync) since(now time.Time, bounded bool) time.Time {
	from := c.cron.CreationTimestamp.Time
	if last := c.cron.Status.LastScheduleTime; last != nil {
		from = last.Time
	}
	if d := c.cron.Spec.StartingDeadlineSeconds; bounded && d != nil {
		if deadline := now.Add(-time.Duration(*d) * time.Second); deadline.After(from) {
			from = deadline
		}
	}
	return from
}

// next is how long it is until the next time (nextScheduleTimeDuration).
func (c *cronSync) next(s *kubedefaults.Schedule, now time.Time) time.Duration {
	last, missed, err := c.recent(s, now, false)
	switch {
	case err != nil, last.IsZero() && missed > 0:
		last = now
	case last.IsZero():
		last = c.since(now, false)
	}
	t := s.Next(last)
	if t.IsZero() {
		return 0
	}
	return t.Add(scheduleDelta).Sub(now)
}
