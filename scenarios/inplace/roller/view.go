package roller

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/inplace/podupdate"
)

// stage is a pod's step in its change.
type stage int

const (
	gone stage = iota
	broken
	outdated
	updating
	updated
	goingBack
	givenUp
)

// view is a pod as the roll sees it.
type view struct {
	pod      *corev1.Pod
	stage    stage
	record   record
	progress podupdate.Progress // of updating and goingBack
	err      error              // of broken
	// available is ready and not being changed; foreign is being changed towards something else.
	available, foreign bool
	// forgotten is recorded before Roll.Since.
	forgotten bool
}

// look sorts the pods by namespace, name and UID, and says where each is.
func (r Roll) look(pods []corev1.Pod, now time.Time) []view {
	c := r.change()
	views := make([]view, 0, len(pods))
	for i := range pods {
		views = append(views, r.see(c, &pods[i], now))
	}
	slices.SortStableFunc(views, func(a, b view) int {
		return cmp.Or(cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name), cmp.Compare(a.pod.UID, b.pod.UID))
	})
	return views
}

func (r Roll) see(c change, pod *corev1.Pod, now time.Time) view {
	v := view{pod: pod}
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return v
	}
	v.available = podupdate.Ready(pod) != nil
	var at bool
	if v.record, v.err = c.read(pod); v.err == nil {
		at, v.err = c.holds(pod)
	}
	if v.err != nil {
		v.stage = broken
		return v
	}
	v.forgotten = !r.Since.IsZero() && v.record.since.Before(r.Since)
	flying := v.record.inFlight()
	v.available = v.available && !flying
	switch failed := v.record.phase == podupdate.InplaceUpdatePhaseFailed; {
	case flying && v.record.rollback && v.record.gaveUp:
		v.stage = goingBack
	case flying && !v.record.rollback && r.towards(pod, at):
		v.stage = updating
	case flying:
		v.stage, v.foreign = outdated, true
	case failed && v.record.gaveUp, failed && at:
		v.stage = givenUp
	case at:
		v.stage = updated
	case v.record.gaveUp:
		v.stage = givenUp
	default:
		v.stage = outdated
	}
	if v.stage == givenUp && v.forgotten {
		v.stage = outdated
	}
	if v.stage == updating || v.stage == goingBack {
		v.progress, v.err = c.progress(pod, now)
		if v.err != nil {
			v.stage = broken
		}
	}
	return v
}

// towards says whether what is in flight on the pod leads to this roll's target. A resize whose intention alone was
// written is not in the spec yet.
func (r Roll) towards(pod *corev1.Pod, at bool) bool {
	if at || len(r.Resources) == 0 {
		return at
	}
	s, err := r.Keys.ReadResize(pod)
	return err == nil && s.TargetResources.Equal(r.Resources)
}
