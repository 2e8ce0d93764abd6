package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
)

// clusterAge is how old a cluster is whose scenario begins.
const clusterAge = 90 * 24 * time.Hour

// seedNamespaces puts the namespaces there, each with what every namespace has: the cluster's own, those of the file, and
// further ones.
func (a *Acting) seedNamespaces(further map[string]bool) {
	s := a.sim
	names := map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}
	maps.Copy(names, further)
	for i := range s.file.Workloads {
		names[s.file.Workloads[i].Namespace] = true
	}
	for _, b := range s.file.Budgets {
		names[b.Namespace] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		chance := s.env.Stream("namespace", name)
		s.scheduler.Namespace(name, kube.Pairs{{Key: corev1.LabelMetadataName, Value: name}})
		a.objects.SeedNamespace(name, s.file.Start.Add(-clusterAge), &chance)
	}
	a.objects.SeedCluster(s.file.Start.Add(-clusterAge))
}

// textOf is the text of a workload's object, and of a Deployment's ReplicaSet, without their status.
func (a *Acting) textOf(w controllers.Shown) (self, set []byte, err error) {
	o := objectOf(w.Workload)
	if of := a.ofFile(w.Namespace, w.Name); of != nil && of.Volume != nil {
		addClaims(o, w.Template.Volume, *of.Volume)
	}
	m := o.(metav1.Object)
	m.SetUID(types.UID(w.UID))
	m.SetGeneration(1)
	m.SetCreationTimestamp(metav1.NewTime(w.Created.Time()))
	m.SetLabels(stringMap(w.Template.Labels))
	pods := convert.PodTemplateToAPI(o)
	pods.Spec.AutomountServiceAccountToken, pods.Spec.EnableServiceLinks = nil, nil
	begun(o)
	if err := kubedefaults.FillObject(o.GetObjectKind().GroupVersionKind(), o); err != nil {
		return nil, nil, err
	}
	if w.Kind == controllers.Job {
		pods.Labels = stringMap(w.Labels)
	}
	if w.Kind == controllers.Deployment {
		if set, err = setOf(w, pods); err != nil {
			return nil, nil, err
		}
	}
	self, err = json.Marshal(o)
	return self, set, err
}

// setOf is the text of a Deployment's ReplicaSet.
func setOf(w controllers.Shown, pods *corev1.PodTemplateSpec) ([]byte, error) {
	labels := stringMap(w.Labels)
	yes := true
	replicas := int32(w.Replicas)
	own := *pods
	own.Labels = labels
	return json.Marshal(&appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: w.Owner.Name, UID: types.UID(w.Owner.UID), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.Created.Time()), Labels: labels,
			Annotations: map[string]string{
				"deployment.kubernetes.io/desired-replicas": fmt.Sprint(w.Replicas),
				"deployment.kubernetes.io/max-replicas":     fmt.Sprint(w.Replicas + (w.Replicas+3)/4),
				"deployment.kubernetes.io/revision":         "1",
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: w.Name, UID: types.UID(w.UID), Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: own},
	})
}

// begun gives a workload's object what its kind's registry and its controller do first.
func begun(o runtime.Object) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		o.Annotations = map[string]string{"deployment.kubernetes.io/revision": "1"}
	case *appsv1.DaemonSet:
		o.Annotations = map[string]string{"deprecated.daemonset.template.generation": "1"}
	case *batchv1.Job:
		o.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: string(o.UID)}}
	}
}
