package workloads

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// intervals are indexes of a Job's pods, in order, as a status has them: "0,2-5" (pkg/controller/job/indexed_job_utils.go).
type intervals []interval

type interval struct{ first, last int }

// parseIndexes reads intervals, up to the number of completions. What can't be read is left out.
func parseIndexes(text string, completions int) (is intervals) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		if a >= completions {
			break
		}
		b := a
		if ranged {
			if b, err = strconv.Atoi(last); err != nil {
				continue
			}
			b = min(b, completions-1)
		}
		is = is.add(interval{a, b})
	}
	return is
}

// add adds an interval that doesn't begin before the last one does.
func (is intervals) add(more interval) intervals {
	if n := len(is) - 1; n >= 0 && more.first <= is[n].last+1 {
		is[n].last = max(is[n].last, more.last)
		return is
	}
	return append(is, more)
}

// with adds indexes in order.
func (is intervals) with(indexes []int) intervals {
	more := make(intervals, len(indexes))
	for i, n := range indexes {
		more[i] = interval{n, n}
	}
	return is.merge(more)
}

func (is intervals) merge(more intervals) (all intervals) {
	both := append(slices.Clone(is), more...)
	slices.SortStableFunc(both, func(a, b interval) int { return cmp.Compare(a.first, b.first) })
	for _, i := range both {
		all = all.add(i)
	}
	return all
}

func (is intervals) total() (n int) {
	for _, i := range is {
		n += i.last - i.first + 1
	}
	return n
}

func (is intervals) has(n int) bool {
	return slices.ContainsFunc(is, func(i interval) bool { return i.first <= n && n <= i.last })
}

func (is intervals) String() string {
	var b strings.Builder
	for _, i := range is {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(i.first))
		switch i.last - i.first {
		case 0:
			continue
		case 1:
			b.WriteByte(',')
		default:
			b.WriteByte('-')
		}
		b.WriteString(strconv.Itoa(i.last))
	}
	return b.String()
}

// indexOf is the index of a pod, -1 where it has none.
func indexOf(p *kube.Pod) int {
	n, err := strconv.Atoi(p.Annotations.Get(batchv1.JobCompletionIndexAnnotation))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// index is indexOf for those that the Job has.
func (j *jobSync) index(p *kube.Pod) int {
	if j.job.Spec.Completions == nil {
		return -1
	}
	if n := indexOf(p); n < int(*j.job.Spec.Completions) {
		return n
	}
	return -1
}

// indexesOf are the indexes of some pods, in order.
func indexesOf(pods []*kube.Pod, which func(*kube.Pod) bool) (all []int) {
	for _, p := range pods {
		if n := indexOf(p); n >= 0 && which(p) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// succeededIndexes are those of the status, and with those of the pods that it hasn't counted.
func (j *jobSync) succeededIndexes() (had, has intervals) {
	had = parseIndexes(j.job.Status.CompletedIndexes, int(*j.job.Spec.Completions))
	return had, had.with(indexesOf(j.pods, func(p *kube.Pod) bool {
		return p.Phase == string(corev1.PodSucceeded) && j.index(p) >= 0 && p.HasFinalizer(jobTracking)
	}))
}

// indexesFailed are those that have failed too often, or by policy (calculateFailedIndexes).
func (j *jobSync) indexesFailed() intervals {
	var had intervals
	if s := j.job.Status.FailedIndexes; s != nil {
		had = parseIndexes(*s, int(*j.job.Spec.Completions))
	}
	return had.with(indexesOf(j.pods, func(p *kube.Pod) bool {
		if j.index(p) < 0 || !p.HasFinalizer(jobTracking) || !j.hasFailed(p) {
			return false
		}
		_, counts, action := matchPolicy(j.job.Spec.PodFailurePolicy, p)
		return action == batchv1.PodFailurePolicyActionFailIndex || counts && failuresOf(p, batchv1.JobIndexFailureCountAnnotation) >= *j.job.Spec.BackoffLimitPerIndex
	}))
}

// failuresOf is a count of failures of a pod's index before it.
func failuresOf(p *kube.Pod, annotation string) int32 {
	n, err := strconv.Atoi(p.Annotations.Get(annotation))
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}

func allFailures(p *kube.Pod) int32 {
	return failuresOf(p, batchv1.JobIndexFailureCountAnnotation) + failuresOf(p, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// heldBack are the last failed pods of indexes that have no other yet (getPodsWithDelayedDeletionPerIndex).
func (j *jobSync) heldBack() map[int]*kube.Pod {
	running := indexesOf(j.active, func(*kube.Pod) bool { return true })
	held := map[int]*kube.Pod{}
	for _, p := range j.pods {
		i := j.index(p)
		if i < 0 || !p.HasFinalizer(jobTracking) || !j.hasFailed(p) || j.indexes.has(i) || j.failedIndexes.has(i) || slices.Contains(running, i) {
			continue
		}
		if was := held[i]; was == nil || allFailures(was) <= allFailures(p) && endOf(p) >= endOf(was) {
			held[i] = p
		}
	}
	return held
}

// inherit has a pod count the failures of the one that it replaces (getNewIndexFailureCounts).
func (j *jobSync) inherit(p, was *kube.Pod) {
	failures, ignored := int32(0), int32(0)
	if was != nil {
		failures = failuresOf(was, batchv1.JobIndexFailureCountAnnotation)
		ignored = failuresOf(was, batchv1.JobIndexIgnoredFailureCountAnnotation)
		if _, counts, _ := matchPolicy(j.job.Spec.PodFailurePolicy, was); counts {
			failures++
		} else {
			ignored++
		}
	}
	p.Annotations = p.Annotations.With(batchv1.JobIndexFailureCountAnnotation, strconv.Itoa(int(failures)))
	if ignored > 0 {
		p.Annotations = p.Annotations.With(batchv1.JobIndexIgnoredFailureCountAnnotation, strconv.Itoa(int(ignored)))
	}
}

// pending are the first indexes that need a pod (firstPendingIndexes).
func (j *jobSync) pending(n int) (indexes []int) {
	taken := j.indexes.with(indexesOf(j.active, func(*kube.Pod) bool { return true }))
	if j.onlyFailed() {
		taken = taken.with(indexesOf(j.pods, func(p *kube.Pod) bool { return p.Terminating() && !p.Terminal() }))
	}
	if j.failedIndexes != nil {
		taken = taken.merge(*j.failedIndexes)
	}
	next := 0
	for _, i := range append(taken, interval{int(*j.job.Spec.Completions), math.MaxInt}) {
		for ; next < i.first && next < int(*j.job.Spec.Completions) && len(indexes) < n; next++ {
			indexes = append(indexes, next)
		}
		next = max(next, i.last)
		if next < math.MaxInt {
			next++
		}
	}
	return indexes
}

// due are those of some indexes whose back-off is over. Where none is, the Job is looked at when the first will be.
func (j *jobSync) due(indexes []int) (now []int) {
	for _, i := range indexes {
		b := backoff{}
		if was := j.held[i]; was != nil {
			b = backoff{failures: allFailures(was) + 1, last: endOf(was)}
		}
		if left := b.left(j.now()); left == 0 {
			now = append(now, i)
		} else if len(now) == 0 {
			j.again = sooner(j.again, left)
		}
	}
	return now
}

// superfluous are the active pods of an Indexed Job without an index that it has, and all but one of each index
// (appendDuplicatedIndexPodsForRemoval).
func (j *jobSync) superfluous() (gone, left []*kube.Pod) {
	same := map[int][]*kube.Pod{}
	for _, p := range j.active {
		if i := j.index(p); i >= 0 {
			same[i] = append(same[i], p)
		} else {
			gone = append(gone, p)
		}
	}
	for _, i := range indexesOf(j.active, func(p *kube.Pod) bool { return j.index(p) >= 0 }) {
		ranked := j.first(same[i], len(same[i]))
		gone = append(gone, ranked[:len(ranked)-1]...)
		left = append(left, ranked[len(ranked)-1])
	}
	return gone, left
}
