package scenarios

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/standby"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// priorities of the two classes that every cluster has
// (pkg/apis/scheduling/types.go).
var priorities = map[spec.Priority]int32{
	"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000,
}

// workload is a workload for its controller.
func (s *Simulation) workload(w *spec.Workload) controllers.Workload {
	labels := convert.LabelsFromAPI(w.Labels())
	t := controllers.PodTemplate{
		Labels: labels, GraceSeconds: int64(w.Grace / time.Second),
		Containers: []kube.ContainerSpec{{
			Name: w.Name, Image: w.Image, CPU: w.Requests.CPU.MilliValue(), Memory: w.Requests.Memory.Value(),
		}},
		Traits: &component.PodTraits{ImageBytes: w.ImageSize.Value()},
	}
	if p := w.ResizePolicy; p != nil {
		t.Containers[0].CPUPolicy, t.Containers[0].MemoryPolicy = string(p.CPU), string(p.Memory)
	}
	if r := s.file.Roll; r != nil && r.Strategy == spec.StrategyResize && s.file.RolledInPlace().Key() == w.Key() {
		t.Resizable = true
	}
	t.Traits.StartReady = w.Ready.Model()
	t.Traits.NeverStops = w.Stop.Kind == spec.DistNever
	if !t.Traits.NeverStops {
		t.Traits.Stop = w.Stop.Model()
	}
	for i := range w.Containers {
		addContainer(&t, &w.Containers[i])
	}
	if w.PodSpec != nil {
		ownWords(&t, w)
	}
	if p, ok := priorities[w.Priority]; ok {
		t.Priority, t.PriorityClass = p, string(w.Priority)
	}
	if w.Group != "" {
		t.NodeSelector = kube.PairsOf(kube.Pair{Key: groupLabel(s.file.Cluster.Provider), Value: w.Group})
	}
	if s.file.Autoscaler.NodeManager(w.Group) {
		t.SchedulerName = standby.SchedulerName
	}
	if w.DoNotDisrupt {
		t.Annotations = kube.PairsOf(kube.Pair{Key: "karpenter.sh/do-not-disrupt", Value: "true"})
	}
	if w.Finalizer != "" {
		t.Finalizers = []string{w.Finalizer}
	}
	if w.Volume != nil {
		t.Volume = "data"
	}
	for _, x := range w.Tolerations {
		tol := kube.Toleration{Key: x.Key, Operator: string(x.Operator), Value: x.Value, Effect: string(x.Effect), Seconds: -1}
		if x.For != nil {
			tol.Seconds = int64(*x.For / time.Second)
		}
		t.Tolerations = append(t.Tolerations, tol)
	}
	if key := spreadKeys[w.Spread]; key != "" {
		unsatisfiable := "ScheduleAnyway"
		if w.SpreadHard {
			unsatisfiable = "DoNotSchedule"
		}
		t.Spread = []kube.Spread{{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: unsatisfiable, Selector: labels}}
	}
	out := controllers.Workload{
		Kind: controllers.WorkloadKind(w.Kind), Namespace: w.Namespace, Name: w.Name, Replicas: w.Replicas, Template: t, CreateAt: w.CreateAt,
	}
	for _, p := range w.Pods {
		out.Placed = append(out.Placed, controllers.Placed(p))
	}
	return out
}

// ownWords has a template say what its file does in Kubernetes' words. All containers of a pod start and stop alike.
func ownWords(t *controllers.PodTemplate, w *spec.Workload) {
	own := convert.TemplateFromAPI(&corev1.PodTemplateSpec{Spec: w.PodSpec.PodSpec})
	text, err := json.Marshal(w.PodSpec.PodSpec)
	if err != nil { // it was text before
		text = []byte("{}")
	}
	own.Document = fmt.Appendf(nil, `{"metadata":{},"spec":%s}`, text)
	own.Unprobed = false // the file says how long a container takes
	t.Written, t.Containers, t.Tolerations, t.NodeSelector, t.GraceSeconds = own, own.Containers, own.Tolerations, own.NodeSelector, own.GraceSeconds
	t.Priority, t.PriorityClass, t.SchedulerName, t.HostNetwork = own.Priority, own.PriorityClass, own.SchedulerName, own.HostNetwork
	t.Gated, t.Spread = len(w.PodSpec.SchedulingGates) > 0, nil
	t.Traits.Others = nil
	for range own.Containers[1:] {
		t.Traits.Others = append(t.Traits.Others, component.ContainerTraits{
			StartReady: t.Traits.StartReady, NeverStops: t.Traits.NeverStops, Stop: t.Traits.Stop, ImageBytes: t.Traits.ImageBytes,
		})
	}
}

// addContainer adds a container to a template of pods.
func addContainer(t *controllers.PodTemplate, c *spec.Container) {
	t.Containers = append(t.Containers, kube.ContainerSpec{
		Name: c.Name, Image: c.Image, CPU: c.Requests.CPU.MilliValue(), Memory: c.Requests.Memory.Value(),
	})
	one := component.ContainerTraits{StartReady: c.Ready.Model(), NeverStops: c.Stop.Kind == spec.DistNever, ImageBytes: c.ImageSize.Value()}
	if !one.NeverStops {
		one.Stop = c.Stop.Model()
	}
	t.Traits.Others = append(t.Traits.Others, one)
}

var spreadKeys = map[spec.Spread]string{"zone": "topology.kubernetes.io/zone", "host": "kubernetes.io/hostname"}

// groupLabel is the label by which a provider's nodes name their group.
func groupLabel(p spec.Provider) string {
	switch p {
	case spec.ProviderKarpenter:
		return "karpenter.sh/nodepool"
	case spec.ProviderGKE:
		return "cloud.google.com/gke-nodepool"
	case spec.ProviderAKS:
		return "kubernetes.azure.com/agentpool"
	case spec.ProviderCAPI:
		return "node.cluster.x-k8s.io/deployment-name"
	case spec.ProviderKOps:
		return "kops.k8s.io/instancegroup"
	}
	return "eks.amazonaws.com/nodegroup"
}

// seedWorkloads puts the pods there that have been running for days, and has
// the others created in their time.
func (s *Simulation) seedWorkloads() error {
	created := map[*spec.Workload]bool{}
	for _, f := range s.file.Faults {
		if f.CreateWorkload != nil {
			created[s.workloadOf(f.CreateWorkload.Workload)] = true
		}
	}
	there := s.agents()
	for i := range s.file.Workloads {
		w := &s.file.Workloads[i]
		one := s.workload(w)
		asAgent(&one)
		s.traits[w.Key()] = one.Template.Traits
		switch {
		case created[w]:
		case w.CreateAt > 0:
			if err := s.workloads.Add(one); err != nil {
				return err
			}
		default:
			there = append(there, one)
		}
	}
	return s.workloads.Seed(there, s.scheduler, s.kubelets.Running)
}

// selectorOf is the selector of a budget.
func (s *Simulation) selectorOf(b *spec.Budget) *metav1.LabelSelector {
	if b.Selector != nil {
		return &b.Selector.LabelSelector
	}
	return &metav1.LabelSelector{MatchLabels: s.file.Covers(b).Labels()}
}

// seedBudgets puts the budgets there, their status as the disruption controller
// has it.
func (s *Simulation) seedBudgets() error {
	ages := s.env.Stream("age", "budgets")
	for _, b := range s.file.Budgets {
		one := &kube.Budget{}
		one.Selects(convert.SelectionFromAPI(s.selectorOf(&b)))
		one.Namespace, one.Name = b.Namespace, b.Name
		one.Created = s.env.API.Now().Add(-hours(&ages, 24, 24*7))
		if b.MinAvailable != nil {
			one.MinAvailable = b.MinAvailable.String()
		}
		if b.MaxUnavailable != nil {
			one.MaxUnavailable = b.MaxUnavailable.String()
		}
		if b.UnhealthyPodEvictionPolicy == "AlwaysAllow" {
			one.UnhealthyPodEvictionPolicy = "AlwaysAllow"
		}
		if err := s.disruption.Seed(one); err != nil {
			return err
		}
	}
	return nil
}
