package workloads

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// burst bounds the number of pods that one sync creates or deletes (BurstReplicas of
// pkg/controller/replicaset/replica_set.go).
const burst = 500

// syncReplicaSet is a ReplicaSet's controller (pkg/controller/replicaset/replica_set.go).
func (a *Actor) syncReplicaSet(o *object) time.Duration {
	rs := o.api.(*appsv1.ReplicaSet)
	pods := a.claim(o, (*kube.Pod).Active)
	status, again := a.statusOfSet(o)
	later, err := a.replicate(o, pods, *rs.Spec.Replicas, &rs.Spec.Template)
	again = sooner(again, later)
	a.fail(&status, err)
	if !equality.Semantic.DeepEqual(status, rs.Status) {
		updateStatus(a, o, func(rs *appsv1.ReplicaSet) { rs.Status = status })
	}
	return again
}

// statusOfSet counts a ReplicaSet's pods (calculateStatus of pkg/controller/replicaset/replica_set_utils.go). A sync
// counts before it creates or deletes some.
func (a *Actor) statusOfSet(o *object) (appsv1.ReplicaSetStatus, time.Duration) {
	rs := o.api.(*appsv1.ReplicaSet)
	c := a.count(o, rs.Spec.MinReadySeconds, &rs.Spec.Template)
	return appsv1.ReplicaSetStatus{
		ObservedGeneration: rs.Generation, Replicas: c.all, FullyLabeledReplicas: c.labelled, ReadyReplicas: c.ready, AvailableReplicas: c.available,
		TerminatingReplicas: &c.terminating, Conditions: rs.Status.Conditions,
	}, c.again
}

// fail says in a ReplicaSet's status why a pod could not be created, or no longer.
func (a *Actor) fail(s *appsv1.ReplicaSetStatus, err error) {
	failed := func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure }
	switch had := slices.ContainsFunc(s.Conditions, failed); {
	case err == nil && had:
		s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), failed)
	case err != nil && !had:
		s.Conditions = append(slices.Clip(s.Conditions), appsv1.ReplicaSetCondition{
			Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: err.Error(), LastTransitionTime: a.stamp(),
		})
	}
}

// syncReplicationController is that of a ReplicationController: a ReplicaSet's, with another status
// (pkg/controller/replication/conversion.go). It doesn't tell terminating pods.
func (a *Actor) syncReplicationController(o *object) time.Duration {
	rc := o.api.(*corev1.ReplicationController)
	pods := a.claim(o, (*kube.Pod).Active)
	c := a.count(o, rc.Spec.MinReadySeconds, rc.Spec.Template)
	again, err := a.replicate(o, pods, *rc.Spec.Replicas, rc.Spec.Template)
	again = sooner(c.again, again)
	updateStatus(a, o, func(rc *corev1.ReplicationController) {
		s := &rc.Status
		s.ObservedGeneration, s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas = rc.Generation, c.all, c.labelled, c.ready, c.available
		// A ReplicationController's conditions are a ReplicaSet's by another name.
		var as appsv1.ReplicaSetStatus
		for _, is := range s.Conditions {
			as.Conditions = append(as.Conditions, appsv1.ReplicaSetCondition{
				Type: appsv1.ReplicaSetConditionType(is.Type), Status: is.Status, Reason: is.Reason, Message: is.Message, LastTransitionTime: is.LastTransitionTime,
			})
		}
		a.fail(&as, err)
		s.Conditions = nil
		for _, is := range as.Conditions {
			s.Conditions = append(s.Conditions, corev1.ReplicationControllerCondition{
				Type: corev1.ReplicationControllerConditionType(is.Type), Status: is.Status, Reason: is.Reason, Message: is.Message, LastTransitionTime: is.LastTransitionTime,
			})
		}
	})
	return again
}

// counted are the pods of a ReplicaSet as its status has them. again is when more are available.
type counted struct {
	all, labelled, ready, available, terminating int32
	again                                        time.Duration
}

func (a *Actor) count(o *object, minReady int32, t *corev1.PodTemplateSpec) (c counted) {
	selects, full := &matching{selector: o.selects}, &matching{selector: labels.SelectorFromSet(t.Labels)}
	for _, p := range a.env.API.PodsOf(o.doc.UID) {
		switch {
		case p.Terminal() || !selects.matches(p):
			continue
		case p.Terminating():
			c.terminating++
			continue
		}
		c.all++
		if full.matches(p) {
			c.labelled++
		}
		if !p.Ready() {
			continue
		}
		c.ready++
		if is, in := a.available(p, minReady); is {
			c.available++
		} else {
			c.again = sooner(c.again, in)
		}
	}
	return c
}

// replicate creates and deletes pods until as many are there as are wanted (manageReplicas).
func (a *Actor) replicate(o *object, pods []*kube.Pod, want int32, t *corev1.PodTemplateSpec) (time.Duration, error) {
	missing := int(want) - len(pods)
	switch {
	case o.api.GetDeletionTimestamp() != nil:
	case missing > 0:
		return a.batches(o, min(missing, burst), func() error {
			name := a.generated(o, o.doc.Name+"-")
			return a.created(o, name, a.createPod(o, t, name, nil))
		})
	case missing < 0:
		for _, p := range a.spare(o, pods, min(-missing, burst)) {
			a.deletePod(o, p)
		}
	}
	return 0, nil
}

// spare are the pods that a ReplicaSet deletes first. Pods of the other ReplicaSets of its Deployment count where they
// share a node (getIndirectlyRelatedPods of pkg/controller/replicaset/replica_set.go).
func (a *Actor) spare(o *object, pods []*kube.Pod, n int) []*kube.Pod {
	related := pods
	if d := a.controller(o.api, ""); d != nil {
		related = nil
		for _, rs := range a.within[place{o.resource, o.doc.Namespace}] {
			if a.controller(rs.api, "") == d {
				related = append(related, a.env.API.PodsOf(rs.doc.UID)...)
			}
		}
	}
	ranked := controllers.RankForDeletion(pods, related, a.env.API.Now())
	return ranked[:min(n, len(ranked))]
}

// controller is what controls an object, nil where nothing does that is there. kind is "" for any.
func (a *Actor) controller(api apiObject, kind string) *object {
	c := metav1.GetControllerOfNoCopy(api)
	if c == nil {
		return nil
	}
	o := a.byUID[c.UID]
	if o == nil || kind != "" && o.Kind != kind {
		return nil
	}
	return o
}

// sooner is the shorter of two waits, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
