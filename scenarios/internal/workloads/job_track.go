package workloads

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// mostUncounted bounds the pods that a status names until they are counted (MaxUncountedPods of
// pkg/controller/job/job_controller.go).
const mostUncounted = 500

// track counts each pod that has ended once: the status names it, then its finalizer goes, then the status counts it
// (trackJobStatusAndRemoveFinalizers). flush says that the status has changed already.
func (j *jobSync) track(flush bool) {
	job := j.job
	uncounted := job.Status.UncountedTerminatedPods
	var done []*kube.Pod
	var newly []int
	if indexed(job) {
		slices.SortStableFunc(j.pods, func(a, b *kube.Pod) int { return cmp.Compare(indexOf(a), indexOf(b)) })
	}
	flush = j.recount() || flush
	full := false
	for _, p := range j.pods {
		failed := j.lost[p]
		if !p.HasFinalizer(jobTracking) || !j.countable(p, failed) {
			continue
		}
		done = append(done, p)
		uid, i := types.UID(p.UID), j.index(p)
		switch {
		case p.Phase == string(corev1.PodSucceeded) && !slices.Contains(uncounted.Failed, uid):
			if indexed(job) {
				if i >= 0 && !j.hadSucceeded.has(i) {
					newly, flush = append(newly, i), true
				}
			} else if !slices.Contains(uncounted.Succeeded, uid) {
				uncounted.Succeeded, flush = append(uncounted.Succeeded, uid), true
			}
		case failed || j.done != nil && j.done.Type != batchv1.JobSuccessCriteriaMet:
			if _, counts, _ := matchPolicy(job.Spec.PodFailurePolicy, p); counts && !slices.Contains(uncounted.Failed, uid) && (!indexed(job) || i >= 0) {
				uncounted.Failed, flush = append(uncounted.Failed, uid), true
			}
		}
		if len(newly)+len(uncounted.Succeeded)+len(uncounted.Failed) >= mostUncounted {
			full = true
			break
		}
	}
	if indexed(job) {
		flush = j.tellIndexes(newly) || flush
	}
	flush = j.target() || flush
	if flush {
		j.flush()
		j.o.backoff = j.backoff
	}
	for _, p := range done {
		j.env.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(jobTracking, false) })
	}
	flush = j.recount()
	over := !full && j.finish()
	if flush || over {
		j.flush()
	}
	if over {
		j.report()
	}
}

func (j *jobSync) flush() { j.write(j.o, j.job.DeepCopy(), false) }

// recount counts the pods that the status names and that have their finalizer no longer
// (cleanUncountedPodsWithoutFinalizers).
func (j *jobSync) recount() (changed bool) {
	held := map[types.UID]bool{}
	for _, p := range j.pods {
		held[types.UID(p.UID)] = !p.Gone() && p.HasFinalizer(jobTracking)
	}
	s := &j.job.Status
	count := func(list *[]types.UID, n *int32) {
		left := slices.DeleteFunc(slices.Clone(*list), func(uid types.UID) bool { return !held[uid] })
		if len(left) == len(*list) {
			return
		}
		*n += int32(len(*list) - len(left))
		if *list, changed = left, true; len(left) == 0 {
			*list = nil
		}
	}
	count(&s.UncountedTerminatedPods.Succeeded, &s.Succeeded)
	count(&s.UncountedTerminatedPods.Failed, &s.Failed)
	return changed
}

// countable reports whether a pod's end may be counted now (canRemoveFinalizer). A failed one of an index is held until
// there is another, which takes over its count of failures.
func (j *jobSync) countable(p *kube.Pod, failed bool) bool {
	switch {
	case j.job.DeletionTimestamp != nil || j.done != nil || p.Phase == string(corev1.PodSucceeded):
		return true
	case !failed:
		return false
	}
	return !perIndex(j.job) || indexOf(p) < 0 || j.held[indexOf(p)] != p
}

// tellIndexes writes the indexes that have succeeded and failed. It reports whether they differ.
func (j *jobSync) tellIndexes(newly []int) (changed bool) {
	s := &j.job.Status
	slices.Sort(newly)
	j.indexes = j.indexes.with(newly)
	changed = j.indexes.String() != s.CompletedIndexes
	s.Succeeded, s.CompletedIndexes = int32(j.indexes.total()), j.indexes.String()
	if j.failedIndexes == nil {
		changed = changed || s.FailedIndexes != nil
		s.FailedIndexes = nil
		return changed
	}
	failed := j.failedIndexes.String()
	changed = changed || s.FailedIndexes == nil || *s.FailedIndexes != failed
	s.FailedIndexes = &failed
	return changed
}

// target writes how the Job will end, before its pods have. It reports whether that is new.
func (j *jobSync) target() bool {
	if j.done == nil {
		return false
	}
	said := *j.done
	switch said.Type {
	case batchv1.JobFailureTarget:
		j.done = j.condition(batchv1.JobFailed, said.Reason, said.Message)
	case batchv1.JobSuccessCriteriaMet:
		j.done = j.condition(batchv1.JobComplete, said.Reason, said.Message)
		if jobCondition(j.job, said.Type) != nil {
			return false
		}
	default:
		return false
	}
	j.job.Status.Conditions = append(j.job.Status.Conditions, said)
	return true
}

// finish ends the Job where all its pods have ended and are counted (enactJobFinished).
func (j *jobSync) finish() bool {
	s := &j.job.Status
	if j.done == nil || len(s.UncountedTerminatedPods.Succeeded)+len(s.UncountedTerminatedPods.Failed) > 0 || j.terminating > 0 {
		return false
	}
	j.say(j.done.Type, j.done.Status, j.done.Reason, j.done.Message)
	if j.done.Type == batchv1.JobComplete {
		s.CompletionTime = &j.done.LastTransitionTime
	}
	return true
}

// report says how the Job has ended (recordJobFinished).
func (j *jobSync) report() {
	if j.done.Type != batchv1.JobComplete {
		j.record(j.o, corev1.EventTypeWarning, j.done.Reason, j.done.Message)
		return
	}
	if want := j.job.Spec.Completions; want != nil && j.job.Status.Succeeded > *want {
		j.record(j.o, corev1.EventTypeWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached")
	}
	j.record(j.o, corev1.EventTypeNormal, "Completed", "Job completed")
}
