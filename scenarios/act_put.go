package scenarios

import (
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/roll"
	"github.com/nodesim/nodesim/scenarios/internal/workloads"
	"github.com/nodesim/nodesim/timeline"
)

// Put takes a write of a client at the present moment: ADDED or MODIFIED with the whole object, or DELETED. It returns
// the object's new version, and makes no event of the write. Actors answer to it in a later Advance, though perhaps
// at the same moment. An object that can't be read changes nothing.
func (a *Acting) Put(ev timeline.Event) (rv string, err error) {
	r, known := a.header.Lookup(ev.Resource)
	if !known {
		r = timeline.Resource{Resource: ev.Resource}
	}
	version, err := a.put(r, &ev)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", ev.Resource, ev.Name, err)
	}
	a.objects.Saw(&ev)
	if r == leases {
		a.led(&ev)
	}
	if r == events && ev.Type != timeline.Deleted {
		a.objects.ExpireEvent(&ev)
	}
	return strconv.FormatUint(version, 10), nil
}

func (a *Acting) put(r timeline.Resource, ev *timeline.Event) (version uint64, err error) {
	store := a.sim.env.API
	view := ""
	switch r {
	case nodes, pods, budgets, kube.NodeClaims, kube.Machines:
		view = r.Resource
	case roll.MachineSets, roll.MachineDeployments:
		if a.sim.machines != nil {
			view = r.Resource
		}
	}
	switch {
	case view == "":
		if r == leases && ev.Namespace == corev1.NamespaceNodeLease && ev.Type != timeline.Deleted {
			store.RenewLease(ev.Name)
		}
		if workloads.Has(r.Group, r.Resource) {
			if err := a.workloads.Put(ev); err != nil {
				return 0, err
			}
		}
		if err := a.scheduling(r, ev); err != nil {
			return 0, err
		}
		if r == events && ev.Type == timeline.Deleted && a.objects.Reported(ev.Namespace, ev.Name) {
			store.LoseEvent(ev.Namespace, ev.Name)
		}
		return store.NextVersion(), nil
	case ev.Type == timeline.Deleted:
		a.provide(r, ev)
		return store.PutAway(view, ev.Namespace, ev.Name)
	}
	a.provide(r, ev)
	version, err = a.view(r, ev)
	if err == nil && rawjson.Get(ev.Object, "metadata", "deletionTimestamp") != nil {
		a.sim.env.After(0, func() { store.Collect(view, ev.Namespace, ev.Name) })
	}
	return version, err
}

var (
	nodes   = timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}
	pods    = timeline.Resource{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}
	events  = timeline.Resource{Version: "v1", Kind: "Event", Resource: "events", Namespaced: true}
	leases  = timeline.Resource{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases", Namespaced: true}
	budgets = timeline.Resource{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true}
)

// view changes what the actors see of an object.
func (a *Acting) view(r timeline.Resource, ev *timeline.Event) (version uint64, err error) {
	store := a.sim.env.API
	switch r {
	case nodes:
		in := &corev1.Node{}
		if err := read(ev, in); err != nil {
			return 0, err
		}
		version = store.PutNode(ev.Name, func(n *kube.Node) { a.written.Node(n, in) })
		if ev.Type == timeline.Added && a.machines != nil {
			a.nodeCreated(in)
		}
		return version, nil
	case pods:
		in := &corev1.Pod{}
		if err := read(ev, in); err != nil {
			return 0, err
		}
		return store.PutPod(ev.Namespace, ev.Name, func(p *kube.Pod) { a.written.Pod(p, in) }), nil
	case budgets:
		in := &policyv1.PodDisruptionBudget{}
		if err := read(ev, in); err != nil {
			return 0, err
		}
		return store.PutBudget(ev.Namespace, ev.Name, func(b *kube.Budget) { a.written.Budget(b, in) }), nil
	}
	next := &kube.Custom{}
	if old := store.Custom(r.Resource, ev.Namespace, ev.Name); old != nil {
		*next = *old
	}
	if err := a.written.Custom(next, r, ev.Object); err != nil {
		return 0, err
	}
	return store.PutCustom(r.Resource, ev.Namespace, ev.Name, func(c *kube.Custom) { *c = *next }), nil
}

// read decodes what a client has written. Its identity is the event's.
func read(ev *timeline.Event, in metav1.Object) error {
	if err := json.Unmarshal(ev.Object, in); err != nil {
		return err
	}
	in.SetNamespace(ev.Namespace)
	in.SetName(ev.Name)
	in.SetUID(uid(ev, in.GetUID()))
	return nil
}

// uid is that of an object which a client writes.
func uid(ev *timeline.Event, own types.UID) types.UID {
	if own == "" {
		return types.UID(ev.UID)
	}
	return own
}

// traitsOf are the traits of a pod's program, by the labels that the pods of a workload have.
func (s *Simulation) traitsOf(in *corev1.Pod) any {
	if w := s.workloadOfPod(in.Namespace, labelsOf(in.Labels)); w != nil {
		return s.traits[w.Key()]
	}
	return (*component.PodTraits)(nil)
}
