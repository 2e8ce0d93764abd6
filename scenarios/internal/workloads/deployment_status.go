package workloads

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// timedOut is the reason of the condition Progressing of a rollout that made no progress for too long.
const timedOut = "ProgressDeadlineExceeded"

// rolloutDone is the reason of the condition Progressing of a rollout that is done.
const rolloutDone = "NewReplicaSetAvailable"

// status counts the pods of the Deployment's ReplicaSets (calculateStatus of pkg/controller/deployment/sync.go).
func (r *rollout) status() appsv1.DeploymentStatus {
	d, all := r.deployment(), r.all()
	s := appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation,
		Replicas:           sum(all, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.Replicas }),
		ReadyReplicas:      sum(all, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.ReadyReplicas }),
		AvailableReplicas:  sum(all, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas }),
		CollisionCount:     d.Status.CollisionCount,
		Conditions:         slices.Clone(d.Status.Conditions),
	}
	if r.next != nil {
		s.UpdatedReplicas = set(r.next).Status.Replicas
	}
	s.UnavailableReplicas = max(sum(all, wanted)-s.AvailableReplicas, 0)
	terminating := sum(all, func(rs *appsv1.ReplicaSet) (n int32) {
		if rs.Status.TerminatingReplicas != nil {
			n = *rs.Status.TerminatingReplicas
		}
		return n
	})
	s.TerminatingReplicas = &terminating
	if _, unavailable := limits(d); s.AvailableReplicas >= *d.Spec.Replicas-unavailable {
		r.say(&s, appsv1.DeploymentAvailable, corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability.")
	} else {
		r.say(&s, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
	}
	return s
}

// report writes the status, as change makes it; nil leaves it. It reports whether it differed.
func (r *rollout) report(change func(*appsv1.DeploymentStatus)) bool {
	s := r.status()
	if change != nil {
		change(&s)
	}
	if equality.Semantic.DeepEqual(r.deployment().Status, s) {
		return false
	}
	return updateStatus(r.Actor, r.o, func(d *appsv1.Deployment) { d.Status = s })
}

// progress writes the status during a rollout: how far it is, and whether it goes on (syncRolloutStatus of
// pkg/controller/deployment/progress.go). It returns when the rollout may be too late.
func (r *rollout) progress() (again time.Duration) {
	d := r.deployment()
	was := condition(&d.Status, appsv1.DeploymentProgressing)
	wrote := r.report(func(s *appsv1.DeploymentStatus) {
		r.failure(s)
		about := fmt.Sprintf("Deployment %q", d.Name)
		if r.next != nil {
			about = fmt.Sprintf("ReplicaSet %q", r.next.doc.Name)
		}
		if !hasDeadline(d) {
			unsay(s, appsv1.DeploymentProgressing)
			return
		}
		if s.Replicas == s.UpdatedReplicas && was != nil && was.Reason == rolloutDone {
			return
		}
		switch {
		case rolledOut(d, s):
			r.say(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, rolloutDone, about+" has successfully progressed.")
		case progressed(&d.Status, s):
			// The time of the last update moves with every progress.
			unsay(s, appsv1.DeploymentProgressing)
			r.say(s, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", about+" is progressing.")
			if now := condition(s, appsv1.DeploymentProgressing); was != nil && was.Status == corev1.ConditionTrue {
				now.LastTransitionTime = was.LastTransitionTime
			}
		case r.late(d, s):
			r.say(s, appsv1.DeploymentProgressing, corev1.ConditionFalse, timedOut, about+" has timed out progressing.")
		}
	})
	if wrote {
		return 0
	}
	return r.stuck()
}

// failure says why a ReplicaSet can't create pods, of the new one first (getReplicaFailures).
func (r *rollout) failure(s *appsv1.DeploymentStatus) {
	all := r.all()
	if r.next != nil {
		all = append([]*object{r.next}, all...)
	}
	for _, o := range all {
		for _, c := range set(o).Status.Conditions {
			if c.Type != appsv1.ReplicaSetReplicaFailure {
				continue
			}
			sayAt(s, c.LastTransitionTime, appsv1.DeploymentReplicaFailure, c.Status, c.Reason, c.Message)
			return
		}
	}
	unsay(s, appsv1.DeploymentReplicaFailure)
}

// stuck returns when to look whether a rollout is too late (requeueStuckDeployment).
func (r *rollout) stuck() time.Duration {
	d := r.deployment()
	is := condition(&d.Status, appsv1.DeploymentProgressing)
	if !hasDeadline(d) || is == nil || rolledOut(d, &d.Status) || is.Reason == timedOut {
		return 0
	}
	left := is.LastUpdateTime.Add(time.Duration(*d.Spec.ProgressDeadlineSeconds) * time.Second).Sub(r.now())
	return max(left, 0) + time.Second
}

// rolledOut reports whether all pods are updated and available, and no old ones run (DeploymentComplete).
func rolledOut(d *appsv1.Deployment, s *appsv1.DeploymentStatus) bool {
	want := *d.Spec.Replicas
	return s.UpdatedReplicas == want && s.Replicas == want && s.AvailableReplicas == want && s.ObservedGeneration >= d.Generation
}

// progressed reports whether a rollout is further than before (DeploymentProgressing).
func progressed(was, is *appsv1.DeploymentStatus) bool {
	return is.UpdatedReplicas > was.UpdatedReplicas || is.Replicas-is.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		is.ReadyReplicas > was.ReadyReplicas || is.AvailableReplicas > was.AvailableReplicas
}

// late reports whether a rollout has made no progress for too long (DeploymentTimedOut).
func (r *rollout) late(d *appsv1.Deployment, s *appsv1.DeploymentStatus) bool {
	is := condition(s, appsv1.DeploymentProgressing)
	if is == nil || is.Reason == rolloutDone {
		return false
	}
	return is.Reason == timedOut || is.LastUpdateTime.Add(time.Duration(*d.Spec.ProgressDeadlineSeconds)*time.Second).Before(r.now())
}

func hasDeadline(d *appsv1.Deployment) bool {
	return d.Spec.ProgressDeadlineSeconds != nil && *d.Spec.ProgressDeadlineSeconds != 1<<31-1
}

func condition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}

// say sets a condition now.
func (r *rollout) say(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	sayAt(s, r.stamp(), kind, status, reason, message)
}

// sayAt sets a condition. One with the same status and reason stays (SetDeploymentCondition).
func sayAt(s *appsv1.DeploymentStatus, now metav1.Time, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason, message string) {
	c := appsv1.DeploymentCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now}
	if was := condition(s, kind); was != nil && was.Status == status {
		if was.Reason == reason {
			return
		}
		c.LastTransitionTime = was.LastTransitionTime
	}
	unsay(s, kind)
	s.Conditions = append(s.Conditions, c)
}

func unsay(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c appsv1.DeploymentCondition) bool { return c.Type == kind })
}
