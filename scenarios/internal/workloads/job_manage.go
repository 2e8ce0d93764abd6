package workloads

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// manage creates the pods that are missing and deletes those that are too many, not both in one sync (manageJob of
// pkg/controller/job/job_controller.go). The active pods are as they are then.
func (j *jobSync) manage() {
	job := j.job
	if suspended(job) {
		j.spare(len(j.active))
		return
	}
	want := *job.Spec.Parallelism
	switch {
	case job.Spec.Completions != nil:
		want = max(min(*job.Spec.Completions-j.succeeded, want), 0)
	case j.succeeded > 0:
		want = int32(len(j.active))
	}
	if j.spare(max(len(j.active)-int(want), 0)) {
		return
	}
	missing := int(want) - len(j.active)
	if j.onlyFailed() {
		missing -= int(j.terminating)
	}
	if missing <= 0 {
		return
	}
	if !perIndex(job) {
		if left := j.backoff.left(j.now()); left > 0 {
			j.again = sooner(j.again, left)
			return
		}
	}
	missing = min(missing, burst)
	var indexes []int
	if indexed(job) {
		if indexes = j.pending(missing); perIndex(job) {
			indexes = j.due(indexes)
		}
		missing = len(indexes)
	}
	j.create(missing, indexes)
}

// spare deletes so many active pods, and of an Indexed Job all that no index needs. They don't count as failed
// (deleteJobPods). It reports whether there were any.
func (j *jobSync) spare(n int) bool {
	gone, left := []*kube.Pod(nil), slices.Clone(j.active)
	if indexed(j.job) {
		gone, left = j.superfluous()
	}
	if more := n - len(gone); more > 0 {
		gone = append(gone, j.first(left, more)...)
	}
	if len(gone) > burst {
		gone = gone[:burst]
	}
	for _, p := range gone {
		if p.Ready() {
			j.ready--
		}
		j.env.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(jobTracking, false) })
		j.deletePod(j.o, p)
		j.terminating++
		j.active = slices.DeleteFunc(slices.Clone(j.active), func(q *kube.Pod) bool { return q == p })
	}
	return len(gone) > 0
}

// first are the pods that are deleted first: those that have come the least far.
func (j *jobSync) first(pods []*kube.Pod, n int) []*kube.Pod {
	// ActivePods of pkg/controller/controller_utils.go doesn't look at what else is on a node.
	ranked := controllers.RankForDeletion(pods, nil, j.env.API.Now())
	return ranked[:min(n, len(ranked))]
}

// create creates pods, each for one of the indexes where there are some.
func (j *jobSync) create(n int, indexes []int) {
	t := j.job.Spec.Template.DeepCopy()
	if !slices.Contains(t.Finalizers, jobTracking) {
		t.Finalizers = append(t.Finalizers, jobTracking)
	}
	if indexed(j.job) {
		for _, list := range [][]corev1.Container{t.Spec.InitContainers, t.Spec.Containers} {
			for i := range list {
				tellIndex(&list[i])
			}
		}
	}
	again, _ := j.batches(j.o, n, func() error {
		if len(indexes) == 0 {
			return j.createOne(t, j.generated(j.o, j.o.doc.Name+"-"), nil)
		}
		index := indexes[0]
		indexes = indexes[1:]
		middle := "-" + strconv.Itoa(index) + "-"
		name := j.o.doc.Name
		if longest := 58 - len(middle); len(name) > longest {
			name = name[:longest]
		}
		return j.createOne(t, j.generated(j.o, name+middle), func(p *kube.Pod) {
			p.Labels = p.Labels.With(batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index))
			p.Annotations = p.Annotations.With(batchv1.JobCompletionIndexAnnotation, strconv.Itoa(index))
			if perIndex(j.job) {
				j.inherit(p, j.held[index])
			}
		}, fmt.Appendf(nil, `{"metadata":{"generateName":%q},"spec":{"hostname":%q}}`, name+middle, j.o.doc.Name+"-"+strconv.Itoa(index)))
	})
	j.again = sooner(j.again, again)
}

func (j *jobSync) createOne(t *corev1.PodTemplateSpec, name string, change func(*kube.Pod), extra ...[]byte) error {
	err := j.created(j.o, name, j.createPod(j.o, t, name, change, extra...))
	if err == nil {
		j.active = append(j.active, j.env.API.Pod(j.o.doc.Namespace, name))
	}
	return err
}

// tellIndex has a container know the index of its pod (addCompletionIndexEnvVariable of
// pkg/controller/job/indexed_job_utils.go).
func tellIndex(c *corev1.Container) {
	const name = "JOB_COMPLETION_INDEX"
	if slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name }) {
		return
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
		APIVersion: "v1", FieldPath: "metadata.labels['" + batchv1.JobCompletionIndexAnnotation + "']",
	}}})
}

// A backoff is what is known of a Job's failures since its last success (pkg/controller/job/backoff_utils.go).
type backoff struct {
	failures int32
	last     kube.Instant
}

const (
	firstBackoff   = 10 * time.Second // DefaultJobPodFailureBackOff
	longestBackoff = 10 * time.Minute // MaxJobPodFailureBackOff
)

// after is the back-off once more pods have ended.
func (b backoff) after(succeeded, failed []*kube.Pod) backoff {
	byEnd := func(a, b *kube.Pod) int { return cmp.Compare(endOf(a), endOf(b)) }
	if len(succeeded) == 0 {
		if len(failed) > 0 {
			b.failures += int32(len(failed))
			b.last = endOf(slices.MaxFunc(failed, byEnd))
		}
		return b
	}
	b = backoff{}
	success := endOf(slices.MaxFunc(succeeded, byEnd))
	for _, p := range failed {
		if end := endOf(p); end > success {
			b.failures++
			b.last = max(b.last, end)
		}
	}
	return b
}

// left is how long no pod is created.
func (b backoff) left(now time.Time) time.Duration {
	if b.failures == 0 {
		return 0
	}
	wait := longestBackoff
	if b.failures < 7 { // six times twice as long is more
		wait = firstBackoff << (b.failures - 1)
	}
	return max(wait-now.Sub(b.last.Time()), 0)
}

// endOf is when a pod has ended: with the last of its containers, or else when it was Ready no longer, or its deletion
// was asked for (getFinishedTime).
func endOf(p *kube.Pod) kube.Instant {
	last := endOfContainers(p)
	if c := p.Conditions.Get(string(corev1.PodReady)); last == 0 && c != nil && c.Status == "False" && c.Transition != 0 {
		last = c.Transition.Second()
	}
	switch {
	case last != 0:
		return last
	case p.Terminating():
		return p.Deleting.Second().Add(-time.Duration(p.Grace) * time.Second)
	}
	return p.Created.Second()
}

// endOfContainers is when the last container ended, sidecars included; 0 where one hasn't.
func endOfContainers(p *kube.Pod) (last kube.Instant) {
	for i := range p.Containers {
		s := &p.Containers[i].State
		if s.Kind != "terminated" || s.Finished == 0 {
			return 0
		}
		last = max(last, s.Finished.Second())
	}
	for i, c := range p.Template.Init() {
		if !c.Sidecar || i >= len(p.Init) {
			continue
		}
		s := &p.Init[i].State
		if s.Kind != "terminated" || s.Finished == 0 {
			return 0
		}
		last = max(last, s.Finished.Second())
	}
	return last
}
