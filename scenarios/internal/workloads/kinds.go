package workloads

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A kind is one of those that the controllers keep.
type kind struct {
	schema.GroupVersionKind
	resource  string // the plural
	component string // the reporter of Events
	empty     func() apiObject
	// sync is nil where the kind has no controller of its own.
	sync func(*Actor, *object) (again time.Duration)
	// batch is how long the controller waits after a change of a pod.
	batch time.Duration
	// selector is that of the pods; nil where it has none.
	selector func(apiObject) *metav1.LabelSelector
	template func(apiObject) *corev1.PodTemplateSpec
}

type apiObject interface {
	metav1.Object
	runtime.Object
}

var order = func() []*kind {
	batch := func(k string) schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind(k) }
	apps := func(k string) schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind(k) }
	return []*kind{
		{
			GroupVersionKind: apps("Deployment"), resource: "deployments", component: "deployment-controller", sync: (*Actor).syncDeployment,
			empty:    func() apiObject { return &appsv1.Deployment{} },
			template: func(o apiObject) *corev1.PodTemplateSpec { return &o.(*appsv1.Deployment).Spec.Template },
		},
		{
			GroupVersionKind: apps("ReplicaSet"), resource: "replicasets", component: "replicaset-controller", sync: (*Actor).syncReplicaSet,
			empty:    func() apiObject { return &appsv1.ReplicaSet{} },
			selector: func(o apiObject) *metav1.LabelSelector { return o.(*appsv1.ReplicaSet).Spec.Selector },
			template: func(o apiObject) *corev1.PodTemplateSpec { return &o.(*appsv1.ReplicaSet).Spec.Template },
		},
		{
			GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ReplicationController"), resource: "replicationcontrollers",
			component: "replication-controller", sync: (*Actor).syncReplicationController,
			empty: func() apiObject { return &corev1.ReplicationController{} },
			selector: func(o apiObject) *metav1.LabelSelector {
				return &metav1.LabelSelector{MatchLabels: o.(*corev1.ReplicationController).Spec.Selector}
			},
			template: func(o apiObject) *corev1.PodTemplateSpec { return o.(*corev1.ReplicationController).Spec.Template },
		},
		{
			GroupVersionKind: apps("StatefulSet"), resource: "statefulsets", component: "statefulset-controller", sync: (*Actor).syncStatefulSet,
			empty:    func() apiObject { return &appsv1.StatefulSet{} },
			selector: func(o apiObject) *metav1.LabelSelector { return o.(*appsv1.StatefulSet).Spec.Selector },
			template: func(o apiObject) *corev1.PodTemplateSpec { return &o.(*appsv1.StatefulSet).Spec.Template },
		},
		{
			GroupVersionKind: apps("DaemonSet"), resource: "daemonsets", component: "daemonset-controller", sync: (*Actor).syncDaemonSet,
			empty:    func() apiObject { return &appsv1.DaemonSet{} },
			selector: func(o apiObject) *metav1.LabelSelector { return o.(*appsv1.DaemonSet).Spec.Selector },
			template: func(o apiObject) *corev1.PodTemplateSpec { return &o.(*appsv1.DaemonSet).Spec.Template },
		},
		{
			GroupVersionKind: apps("ControllerRevision"), resource: "controllerrevisions", empty: func() apiObject { return &appsv1.ControllerRevision{} },
		},
		{
			GroupVersionKind: corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), resource: "persistentvolumeclaims",
			empty: func() apiObject { return &corev1.PersistentVolumeClaim{} },
		},
		{
			GroupVersionKind: batch("Job"), resource: "jobs", component: "job-controller", sync: (*Actor).syncJob, batch: jobPodsBatch,
			empty:    func() apiObject { return &batchv1.Job{} },
			selector: func(o apiObject) *metav1.LabelSelector { return o.(*batchv1.Job).Spec.Selector },
			template: func(o apiObject) *corev1.PodTemplateSpec { return &o.(*batchv1.Job).Spec.Template },
		},
		{
			GroupVersionKind: batch("CronJob"), resource: "cronjobs", component: "cronjob-controller", sync: (*Actor).syncCronJob,
			empty:    func() apiObject { return &batchv1.CronJob{} },
			template: func(o apiObject) *corev1.PodTemplateSpec { return &o.(*batchv1.CronJob).Spec.JobTemplate.Spec.Template },
		},
	}
}

// kinds are those of order, by their resource.
var kinds = map[string]*kind{}

func init() {
	for _, k := range order() {
		kinds[k.resource] = k
	}
}

// Has reports whether the controllers keep objects of a kind.
func Has(group, resource string) bool {
	k := kinds[resource]
	return k != nil && k.Group == group
}

// pairs are labels as selectors read them.
type pairs interface {
	Get(string) string
	Lookup(string) (string, bool)
}

type labelled struct{ pairs }

func (l labelled) Has(key string) bool { _, has := l.Lookup(key); return has }

var _ labels.Labels = labelled{}
