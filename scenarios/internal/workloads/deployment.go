package workloads

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rollout is what a sync of a Deployment works with.
type rollout struct {
	*Actor
	o    *object
	next *object   // the ReplicaSet of the Deployment's template, nil where there is none yet
	olds []*object // its other ReplicaSets, the oldest first
}

// syncDeployment is a Deployment's controller (syncDeployment of pkg/controller/deployment/deployment_controller.go).
func (a *Actor) syncDeployment(o *object) time.Duration {
	r := &rollout{Actor: a, o: o}
	if d := r.deployment(); equality.Semantic.DeepEqual(d.Spec.Selector, &metav1.LabelSelector{}) {
		a.record(o, corev1.EventTypeWarning, "SelectingAll", "This deployment is selecting all pods. A non-empty selector is required.")
		updateStatus(a, o, func(d *appsv1.Deployment) { d.Status.ObservedGeneration = d.Generation })
		return 0
	}
	r.find()
	if r.deployment().DeletionTimestamp != nil {
		r.revise(false)
		r.report(nil)
		return 0
	}
	r.pauses()
	switch {
	case r.deployment().Spec.Paused:
		r.resize()
	case r.rollsBack():
		r.rollBack()
	case r.resized():
		r.resize()
	case r.deployment().Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType:
		return r.recreate()
	default:
		return r.roll()
	}
	return 0
}

// deployment is the Deployment as it is now.
func (r *rollout) deployment() *appsv1.Deployment { return r.o.api.(*appsv1.Deployment) }

func set(o *object) *appsv1.ReplicaSet { return o.api.(*appsv1.ReplicaSet) }

// find finds the Deployment's ReplicaSets. It adopts those that it selects and that nothing controls, and releases those
// of its own that it selects no longer (getReplicaSetsForDeployment).
func (r *rollout) find() {
	d := r.deployment()
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return
	}
	var all []*object
	for _, o := range slices.Clone(r.within[place{"replicasets", d.Namespace}]) {
		c := metav1.GetControllerOfNoCopy(o.api)
		if c != nil && c.UID != d.UID {
			continue // before the selector: a namespace has the ReplicaSets of all of its Deployments
		}
		selected := !selector.Empty() && selector.Matches(labelled{mapped(o.api.GetLabels())})
		switch {
		case c != nil && selected:
			all = append(all, o)
		case d.DeletionTimestamp != nil:
		case c != nil:
			update(r.Actor, o, func(rs *appsv1.ReplicaSet) {
				rs.OwnerReferences = slices.DeleteFunc(rs.OwnerReferences, func(c metav1.OwnerReference) bool { return c.UID == d.UID })
			})
		case selected && o.api.GetDeletionTimestamp() == nil:
			update(r.Actor, o, func(rs *appsv1.ReplicaSet) { rs.OwnerReferences = append(rs.OwnerReferences, r.o.reference()) })
			all = append(all, o)
		}
	}
	slices.SortFunc(all, byAge)
	for _, o := range all {
		if r.next == nil && sameTemplate(&set(o).Spec.Template, &d.Spec.Template) {
			r.next = o
		} else {
			r.olds = append(r.olds, o)
		}
	}
}

// reference is the owner reference of what an object controls.
func (o *object) reference() metav1.OwnerReference {
	return *metav1.NewControllerRef(o.api, o.GroupVersionKind)
}

func byAge(a, b *object) int {
	return cmp.Or(a.api.GetCreationTimestamp().Time.Compare(b.api.GetCreationTimestamp().Time), cmp.Compare(a.doc.Name, b.doc.Name))
}

// sameTemplate reports whether two templates ask for the same pods but for the label that tells ReplicaSets apart
// (EqualIgnoreHash of pkg/controller/deployment/util).
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	bare := func(m metav1.ObjectMeta) *metav1.ObjectMeta {
		m.Labels = maps.Clone(m.Labels)
		delete(m.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		return &m
	}
	return equality.Semantic.DeepEqual(&a.Spec, &b.Spec) && equality.Semantic.DeepEqual(bare(a.ObjectMeta), bare(b.ObjectMeta))
}

// mapped is a map as selectors read it.
type mapped map[string]string

func (m mapped) Get(key string) string { return m[key] }

func (m mapped) Lookup(key string) (string, bool) { v, is := m[key]; return v, is }

// all are the Deployment's ReplicaSets, the new one last.
func (r *rollout) all() []*object {
	if r.next == nil {
		return r.olds
	}
	return append(slices.Clip(r.olds), r.next)
}

// running are those of some ReplicaSets that are to have pods (FilterActiveReplicaSets).
func running(sets []*object) (some []*object) {
	for _, o := range sets {
		if *set(o).Spec.Replicas > 0 {
			some = append(some, o)
		}
	}
	return some
}

// sum adds something up of ReplicaSets.
func sum(sets []*object, of func(*appsv1.ReplicaSet) int32) (n int32) {
	for _, o := range sets {
		n += of(set(o))
	}
	return n
}

func wanted(rs *appsv1.ReplicaSet) int32 { return *rs.Spec.Replicas }

// pauses says where a Deployment is paused and when it is resumed (checkPausedConditions of
// pkg/controller/deployment/sync.go).
func (r *rollout) pauses() {
	d := r.deployment()
	was := condition(&d.Status, appsv1.DeploymentProgressing)
	if !hasDeadline(d) || was != nil && was.Reason == timedOut {
		return
	}
	paused := was != nil && was.Reason == "DeploymentPaused"
	if d.Spec.Paused == paused {
		return
	}
	updateStatus(r.Actor, r.o, func(d *appsv1.Deployment) {
		if d.Spec.Paused {
			r.say(&d.Status, appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentPaused", "Deployment is paused")
		} else {
			r.say(&d.Status, appsv1.DeploymentProgressing, corev1.ConditionUnknown, "DeploymentResumed", "Deployment is resumed")
		}
	})
}

// resized reports whether the Deployment's replicas are others than those for which its ReplicaSets were sized
// (isScalingEvent).
func (r *rollout) resized() bool {
	r.revise(false)
	for _, o := range running(r.all()) {
		if n, err := strconv.ParseUint(set(o).Annotations[desiredReplicas], 10, 31); err == nil && int32(n) != *r.deployment().Spec.Replicas {
			return true
		}
	}
	return false
}

// scaleSet sets a ReplicaSet's replicas, and what it says of its Deployment's (scaleReplicaSet). It reports whether the
// replicas were others.
func (r *rollout) scaleSet(o *object, replicas int32, always bool) bool {
	was := *set(o).Spec.Replicas
	if was == replicas && !always {
		return false
	}
	update(r.Actor, o, func(rs *appsv1.ReplicaSet) {
		*rs.Spec.Replicas = replicas
		r.size(rs)
	})
	if was == replicas {
		return false
	}
	verb := "up"
	if was > replicas {
		verb = "down"
	}
	r.record(r.o, corev1.EventTypeNormal, "ScalingReplicaSet", fmt.Sprintf("Scaled %s replica set %s from %d to %d", verb, o.doc.Name, was, replicas))
	return true
}

// size notes the Deployment's size on a ReplicaSet (SetReplicasAnnotations).
func (r *rollout) size(rs *appsv1.ReplicaSet) {
	d := r.deployment()
	if rs.Annotations == nil {
		rs.Annotations = map[string]string{}
	}
	surge, _ := limits(d)
	rs.Annotations[desiredReplicas] = fmt.Sprint(*d.Spec.Replicas)
	rs.Annotations[maxReplicas] = fmt.Sprint(*d.Spec.Replicas + surge)
}

// cleanUp deletes the oldest ReplicaSets without pods of which there are more than the Deployment keeps
// (cleanupDeployment).
func (r *rollout) cleanUp() {
	d := r.deployment()
	if d.Spec.RevisionHistoryLimit == nil || *d.Spec.RevisionHistoryLimit == 1<<31-1 {
		return
	}
	var left []*object
	for _, o := range r.olds {
		if o.api.GetDeletionTimestamp() == nil {
			left = append(left, o)
		}
	}
	surplus := len(left) - int(*d.Spec.RevisionHistoryLimit)
	if surplus <= 0 {
		return
	}
	slices.SortStableFunc(left, func(a, b *object) int { return cmp.Or(cmp.Compare(revisionOf(a), revisionOf(b)), byAge(a, b)) })
	for _, o := range left[:surplus] {
		if rs := set(o); rs.Status.Replicas == 0 && *rs.Spec.Replicas == 0 && rs.Generation <= rs.Status.ObservedGeneration {
			r.remove(o, false)
		}
	}
}
