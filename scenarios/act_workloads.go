package scenarios

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/internal/podadmission"
	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
	"github.com/nodesim/nodesim/scenarios/internal/objects"
	"github.com/nodesim/nodesim/scenarios/internal/workloads"
	"github.com/nodesim/nodesim/scenarios/spec"
)

// keepWorkloads starts the controllers of workloads that have objects.
func (a *Acting) keepWorkloads() {
	a.workloads = workloads.New(workloads.Config{
		Env: a.sim.env, Traits: a.sim.traitsOf, Admit: admission{a.objects}.admit, Admission: a.objects.Admission,
		Bounded: a.objects.Bounded, Charge: a.objects.Charge, ChargeClaim: a.objects.ChargeClaim,
		Ending: func(namespace string) bool { return a.objects.Terminating(namespace) },
		Owners: func(p *kube.Pod) []metav1.OwnerReference {
			if x := a.objects.Get("pods", p.Namespace, p.Name); x != nil {
				return x.Owners
			}
			return nil
		},
	})
}

// keep takes a workload of the scenario over, with the pods that it has. One that the API server would refuse to create
// isn't there after that: its writer gets an error, and nothing happens.
func (a *Acting) keep(w controllers.Shown) error {
	if refused := a.creatable(w.Kind, w.Namespace, w.Name); refused != nil {
		return nil //nolint:nilerr // as said above
	}
	self, set, err := a.textOf(w)
	if err != nil {
		return err
	}
	if a.sim.env.Now() > 0 {
		return a.workloads.Create(plural(w.Kind), self)
	}
	if set != nil {
		if err := a.workloads.AddExisting("replicasets", set, w.Created); err != nil {
			return err
		}
	}
	return a.workloads.AddExisting(plural(w.Kind), self, w.Created)
}

// creatable says why the API server would refuse to create a workload, or nil. The namespaces of those that are there from
// the start come later than they do.
func (a *Acting) creatable(kind controllers.WorkloadKind, namespace, name string) error {
	switch there := a.objects.Get("namespaces", "", namespace); {
	case a.workloads.Exists(plural(kind), namespace, name):
		return fmt.Errorf("found a %s %s/%s: want none of that name", kind, namespace, name)
	case a.sim.env.Now() > 0 && there == nil:
		return fmt.Errorf("found no namespace %q: want one that is there", namespace)
	case there != nil && there.Deleting:
		return fmt.Errorf("found the namespace %q about to end: want one that stays", namespace)
	}
	return nil
}

// admission has pods of controllers go through what those of clients go through.
type admission struct{ *objects.Objects }

func (x admission) admit(p *corev1.Pod) error {
	if err := kubedefaults.FillObject(corev1.SchemeGroupVersion.WithKind("Pod"), p); err != nil {
		return err
	}
	id := fnv.New64a()
	_, _ = id.Write([]byte(p.Namespace + "/" + p.GenerateName)) // a hash takes everything
	return podadmission.Admit(p, podadmission.Suffix(id.Sum64()), x)
}

// Account implements podadmission.Cluster, as the following do.
func (x admission) Account(namespace, name string) *corev1.ServiceAccount {
	if o := x.Get("serviceaccounts", namespace, name); o != nil {
		return decoded[corev1.ServiceAccount](o)
	}
	return nil
}

// Class returns a PriorityClass.
func (x admission) Class(name string) *schedulingv1.PriorityClass {
	if o := x.Get("priorityclasses", "", name); o != nil {
		return decoded[schedulingv1.PriorityClass](o)
	}
	return nil
}

// Classes returns the PriorityClasses.
func (x admission) Classes() (all []*schedulingv1.PriorityClass) {
	for _, o := range x.All("priorityclasses") {
		all = append(all, decoded[schedulingv1.PriorityClass](o))
	}
	return all
}

func decoded[T any](o *objects.Object) *T {
	into := new(T)
	if json.Unmarshal(o.Text(), into) != nil {
		return new(T) // the API server has refused it
	}
	return into
}

// plural is the resource of a kind of workload.
func plural(kind controllers.WorkloadKind) string { return strings.ToLower(string(kind)) + "s" }

// A workloadKeeper does what a scenario asks of a workload while it goes on.
type workloadKeeper struct {
	scale    func(replicas int) error
	replicas func() int
	redefine func(change func(*kube.ContainerSpec)) error
}

// keeperOf finds who keeps a workload of the scenario.
func (s *Simulation) keeperOf(w *spec.Workload) workloadKeeper {
	if s.acting != nil {
		a, resource := s.acting.workloads, plural(controllers.WorkloadKind(w.Kind))
		return workloadKeeper{
			scale: func(n int) error {
				if !a.Exists(resource, w.Namespace, w.Name) {
					return nil // a client has deleted it
				}
				return a.Scale(resource, w.Namespace, w.Name, int32(n))
			},
			replicas: func() int { return a.Replicas(resource, w.Namespace, w.Name) },
			redefine: func(change func(*kube.ContainerSpec)) error {
				return a.Redefine(resource, w.Namespace, w.Name, func(t *corev1.PodTemplateSpec) { redefine(t, change) })
			},
		}
	}
	return workloadKeeper{
		scale:    func(n int) error { return s.workloads.Scale(w.Namespace, w.Name, n) },
		replicas: func() int { return s.workloads.Replicas(w.Namespace, w.Name) },
		redefine: func(change func(*kube.ContainerSpec)) error { return s.workloads.Redefine(w.Namespace, w.Name, change) },
	}
}

// redefine changes the containers of a template: their images and resources.
func redefine(t *corev1.PodTemplateSpec, change func(*kube.ContainerSpec)) {
	all := convert.TemplateFromAPI(t).Containers
	for i := range all {
		is, c := &all[i], &t.Spec.Containers[i]
		change(is)
		c.Image = is.Image
		set := func(list *corev1.ResourceList, cpu, memory int64) {
			if *list == nil && cpu|memory != 0 {
				*list = corev1.ResourceList{}
			}
			if cpu != 0 {
				(*list)[corev1.ResourceCPU] = *resource.NewMilliQuantity(cpu, resource.DecimalSI)
			}
			if memory != 0 {
				(*list)[corev1.ResourceMemory] = *resource.NewQuantity(memory, resource.BinarySI)
			}
		}
		set(&c.Resources.Requests, is.CPU, is.Memory)
		set(&c.Resources.Limits, is.CPULimit, is.MemoryLimit)
	}
}
