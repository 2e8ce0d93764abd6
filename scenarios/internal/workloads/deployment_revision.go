package workloads

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of Deployments and their ReplicaSets (pkg/controller/deployment/util).
const (
	revision        = "deployment.kubernetes.io/revision"
	revisionHistory = "deployment.kubernetes.io/revision-history"
	desiredReplicas = "deployment.kubernetes.io/desired-replicas"
	maxReplicas     = "deployment.kubernetes.io/max-replicas"
)

// ownAnnotations are those that a Deployment and its ReplicaSets don't share.
var ownAnnotations = map[string]bool{
	corev1.LastAppliedConfigAnnotation: true, revision: true, revisionHistory: true, desiredReplicas: true, maxReplicas: true,
	appsv1.DeprecatedRollbackTo: true,
}

// historyChars bounds the annotation of earlier revisions (maxRevHistoryLengthInChars of
// pkg/controller/deployment/sync.go).
const historyChars = 2000

// revisionOf is the number of a ReplicaSet's revision, 0 where it has none that can be read.
func revisionOf(o *object) int64 {
	n, _ := strconv.ParseInt(o.api.GetAnnotations()[revision], 10, 64)
	return n
}

// revise gives the new ReplicaSet the highest revision and the Deployment's annotations, and the Deployment its
// revision. Where there is no new ReplicaSet, it is created if create says so (getNewReplicaSet of
// pkg/controller/deployment/sync.go).
func (r *rollout) revise(create bool) {
	newest := int64(0)
	for _, o := range r.olds {
		newest = max(newest, revisionOf(o))
	}
	if r.next == nil {
		if create {
			r.create(newest + 1)
		}
		return
	}
	d := r.deployment()
	// Most syncs find both as they are to be, and need no copies of them to see it.
	if rs := set(r.next); rs.Spec.MinReadySeconds != d.Spec.MinReadySeconds || !maps.Equal(rs.Annotations, r.annotations(rs.Annotations, newest+1)) {
		wrote := update(r.Actor, r.next, func(rs *appsv1.ReplicaSet) {
			rs.Annotations = r.annotations(rs.Annotations, newest+1)
			rs.Spec.MinReadySeconds = d.Spec.MinReadySeconds
		})
		if wrote {
			return
		}
	}
	if n, is := d.Annotations[revision]; is && n == r.next.api.GetAnnotations()[revision] &&
		(!hasDeadline(d) || condition(&d.Status, appsv1.DeploymentProgressing) != nil) {
		return
	}
	updateStatus(r.Actor, r.o, func(d *appsv1.Deployment) {
		number(d, r.next.api.GetAnnotations()[revision])
		if hasDeadline(d) && condition(&d.Status, appsv1.DeploymentProgressing) == nil {
			r.say(&d.Status, appsv1.DeploymentProgressing, corev1.ConditionTrue, "FoundNewReplicaSet", fmt.Sprintf("Found new replica set %q", r.next.doc.Name))
		}
	})
}

func number(d *appsv1.Deployment, n string) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[revision] = n
}

// annotations are those of the new ReplicaSet, by what it has (SetNewReplicaSetAnnotations of
// pkg/controller/deployment/util).
func (r *rollout) annotations(has map[string]string, next int64) map[string]string {
	all := map[string]string{}
	maps.Copy(all, has)
	for k, v := range r.deployment().Annotations {
		if !ownAnnotations[k] {
			all[k] = v
		}
	}
	was, had := all[revision]
	n, err := strconv.ParseInt(was, 10, 64)
	if was != "" && err != nil || n >= next {
		return all
	}
	all[revision] = strconv.FormatInt(next, 10)
	if !had {
		return all
	}
	// It is an earlier one, which comes back.
	history := all[revisionHistory]
	if history == "" {
		all[revisionHistory] = was
		return all
	}
	history += "," + was
	for len(history) > historyChars {
		_, rest, more := strings.Cut(history, ",")
		if !more {
			return all
		}
		history = rest
	}
	all[revisionHistory] = history
	return all
}

// create makes the ReplicaSet of the Deployment's template.
func (r *rollout) create(n int64) {
	d := r.deployment()
	template := *d.Spec.Template.DeepCopy()
	hash := templateHash(&template, d.Status.CollisionCount)
	template.Labels = with(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	selector := d.Spec.Selector.DeepCopy()
	selector.MatchLabels = with(selector.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	name := d.Name
	if longest := 253 - 1 - len(hash); len(name) > longest {
		name = name[:longest]
	}
	replicas := r.newReplicas()
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: name + "-" + hash, Labels: maps.Clone(template.Labels), OwnerReferences: []metav1.OwnerReference{r.o.reference()},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, MinReadySeconds: d.Spec.MinReadySeconds, Selector: selector, Template: template},
	}
	rs.Annotations = r.annotations(nil, n)
	r.size(rs)
	o, is := r.Actor.create(kinds["replicasets"], rs)
	if o == nil {
		return
	}
	if !is && (r.controller(o.api, "") != r.o || !sameTemplate(&set(o).Spec.Template, &d.Spec.Template)) {
		updateStatus(r.Actor, r.o, func(d *appsv1.Deployment) {
			count := int32(1)
			if d.Status.CollisionCount != nil {
				count += *d.Status.CollisionCount
			}
			d.Status.CollisionCount = &count
		})
		return
	}
	r.next = o
	if is && replicas > 0 {
		r.record(r.o, corev1.EventTypeNormal, "ScalingReplicaSet", fmt.Sprintf("Scaled up replica set %s from 0 to %d", o.doc.Name, replicas))
	}
	updateStatus(r.Actor, r.o, func(d *appsv1.Deployment) {
		number(d, strconv.FormatInt(n, 10))
		if is && hasDeadline(d) {
			r.say(&d.Status, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetCreated", fmt.Sprintf("Created new replica set %q", o.doc.Name))
		}
	})
}

func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// rollsBack reports whether a client asks for an earlier revision by the annotation that the API server makes of the
// field of earlier versions. kubectl rollout undo writes the template instead.
func (r *rollout) rollsBack() bool {
	_, err := strconv.ParseInt(r.deployment().Annotations[appsv1.DeprecatedRollbackTo], 10, 64)
	return err == nil
}

// rollBack gives the Deployment the template of an earlier ReplicaSet (pkg/controller/deployment/rollback.go).
func (r *rollout) rollBack() {
	r.revise(true)
	d := r.deployment()
	to, _ := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64)
	if to == 0 {
		if to = r.lastRevision(); to == 0 {
			r.giveUp("DeploymentRollbackRevisionNotFound", "Unable to find last revision.")
			return
		}
	}
	for _, o := range r.all() {
		if revisionOf(o) != to {
			continue
		}
		rs := set(o)
		if sameTemplate(&rs.Spec.Template, &d.Spec.Template) {
			r.giveUp("DeploymentRollbackTemplateUnchanged", fmt.Sprintf("The rollback revision contains the same template as current deployment %q", d.Name))
			return
		}
		update(r.Actor, r.o, func(d *appsv1.Deployment) {
			d.Spec.Template = *rs.Spec.Template.DeepCopy()
			delete(d.Spec.Template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
			maps.DeleteFunc(d.Annotations, func(k, _ string) bool { return !ownAnnotations[k] || k == appsv1.DeprecatedRollbackTo })
			for k, v := range rs.Annotations {
				if !ownAnnotations[k] {
					d.Annotations[k] = v
				}
			}
		})
		r.record(r.o, corev1.EventTypeNormal, "DeploymentRollback", fmt.Sprintf("Rolled back deployment %q to revision %d", d.Name, to))
		return
	}
	r.giveUp("DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to.")
}

func (r *rollout) giveUp(reason, message string) {
	r.record(r.o, corev1.EventTypeWarning, reason, message)
	update(r.Actor, r.o, func(d *appsv1.Deployment) { delete(d.Annotations, appsv1.DeprecatedRollbackTo) })
}

// lastRevision is the highest revision but one.
func (r *rollout) lastRevision() (last int64) {
	highest := int64(0)
	for _, o := range r.all() {
		if n := revisionOf(o); n >= highest {
			last, highest = highest, n
		} else {
			last = max(last, n)
		}
	}
	return last
}
