package controllers

import (
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

const (
	// jobTracking holds a Job's pod until the controller has counted it
	// (batchv1.JobTrackingFinalizer).
	jobTracking = "batch.kubernetes.io/job-tracking"
	// A Job's pod that replaces a failed one waits for ten seconds at first and
	// ten minutes at most (DefaultJobPodFailureBackOff and MaxJobPodFailureBackOff
	// of pkg/controller/job/job_controller.go).
	jobBackoff        = 10 * time.Second
	jobBackoffAtMost  = 10 * time.Minute
	jobBackoffDoubles = 6
)

// job keeps as many pods of a Job running as it has replicas, and as many fewer
// as have succeeded. One that somebody deletes has failed, whatever becomes of it
// (isPodFailed of pkg/controller/job/job_controller.go), and what fails is replaced
// after a while.
type job struct {
	replicaSet
	succeeded map[string]bool // by the UID of the pod
	counted   map[string]bool // those that failed while they were being deleted, or that the Job deletes itself
	failures  int             // since the last success
	notBefore time.Duration
}

func newJob(w *workload) *job {
	w.Template.Finalizers = append(w.Template.Finalizers[:len(w.Template.Finalizers):len(w.Template.Finalizers)], jobTracking)
	return &job{replicaSet: replicaSet{workload: w, component: "job-controller"}, succeeded: map[string]bool{}, counted: map[string]bool{}}
}

func (j *job) changed(c kube.Change, old, p *kube.Pod) {
	if c != kube.Added && old.Active() {
		j.active--
	}
	if c != kube.Deleted && p.Active() {
		j.active++
	}
	ends := p.Terminal() && (c == kube.Added || !old.Terminal())
	if c == kube.Modified && !j.counted[p.UID] {
		deleted := p.Terminating() && !old.Terminating() && !p.Terminal()
		switch {
		case ends && p.Phase == "Succeeded":
			j.succeeded[p.UID], j.failures = true, 0
		case ends, deleted:
			j.counted[p.UID] = deleted
			wait := min(jobBackoff<<min(j.failures, jobBackoffDoubles), jobBackoffAtMost)
			j.failures++
			j.notBefore = j.env.Now() + wait
			ends = true
		}
	}
	if c == kube.Deleted {
		delete(j.counted, p.UID)
	}
	if p.HasFinalizer(jobTracking) && ends {
		j.env.After(j.env.Draw(&j.stream, j.env.Timings.ControllerReact), func() {
			j.env.API.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(jobTracking, false) })
		})
	}
	if j.begun {
		j.react(j.sync)
	}
}

func (j *job) scaled(int) { j.react(j.sync) }

// remove deletes pods that aren't wanted any more: that is no failure.
func (j *job) remove(n int) {
	pods := j.env.API.PodsOf(j.owner.UID)
	spare := RankForDeletion(pods, pods, j.env.API.Now())
	for _, p := range spare[:min(n, len(spare))] {
		j.counted[p.UID] = true
	}
	j.replicaSet.remove(n)
}

func (j *job) sync() {
	if wait := j.notBefore - j.env.Now(); wait > 0 {
		j.waiting = j.env.Timer(wait, j.sync)
		return
	}
	switch missing := j.Replicas - len(j.succeeded) - j.active; {
	case missing > 0:
		for range min(missing, burstReplicas) {
			j.one(j.generated())
		}
	case missing < 0:
		j.remove(min(-missing, burstReplicas))
	}
}
