package scenarios

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/timeline"
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
		set, err = a.setOf(w, pods)
	}
	if err == nil && w.Workload.UID == "" {
		self, err = json.Marshal(o)
		a.podTemplates[w.UID] = pods
	}
	return self, set, err
}

// setOf is the text of a Deployment's ReplicaSet.
func (a *Acting) setOf(w controllers.Shown, pods *corev1.PodTemplateSpec) ([]byte, error) {
	labels := stringMap(w.Labels)
	selector := labels
	if w.Selector != nil {
		selector = stringMap(w.Selector.With(appsv1.DefaultDeploymentUniqueLabelKey, w.Labels.Get(appsv1.DefaultDeploymentUniqueLabelKey)))
	}
	yes := true
	replicas := int32(w.Replicas)
	own := *pods
	own.Labels = labels
	text, err := json.Marshal(&appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Namespace, Name: w.Owner.Name, UID: types.UID(w.Owner.UID), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.Created.Time()), Labels: labels,
			Annotations: map[string]string{
				"deployment.kubernetes.io/desired-replicas": fmt.Sprint(w.Replicas),
				"deployment.kubernetes.io/max-replicas":     fmt.Sprint(w.Replicas + (w.Replicas+3)/4),
				"deployment.kubernetes.io/revision":         fmt.Sprint(w.Revision),
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: w.Name, UID: types.UID(w.UID), Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: own},
	})
	if spec := rawjson.Get(w.Template.Document, "spec"); err == nil && spec != nil {
		text = rawjson.Apply(nil, text, fmt.Appendf(nil, `{"spec":{"template":{"spec":null}}}`))
		text = rawjson.Apply(nil, text, fmt.Appendf(nil, `{"spec":{"template":{"spec":%s}}}`, spec))
	}
	return text, err
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

// workloadKind is the kind of a workload's resource, "" of any other.
func workloadKind(r timeline.Resource) controllers.WorkloadKind {
	switch k := controllers.WorkloadKind(r.Kind); k {
	case controllers.Deployment, controllers.ReplicaSet, controllers.StatefulSet, controllers.DaemonSet:
		if r.Group == appsv1.GroupName {
			return k
		}
	case controllers.Job:
		if r.Group == batchv1.GroupName {
			return k
		}
	}
	return ""
}

// writtenWorkload is what the controllers read of a workload's object.
type writtenWorkload struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Replicas    *int                   `json:"replicas"`
		Parallelism *int                   `json:"parallelism"`
		Template    corev1.PodTemplateSpec `json:"template"`
		Selector    metav1.LabelSelector   `json:"selector"`
		Strategy    writtenStrategy        `json:"strategy"`
		Update      struct {
			Type          string `json:"type"`
			RollingUpdate struct {
				Partition int `json:"partition"`
			} `json:"rollingUpdate"`
		} `json:"updateStrategy"`
		Claims []struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
		} `json:"volumeClaimTemplates"`
	} `json:"spec"`
}

type writtenStrategy appsv1.DeploymentStrategy

// workload tells a workload's controller what a client has written of it.
func (a *Acting) workload(kind controllers.WorkloadKind, ev *timeline.Event) error {
	ws := a.sim.workloads
	if ev.Type == timeline.Deleted {
		ws.Deleted(ev.UID)
		return nil
	}
	var in writtenWorkload
	if err := json.Unmarshal(ev.Object, &in); err != nil {
		return err
	}
	if in.Metadata.DeletionTimestamp != nil {
		ws.Ending(string(uid(ev, in.Metadata.UID)), in.Metadata.Generation)
		return nil
	}
	replicas := 1
	if kind == controllers.Job && in.Spec.Parallelism != nil {
		replicas = *in.Spec.Parallelism
	} else if kind != controllers.Job && in.Spec.Replicas != nil {
		replicas = *in.Spec.Replicas
	}
	own := string(uid(ev, in.Metadata.UID))
	t := &in.Spec.Template
	u := &in.Spec.Update
	ws.Updates(own, u.Type == string(appsv1.OnDeleteStatefulSetStrategyType), u.RollingUpdate.Partition)
	known := ws.Written(own, in.Metadata.Generation, replicas)
	if kind == controllers.Deployment {
		ws.Limit(own, in.Spec.Strategy.limits())
	}
	if known && a.podTemplates[own] != nil && !sameTemplate(a.podTemplates[own], t) {
		a.podTemplates[own] = t
		return ws.Redeploy(own, a.podTemplate(ev, &in))
	}
	if known || ev.Type != timeline.Added || metav1.GetControllerOfNoCopy(&in.Metadata) != nil {
		return nil
	}
	if len(t.Spec.Containers) == 0 {
		return nil // the API server's validation refuses it
	}
	a.podTemplates[own] = t
	w := controllers.Workload{
		Kind: kind, Namespace: ev.Namespace, Name: ev.Name, Replicas: replicas, UID: own, Template: a.podTemplate(ev, &in),
		OnDelete: u.Type == string(appsv1.OnDeleteStatefulSetStrategyType), Partition: u.RollingUpdate.Partition,
	}
	if len(in.Spec.Selector.MatchExpressions) == 0 {
		w.Selector = convert.LabelsFromAPI(in.Spec.Selector.MatchLabels)
	}
	return ws.Create(w)
}

// podTemplate is what the controllers need of a workload's template.
func (a *Acting) podTemplate(ev *timeline.Event, in *writtenWorkload) controllers.PodTemplate {
	t := &in.Spec.Template
	k := convert.TemplateFromAPI(t)
	out := controllers.PodTemplate{
		Labels: convert.LabelsFromAPI(t.Labels), Annotations: convert.LabelsFromAPI(t.Annotations), Finalizers: t.Finalizers,
		Containers: k.Containers, GraceSeconds: k.GraceSeconds, NodeSelector: k.NodeSelector, Tolerations: k.Tolerations, Spread: k.Spread,
		Priority: k.Priority, PriorityClass: k.PriorityClass, HostNetwork: k.HostNetwork, RestartPolicy: k.RestartPolicy, SchedulerName: k.SchedulerName, Gated: len(t.Spec.SchedulingGates) > 0, Demands: k.Demands,
		Traits:   a.sim.traits[types.NamespacedName{Namespace: ev.Namespace, Name: t.Labels["app"]}],
		Document: fmt.Appendf(nil, `{"metadata":{},"spec":%s}`, rawjson.Get(ev.Object, "spec", "template", "spec")),
	}
	a.prioritize(&out)
	if len(in.Spec.Claims) > 0 {
		out.Volume = in.Spec.Claims[0].Metadata.Name
	}
	return out
}

// sameTemplate reports whether two templates ask for the same pods. What the API server fills in counts as there.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	return equality.Semantic.DeepEqual(completed(a), completed(b))
}

func completed(t *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
	of := &corev1.PodTemplate{Template: *t.DeepCopy()}
	of.Template.CreationTimestamp = metav1.Time{}
	if err := kubedefaults.FillObject(corev1.SchemeGroupVersion.WithKind("PodTemplate"), of); err != nil {
		return t // as it is
	}
	return &of.Template
}

// limits are those of a Deployment's strategy.
func (s *writtenStrategy) limits() controllers.Limits {
	quarter := intstr.FromString("25%")
	surge, unavailable := &quarter, &quarter
	if u := s.RollingUpdate; u != nil {
		surge, unavailable = cmp.Or(u.MaxSurge, surge), cmp.Or(u.MaxUnavailable, unavailable)
	}
	recreate := s.Type == appsv1.RecreateDeploymentStrategyType
	return func(replicas int) (int, int, bool) {
		// As ResolveFenceposts of pkg/controller/deployment/util; validation has refused what can't be read.
		up, _ := intstr.GetScaledValueFromIntOrPercent(surge, replicas, true)
		down, _ := intstr.GetScaledValueFromIntOrPercent(unavailable, replicas, false)
		if up == 0 && down == 0 {
			down = 1
		}
		return up, down, recreate
	}
}
