package scenarios

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// registerWorkloads notes the programs of the workloads, those of the provider's DaemonSets
// included.
func (p *LiveSimulation) registerWorkloads() {
	s := p.sim
	p.agents = s.agents()
	for i := range s.file.Workloads {
		w := &s.file.Workloads[i]
		one := s.workload(w)
		asAgent(&one)
		s.traits[w.Key()] = one.Template.Traits
	}
	for i := range s.file.Workloads {
		w := &s.file.Workloads[i]
		if w.CreateAt > 0 && !p.createdLater(w) {
			s.pending++
			s.env.At(w.CreateAt, func() { s.pending--; p.create(w); s.settle() })
		}
	}
}

// createdLater reports whether a fault creates a workload.
func (p *LiveSimulation) createdLater(w *spec.Workload) bool {
	return slices.ContainsFunc(p.sim.file.Faults, func(f spec.Fault) bool {
		return f.CreateWorkload != nil && p.sim.workloadOf(f.CreateWorkload.Workload) == w
	})
}

// comesLater reports whether a workload isn't there yet at 0s.
func (p *LiveSimulation) comesLater(w *spec.Workload) bool {
	return w.CreateAt > 0 || p.createdLater(w)
}

// create has the APIServer create a workload in the course of the scenario.
func (p *LiveSimulation) create(w *spec.Workload) {
	p.apiServer.CreateWorkload([]runtime.Object{p.objectOf(w)})
}

// Objects returns the objects that the API server needs before the scenario: Namespaces, a StorageClass where there
// are volumes, PriorityClasses, then the provider's DaemonSets, then workloads and budgets in the order of the file.
func (p *LiveSimulation) Objects() []runtime.Object {
	s := p.sim
	spaces := map[string]bool{}
	var objects, later []runtime.Object
	for i := range p.agents {
		later = append(later, objectOf(p.agents[i]))
	}
	for i := range s.file.Workloads {
		w := &s.file.Workloads[i]
		spaces[w.Namespace] = true
		if !p.comesLater(w) {
			later = append(later, p.objectOf(w))
		}
	}
	for i := range s.file.Budgets {
		b := &s.file.Budgets[i]
		spaces[b.Namespace] = true
		later = append(later, budgetObject(b, s.selectorOf(b)))
	}
	delete(spaces, metav1.NamespaceDefault)
	for _, name := range slices.Sorted(maps.Keys(spaces)) {
		objects = append(objects, &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	if p.disks != nil {
		objects = append(objects, p.sim.storageClass())
	}
	objects = append(objects, p.priorities()...)
	return append(objects, later...)
}

// Later returns the objects of workloads that are created in the course of the scenario.
func (p *LiveSimulation) Later() (objects []runtime.Object) {
	for i := range p.sim.file.Workloads {
		if w := &p.sim.file.Workloads[i]; p.comesLater(w) {
			objects = append(objects, p.objectOf(w))
		}
	}
	return objects
}

func budgetObject(b *spec.Budget, selector *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
	o := &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: selector},
	}
	if b.MinAvailable != nil {
		v := intstr.Parse(b.MinAvailable.String())
		o.Spec.MinAvailable = &v
	}
	if b.MaxUnavailable != nil {
		v := intstr.Parse(b.MaxUnavailable.String())
		o.Spec.MaxUnavailable = &v
	}
	if b.UnhealthyPodEvictionPolicy == "AlwaysAllow" {
		policy := policyv1.AlwaysAllow
		o.Spec.UnhealthyPodEvictionPolicy = &policy
	}
	return o
}

// liveWorkload makes the API objects of a workload of the simulation.
type liveWorkload controllers.Workload

func objectOf(w controllers.Workload) runtime.Object { return liveWorkload(w).object() }

func (w liveWorkload) object() runtime.Object {
	meta := metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name}
	kind := metav1.TypeMeta{APIVersion: "apps/v1", Kind: string(w.Kind)}
	replicas := int32(w.Replicas)
	labels := stringMap(w.Template.Labels)
	selector := &metav1.LabelSelector{MatchLabels: labels}
	pods := w.pods()
	switch w.Kind {
	case controllers.StatefulSet:
		return &appsv1.StatefulSet{TypeMeta: kind, ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: selector, Template: pods, ServiceName: w.Name,
		}}
	case controllers.DaemonSet:
		return &appsv1.DaemonSet{TypeMeta: kind, ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: pods}}
	case controllers.Job, controllers.Pod: // a process that takes the live run over would create a Pod again that is gone for good
		kind.APIVersion, kind.Kind = "batch/v1", "Job"
		pods.Spec.RestartPolicy = corev1.RestartPolicyNever
		return &batchv1.Job{TypeMeta: kind, ObjectMeta: meta, Spec: batchv1.JobSpec{Parallelism: &replicas, Completions: &replicas, Template: pods}}
	case controllers.Deployment:
	}
	if kind.Kind == "ReplicaSet" {
		return &appsv1.ReplicaSet{TypeMeta: kind, ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector, Template: pods}}
	}
	return &appsv1.Deployment{TypeMeta: kind, ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: pods}}
}

// pods is the template of the workload's pods.
func (w liveWorkload) pods() corev1.PodTemplateSpec {
	t := &w.Template
	grace := t.GraceSeconds
	out := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: stringMap(t.Labels), Annotations: stringMap(t.Annotations), Finalizers: t.Finalizers},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace, NodeSelector: stringMap(t.NodeSelector), HostNetwork: t.HostNetwork, PriorityClassName: t.PriorityClass,
			SchedulerName: t.SchedulerName,
		},
	}
	if t.Written != nil {
		if err := json.Unmarshal(rawjson.Get(t.Written.Document, "spec"), &out.Spec); err == nil {
			out.Spec.RestartPolicy = ""
			admissible(&out.Spec)
			return out
		}
	}
	no := false
	out.Spec.AutomountServiceAccountToken, out.Spec.EnableServiceLinks = &no, &no
	for _, c := range t.Containers {
		one := corev1.Container{Name: c.Name, Image: c.Image}
		one.Resources.Requests = resources(c.CPU, c.Memory)
		one.Resources.Limits = resources(c.CPULimit, c.MemoryLimit)
		for _, p := range [...]struct {
			of     corev1.ResourceName
			policy string
		}{{corev1.ResourceCPU, c.CPUPolicy}, {corev1.ResourceMemory, c.MemoryPolicy}} {
			if p.policy != "" {
				one.ResizePolicy = append(one.ResizePolicy, corev1.ContainerResizePolicy{ResourceName: p.of, RestartPolicy: corev1.ResourceResizeRestartPolicy(p.policy)})
			}
		}
		out.Spec.Containers = append(out.Spec.Containers, one)
	}
	for _, o := range t.Tolerations {
		one := corev1.Toleration{Key: o.Key, Operator: corev1.TolerationOperator(o.Operator), Value: o.Value, Effect: corev1.TaintEffect(o.Effect)}
		if o.Seconds >= 0 {
			seconds := o.Seconds
			one.TolerationSeconds = &seconds
		}
		out.Spec.Tolerations = append(out.Spec.Tolerations, one)
	}
	for _, s := range t.Spread {
		out.Spec.TopologySpreadConstraints = append(out.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: int32(s.MaxSkew), TopologyKey: s.TopologyKey, WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(s.WhenUnsatisfiable),
			LabelSelector: &metav1.LabelSelector{MatchLabels: stringMap(s.Selector)},
		})
	}
	return out
}

// admissible takes off a spec what the API server takes from classes: it forbids what differs from them, and pods of classes that
// aren't there (k8s.io/kubernetes, plugin/pkg/admission/priority and runtimeclass). What a RuntimeClass adds to a pod is asked for by its first
// container.
func admissible(s *corev1.PodSpec) {
	s.Priority, s.PreemptionPolicy, s.RuntimeClassName = nil, nil, nil
	if len(s.Containers) > 0 {
		asks := &s.Containers[0].Resources
		for name, more := range s.Overhead {
			if asks.Requests == nil {
				asks.Requests = corev1.ResourceList{}
			}
			is := asks.Requests[name].DeepCopy()
			is.Add(more)
			asks.Requests[name] = is
			if most, limited := asks.Limits[name]; limited {
				most = most.DeepCopy()
				most.Add(more)
				asks.Limits[name] = most
			}
		}
	}
	s.Overhead = nil
}

// priorities are the PriorityClasses that workloads name, but for the system's.
func (p *LiveSimulation) priorities() (classes []runtime.Object) {
	seen := map[string]bool{}
	for i := range p.sim.file.Workloads {
		s := p.sim.file.Workloads[i].PodSpec
		if s == nil || s.PriorityClassName == "" || s.Priority == nil || strings.HasPrefix(s.PriorityClassName, "system-") || seen[s.PriorityClassName] {
			continue
		}
		seen[s.PriorityClassName] = true
		classes = append(classes, &schedulingv1.PriorityClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"},
			ObjectMeta: metav1.ObjectMeta{Name: s.PriorityClassName}, Value: *s.Priority, PreemptionPolicy: s.PreemptionPolicy,
		})
	}
	return classes
}

func resources(milliCPU, bytes int64) corev1.ResourceList {
	list := corev1.ResourceList{}
	if milliCPU > 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)
	}
	if bytes > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(bytes, resource.BinarySI)
	}
	return list
}

func stringMap(p kube.Pairs) map[string]string {
	if len(p) == 0 {
		return nil
	}
	m := make(map[string]string, len(p))
	for _, one := range p {
		m[one.Key] = one.Value
	}
	return m
}
