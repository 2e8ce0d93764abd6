package workloads

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// jobPodsBatch is how long a Job's controller waits after a change of a pod, so that it counts many at once
// (syncJobBatchPeriod of pkg/controller/job/job_controller.go).
const jobPodsBatch = time.Second

// jobSync is what a sync of a Job works with.
type jobSync struct {
	*Actor
	o            *object
	job          *batchv1.Job // a copy, which is written as the sync goes on
	pods, active []*kube.Pod
	lost         map[*kube.Pod]bool // those that counted as failed when the sync began
	ready        int32
	terminating  int32
	succeeded    int32
	failed       int32
	// Of an Indexed Job: the indexes that have succeeded by the status and by the pods, and those that have failed; nil
	// where no index fails by itself.
	hadSucceeded, indexes intervals
	failedIndexes         *intervals
	held                  map[int]*kube.Pod // failed pods that wait until their index has another
	backoff               backoff
	done                  *batchv1.JobCondition
	again                 time.Duration
}

// syncJob is a Job's controller (syncJob of pkg/controller/job/job_controller.go).
func (a *Actor) syncJob(o *object) time.Duration {
	job := o.api.DeepCopyObject().(*batchv1.Job)
	if by := job.Spec.ManagedBy; by != nil && *by != batchv1.JobControllerName {
		return 0
	}
	if end := finished(job); end != nil {
		return a.expire(o, job, end)
	}
	if job.Status.UncountedTerminatedPods == nil {
		job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	j := &jobSync{Actor: a, o: o, job: job, pods: a.claim(o, nil), lost: map[*kube.Pod]bool{}}
	for _, p := range j.pods {
		j.lost[p] = j.hasFailed(p)
		switch {
		case p.Active():
			j.active = append(j.active, p)
			if p.Ready() {
				j.ready++
			}
		case p.Terminating() && !p.Terminal():
			j.terminating++
		}
	}
	succeeded, failed := j.ended()
	uncounted := job.Status.UncountedTerminatedPods
	j.succeeded = job.Status.Succeeded + int32(len(succeeded)+len(uncounted.Succeeded))
	j.failed = job.Status.Failed + j.counting(failed) + int32(len(uncounted.Failed))
	if job.Status.StartTime == nil && !suspended(job) {
		j.start()
	}
	j.backoff = o.backoff.after(succeeded, failed)
	j.evaluate()
	changed := false
	if j.done != nil {
		j.deleteActive()
	} else {
		changed = j.carryOn()
	}
	s := &job.Status
	if s.Active != int32(len(j.active)) || s.Ready == nil || *s.Ready != j.ready || s.Terminating == nil || *s.Terminating != j.terminating {
		changed = true
	}
	s.Active, s.Ready, s.Terminating = int32(len(j.active)), &j.ready, &j.terminating
	j.track(changed)
	return j.again
}

func (j *jobSync) start() {
	now := j.stamp()
	j.job.Status.StartTime = &now
}

// evaluate finds out whether the Job is over, and why: what was found before counts, then failures, then success by policy.
func (j *jobSync) evaluate() {
	job := j.job
	if c := jobCondition(job, batchv1.JobSuccessCriteriaMet); c != nil && c.Status == corev1.ConditionTrue {
		j.done = c
	} else if c := jobCondition(job, batchv1.JobFailureTarget); c != nil && c.Status == corev1.ConditionTrue {
		j.done = j.condition(batchv1.JobFailed, c.Reason, c.Message)
	} else if message := j.failedByPolicy(); message != "" {
		j.done = j.condition(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy, message)
	}
	fail := func(reason, message string) { j.done = j.condition(batchv1.JobFailureTarget, reason, message) }
	if deadline := job.Spec.ActiveDeadlineSeconds; j.done == nil {
		left := time.Hour
		if deadline != nil && job.Status.StartTime != nil && !suspended(job) {
			left = job.Status.StartTime.Add(time.Duration(*deadline) * time.Second).Sub(j.now())
		}
		switch {
		case j.failed > *job.Spec.BackoffLimit || j.restartedTooOften():
			fail(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
		case left <= 0:
			fail(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
		case deadline != nil && !suspended(job):
			j.again = sooner(j.again, left)
		}
	}
	if !indexed(job) {
		return
	}
	completions := int(*job.Spec.Completions)
	j.hadSucceeded, j.indexes = j.succeededIndexes()
	j.succeeded = int32(j.indexes.total())
	if perIndex(job) {
		failed := j.indexesFailed()
		j.failedIndexes = &failed
		if most := job.Spec.MaxFailedIndexes; j.done == nil && most != nil && failed.total() > int(*most) {
			fail(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
		} else if j.done == nil && failed.total() > 0 && failed.total()+j.indexes.total() >= completions {
			fail(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
		}
		j.held = j.heldBack()
	}
	if j.done == nil {
		if message := metBy(job.Spec.SuccessPolicy, completions, j.indexes); message != "" {
			j.done = j.condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy, message)
		}
	}
}

// deleteActive deletes the pods that still run when the Job is over.
func (j *jobSync) deleteActive() {
	for _, p := range j.active {
		if p.Ready() {
			j.ready--
		}
		j.deletePod(j.o, p)
		j.terminating++
	}
	j.active = nil
}

// carryOn creates and deletes pods, and finds out whether enough have succeeded. It reports whether a condition has
// changed.
func (j *jobSync) carryOn() (changed bool) {
	job := j.job
	managed := job.DeletionTimestamp == nil
	if managed {
		j.manage()
	}
	enough := j.succeeded > 0
	if job.Spec.Completions != nil {
		enough = j.succeeded >= *job.Spec.Completions
	}
	switch {
	case enough && len(j.active) == 0:
		j.done = j.condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
	case !managed:
	case suspended(job):
		if changed = j.say(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended"); changed {
			j.record(j.o, corev1.EventTypeNormal, "Suspended", "Job suspended")
			job.Status.StartTime = nil
		}
	default:
		if changed = j.say(batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed"); changed {
			j.record(j.o, corev1.EventTypeNormal, "Resumed", "Job resumed")
			j.start()
		}
	}
	return changed
}

func suspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

func indexed(job *batchv1.Job) bool {
	return job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
}

func perIndex(job *batchv1.Job) bool { return job.Spec.BackoffLimitPerIndex != nil }

// finished is the condition that says how a Job has ended; nil where it hasn't.
func finished(job *batchv1.Job) *batchv1.JobCondition {
	for _, kind := range [...]batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := jobCondition(job, kind); c != nil && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func jobCondition(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if job.Status.Conditions[i].Type == kind {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

func (j *jobSync) condition(kind batchv1.JobConditionType, reason, message string) *batchv1.JobCondition {
	now := j.stamp()
	return &batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now, Reason: reason, Message: message}
}

// say sets a condition, and reports whether it has changed. None begins with False (ensureJobConditionStatus).
func (j *jobSync) say(kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) bool {
	c := j.condition(kind, reason, message)
	c.Status = status
	was := jobCondition(j.job, kind)
	switch {
	case was == nil && status == corev1.ConditionFalse:
		return false
	case was == nil:
		j.job.Status.Conditions = append(j.job.Status.Conditions, *c)
	case was.Status == status && was.Reason == reason && was.Message == message:
		return false
	default:
		*was = *c
	}
	return true
}

// onlyFailed reports whether a pod is replaced when it has failed, and not before (onlyReplaceFailedPods).
func (j *jobSync) onlyFailed() bool {
	p := j.job.Spec.PodReplacementPolicy
	return p != nil && *p == batchv1.Failed || j.job.Spec.PodFailurePolicy != nil
}

// hasFailed reports whether a pod counts as failed (isPodFailed). One that is deleted may never say so.
func (j *jobSync) hasFailed(p *kube.Pod) bool {
	return p.Phase == string(corev1.PodFailed) || !j.onlyFailed() && p.Terminating() && p.Phase != string(corev1.PodSucceeded)
}

// ended are the pods that have ended and that no status has counted (getNewFinishedPods).
func (j *jobSync) ended() (succeeded, failed []*kube.Pod) {
	uncounted := j.job.Status.UncountedTerminatedPods
	for _, p := range j.pods {
		if !p.HasFinalizer(jobTracking) || indexed(j.job) && j.index(p) < 0 {
			continue
		}
		if p.Phase == string(corev1.PodSucceeded) && !slices.Contains(uncounted.Succeeded, types.UID(p.UID)) {
			succeeded = append(succeeded, p)
		}
		if j.hasFailed(p) && !slices.Contains(uncounted.Failed, types.UID(p.UID)) {
			failed = append(failed, p)
		}
	}
	return succeeded, failed
}

// restartedTooOften reports whether containers that are started again have failed too often
// (pastBackoffLimitOnFailure).
func (j *jobSync) restartedTooOften() bool {
	if j.job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	n := int32(0)
	for _, p := range j.pods {
		if p.Phase != string(corev1.PodRunning) && p.Phase != string(corev1.PodPending) {
			continue
		}
		for _, list := range [][]kube.Container{p.Init, p.Containers} {
			for i := range list {
				n += list[i].Restarts
			}
		}
	}
	return n > 0 && n >= *j.job.Spec.BackoffLimit
}

// expire deletes a Job some time after its end (pkg/controller/ttlafterfinished), with its pods first.
func (a *Actor) expire(o *object, job *batchv1.Job, end *batchv1.JobCondition) time.Duration {
	o.backoff = backoff{}
	ttl := job.Spec.TTLSecondsAfterFinished
	if ttl == nil || job.DeletionTimestamp != nil {
		return 0
	}
	if left := end.LastTransitionTime.Add(time.Duration(*ttl) * time.Second).Sub(a.now()); left > 0 {
		return left
	}
	a.remove(o, true)
	return 0
}

// untrack takes the finalizer off a pod that no Job counts any more (handleSingleOrphanPod).
func (a *Actor) untrack(p *kube.Pod) {
	if !p.HasFinalizer(jobTracking) {
		return
	}
	a.env.After(a.env.Draw(&a.stream, a.env.Timings.ControllerReact), func() {
		if p.Gone() || p.Owner != nil && a.counts(p.Owner) {
			return
		}
		a.env.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(jobTracking, false) })
	})
}

// counts reports whether a pod's owner counts it.
func (a *Actor) counts(owner *kube.Owner) bool {
	o := a.byUID[uidOf(owner)]
	if o == nil {
		return false
	}
	job, is := o.api.(*batchv1.Job)
	return is && finished(job) == nil
}
