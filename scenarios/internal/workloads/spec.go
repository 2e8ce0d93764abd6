package workloads

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// kindOf is an object's kind, by its Go type.
func kindOf(api apiObject) *kind {
	switch api.(type) {
	case *appsv1.Deployment:
		return kinds["deployments"]
	case *appsv1.ReplicaSet:
		return kinds["replicasets"]
	case *corev1.ReplicationController:
		return kinds["replicationcontrollers"]
	case *appsv1.StatefulSet:
		return kinds["statefulsets"]
	case *appsv1.DaemonSet:
		return kinds["daemonsets"]
	case *batchv1.Job:
		return kinds["jobs"]
	case *batchv1.CronJob:
		return kinds["cronjobs"]
	case *corev1.PersistentVolumeClaim:
		return kinds["persistentvolumeclaims"]
	}
	return nil // one without a template
}

// specOf points to what is wanted of an object.
func specOf(api apiObject) any {
	switch o := api.(type) {
	case *appsv1.Deployment:
		return &o.Spec
	case *appsv1.ReplicaSet:
		return &o.Spec
	case *corev1.ReplicationController:
		return &o.Spec
	case *appsv1.StatefulSet:
		return &o.Spec
	case *appsv1.DaemonSet:
		return &o.Spec
	case *batchv1.Job:
		return &o.Spec
	case *batchv1.CronJob:
		return &o.Spec
	}
	return nil // one without a generation
}

// replicasOf points to how many pods are wanted of a workload; nil where its kind doesn't say.
func replicasOf(api apiObject) *int32 {
	switch o := api.(type) {
	case *appsv1.Deployment:
		return o.Spec.Replicas
	case *appsv1.ReplicaSet:
		return o.Spec.Replicas
	case *corev1.ReplicationController:
		return o.Spec.Replicas
	case *appsv1.StatefulSet:
		return o.Spec.Replicas
	case *batchv1.Job:
		return o.Spec.Parallelism
	}
	return nil
}

// scale says how many pods a controller wants, which the disruption controller reads of the scale subresource of those
// that have one.
func (a *Actor) scale(o *object) {
	switch api := o.api.(type) {
	case *appsv1.ReplicaSet:
		replicas := *api.Spec.Replicas
		if d := a.controller(api, "Deployment"); d != nil {
			// The Deployment is what is scaled (getPodDeployment of pkg/controller/disruption/disruption.go).
			replicas = *d.api.(*appsv1.Deployment).Spec.Replicas
		}
		a.env.API.SetScale(o.doc.UID, int(replicas))
	case *appsv1.Deployment:
		for _, rs := range a.within[place{"replicasets", o.doc.Namespace}] {
			if a.controller(rs.api, "Deployment") == o {
				a.env.API.SetScale(rs.doc.UID, int(*api.Spec.Replicas))
			}
		}
	case *corev1.ReplicationController:
		a.env.API.SetScale(o.doc.UID, int(*api.Spec.Replicas))
	case *appsv1.StatefulSet:
		a.env.API.SetScale(o.doc.UID, int(*api.Spec.Replicas))
	}
}
