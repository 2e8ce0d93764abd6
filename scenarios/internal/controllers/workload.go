// Package controllers is the controllers of kube-controller-manager and of the cloud controller manager in a simulated
// cluster: workloads, disruption budgets, the node lifecycle, taint eviction, volumes, garbage collection. One file each.
//
// In: changes of the simulated API and the provider. Out: writes to the API. A controller must never read another's
// memory.
package controllers

import (
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// A WorkloadKind is the kind of a workload's controller.
type WorkloadKind string

// The kinds of workloads.
const (
	Deployment  WorkloadKind = "Deployment"
	ReplicaSet  WorkloadKind = "ReplicaSet" // without a Deployment
	StatefulSet WorkloadKind = "StatefulSet"
	DaemonSet   WorkloadKind = "DaemonSet"
	Job         WorkloadKind = "Job"
	Pod         WorkloadKind = "Pod" // pods without a controller
)

// A Workload is a set of like pods that a controller keeps.
type Workload struct {
	Kind            WorkloadKind
	Namespace, Name string
	// Replicas that are wanted; a DaemonSet has as many as there are nodes.
	Replicas int
	Template PodTemplate
	// Placed are pods that are there already; see [Workloads.Seed].
	Placed []Placed
	// CreateAt is the moment of the tape at which it is created. A workload that
	// was there before is given to [Workloads.Seed] instead.
	CreateAt time.Duration
}

// Placed is a pod that is there when the tape begins.
type Placed struct {
	Name string
	// Node is where it runs, "" where it waits. Zone is that of its volume then, "" where that is nowhere yet.
	Node, Zone string
}

// PodTemplate is the template of a workload's pods.
type PodTemplate struct {
	Labels, Annotations kube.Pairs
	Containers          []kube.ContainerSpec
	GraceSeconds        int64
	NodeSelector        kube.Pairs
	// Tolerations besides those that the control plane adds.
	Tolerations   []kube.Toleration
	Spread        []kube.Spread
	Priority      int32
	PriorityClass string
	HostNetwork   bool
	// SchedulerName is empty for the default scheduler.
	SchedulerName string
	// Volume is the name of a StatefulSet's claim template, or of a Deployment's
	// volume of which each pod has a claim of its own; "" for none.
	Volume     string
	Finalizers []string
	Traits     *component.PodTraits
	// Written is the template as somebody has written it in Kubernetes' words, with demands that have no field here; nil where nobody
	// has. The fields above say the same of it.
	Written *kube.Template
	// Gated says that a scheduling gate holds the pods.
	Gated bool
	// Resizable has pods say what their containers were given.
	Resizable bool
}

// Workloads are the controllers of kube-controller-manager that keep pods: of
// Deployments with their ReplicaSets, of ReplicaSets alone, of StatefulSets, DaemonSets and Jobs. No
// tape holds the objects of their kinds; what shows are their pods and events.
//
// Each learns of its pods by watching them and keeps count; one that finds its
// count wrong answers once after a reaction time, however many pods changed
// until then, as the work queues of the real ones do.
type Workloads struct {
	env     *component.Env
	byOwner map[*kube.Owner]workloadController
	byName  map[workloadName]*workload
	daemons []*daemonSet
	keep    func(Shown) error // see [Workloads.Elsewhere]
}

type workloadName struct{ namespace, name string }

// workloadController is a controller of one workload. Its methods are called from watches
// and may take notes and put calls in the loop.
type workloadController interface {
	// changed tells of one of its own pods.
	changed(c kube.Change, old, p *kube.Pod)
	// scaled tells that the replicas are others than before.
	scaled(from int)
}

// NewWorkloads returns the controllers, with no workloads yet.
func NewWorkloads(env *component.Env) *Workloads {
	ws := &Workloads{env: env, byOwner: map[*kube.Owner]workloadController{}, byName: map[workloadName]*workload{}}
	env.API.WatchPods(func(c kube.Change, old, p *kube.Pod) {
		if c == kube.Modified && old.Owner != p.Owner { // by a client
			if k := ws.byOwner[old.Owner]; k != nil {
				k.changed(kube.Deleted, old, p)
			}
			c, old = kube.Added, nil
		}
		if k := ws.byOwner[p.Owner]; k != nil {
			k.changed(c, old, p)
		}
	})
	env.API.WatchNodes(func(c kube.Change, old, n *kube.Node) {
		for _, ds := range ws.daemons {
			ds.node(c, old, n)
		}
	})
	return ws
}

// Add has a workload created at its moment, or now where that has passed.
func (ws *Workloads) Add(w Workload) error {
	one, err := ws.admit(w)
	if err != nil {
		return err
	}
	ws.env.At(w.CreateAt, func() {
		if ws.begin(one); one.begun {
			one.keeper.scaled(0)
		}
	})
	return nil
}

// admit checks a workload and makes its controller.
func (ws *Workloads) admit(w Workload) (*workload, error) {
	name := workloadName{w.Namespace, w.Name}
	if ws.byName[name] != nil {
		return nil, fmt.Errorf("workload %s/%s: there is one of that name", w.Namespace, w.Name)
	}
	if w.Name == "" || w.Namespace == "" || len(w.Template.Containers) == 0 {
		return nil, fmt.Errorf("workload %q in namespace %q with %d containers: want a name, a namespace and a container", w.Name, w.Namespace, len(w.Template.Containers))
	}
	one := newWorkload(ws.env, w)
	switch w.Kind {
	case Deployment, ReplicaSet:
		one.keeper = newReplicaSet(one)
	case Job:
		one.keeper = newJob(one)
	case StatefulSet:
		one.keeper = newStatefulSet(one)
	case DaemonSet:
		one.keeper = newDaemonSet(one)
	case Pod:
		one.keeper = barePods{one}
	default:
		return nil, fmt.Errorf("workload %s/%s: kind %q: want Deployment, ReplicaSet, StatefulSet, DaemonSet, Job or Pod", w.Namespace, w.Name, w.Kind)
	}
	ws.byName[name] = one
	if scalable(w.Kind) {
		ws.env.API.SetScale(one.owner.UID, w.Replicas)
	}
	return one, nil
}

// scalable reports whether a kind has the subresource scale. A budget with maxUnavailable, or with a percentage, that selects a pod of another
// allows no disruption (getScaleController of pkg/controller/disruption/disruption.go). A Pod has no controller that could be asked.
func scalable(k WorkloadKind) bool { return k != DaemonSet && k != Job && k != Pod }

// A Shown workload is one whose own object can be read, and what its text is made of.
type Shown struct {
	Workload
	UID string // of the workload's own object
	// Owner is that of the pods: the ReplicaSet of a Deployment, else the workload.
	Owner kube.Owner
	// Labels are those of the pods, the hash of their template included.
	Labels  kube.Pairs
	Created kube.Instant
}

// Elsewhere has others keep the workloads: each is handed over when it begins, after its pods were seeded. Call it before
// there are workloads.
func (ws *Workloads) Elsewhere(keep func(Shown) error) { ws.keep = keep }

// begin lets a workload's controller see pods and nodes.
func (ws *Workloads) begin(w *workload) {
	if ws.keep != nil && w.Kind != Pod {
		delete(ws.byOwner, w.owner)
		delete(ws.byName, workloadName{w.Namespace, w.Name})
		if err := ws.keep(w.shown()); err != nil {
			ws.env.Fail(err)
		}
		return
	}
	w.begun = true
	ws.byOwner[w.owner] = w.keeper
	if ds, ok := w.keeper.(*daemonSet); ok {
		ws.daemons = append(ws.daemons, ds)
	}
}

// shown is what the objects of a new workload are made of. One that has pods was there before.
func (w *workload) shown() Shown {
	born := w.env.API.Now()
	for _, p := range w.env.API.PodsOf(w.owner.UID) {
		born = min(born, p.Created)
	}
	return Shown{Workload: w.Workload, UID: w.uid, Owner: *w.owner, Labels: w.labels, Created: born.Second()}
}

// Scale sets the replicas of a workload. It fails where there is no such
// workload, or where it is a DaemonSet or has no controller.
func (ws *Workloads) Scale(namespace, name string, replicas int) error {
	w := ws.byName[workloadName{namespace, name}]
	switch {
	case w == nil:
		return fmt.Errorf("scale %s/%s: there is no such workload", namespace, name)
	case w.Kind == DaemonSet, w.Kind == Pod:
		return fmt.Errorf("scale %s/%s: a %s has no replicas", namespace, name, w.Kind)
	}
	from := w.Replicas
	w.Replicas = max(replicas, 0)
	if scalable(w.Kind) {
		ws.env.API.SetScale(w.owner.UID, w.Replicas)
	}
	if w.begun && from != w.Replicas {
		w.keeper.scaled(from)
	}
	return nil
}

// Redefine changes the containers in a ReplicaSet's template: pods that it
// creates from then on are like that, and those that are there stay as they are
// (manageReplicas of pkg/controller/replicaset/replica_set.go counts pods and
// doesn't look into them). It fails where there is no such ReplicaSet.
func (ws *Workloads) Redefine(namespace, name string, change func(*kube.ContainerSpec)) error {
	w := ws.byName[workloadName{namespace, name}]
	if w == nil || w.Kind != ReplicaSet {
		return fmt.Errorf("redefine %s/%s: there is no such ReplicaSet", namespace, name)
	}
	w.template = w.template.Variant(change)
	return nil
}

// Replicas returns the number of pods that a workload wants; 0 where there is none of the name.
func (ws *Workloads) Replicas(namespace, name string) int {
	if w := ws.byName[workloadName{namespace, name}]; w != nil {
		return w.Replicas
	}
	return 0
}
