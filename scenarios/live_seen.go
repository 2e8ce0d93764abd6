package scenarios

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios/internal/controllers"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kube/convert"
)

// NodeSeen tells what a watch of nodes says: ADDED, MODIFIED and DELETED of all
// nodes, in their order. Nodes that aren't the scenario's are left alone.
func (p *LiveSimulation) NodeSeen(t watch.EventType, in *corev1.Node) {
	p.wait()
	store := p.sim.env.API
	n, seen := store.Node(in.Name), p.nodes[in.Name]
	if seen == nil {
		return
	}
	if t == watch.Deleted {
		if seen.uid == in.UID || seen.uid == "" {
			seen.ready, seen.uid = false, ""
		}
		if n != nil && n.UID == string(in.UID) {
			store.Inbound(func() { store.ForgetNode(n) })
		}
		return
	}
	if n == nil || seen.deleted == in.UID {
		return // an actor has deleted it, or a machine without Node is running
	}
	seen.uid = in.UID
	for _, c := range in.Status.Conditions {
		if c.Type == corev1.NodeReady {
			seen.ready = c.Status == corev1.ConditionTrue
		}
	}
	seen.closed = slices.ContainsFunc(in.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady })
	silent := !p.sim.kubelets.Reachable(n.Name)
	store.Know(&n.Meta, string(in.UID))
	store.Inbound(func() {
		store.UpdateNode(n, func(n *kube.Node) { convert.NodeFromAPI(n, in, p.clock, silent) })
	})
	p.disks.look()
}

// PodSeen tells what a watch of pods says: ADDED, MODIFIED and DELETED of all pods, in their order. Of a pod that is
// bound to one of the scenario's nodes it takes the fields that no kubelet waits for; [LiveSimulation.PodGiven] takes
// the others. The deletion of a pod whose kubelet is silent it takes too: drains skip such pods.
func (p *LiveSimulation) PodSeen(t watch.EventType, in *corev1.Pod) {
	p.wait()
	if t != watch.Deleted && p.versions.hasTombstone(in) {
		return
	}
	store := p.sim.env.API
	pod := store.Pod(in.Namespace, in.Name)
	if pod != nil && pod.UID != string(in.UID) && t != watch.Deleted {
		p.drop(pod)
		pod = nil
	}
	switch {
	case t == watch.Deleted:
		p.versions.addTombstone(in)
		if pod != nil && pod.UID == string(in.UID) {
			p.drop(pod)
		}
	case !p.versions.newer(in):
	case pod == nil && p.ours(in):
		// Its kubelet has still to be told.
	case pod == nil:
		pod = &kube.Pod{}
		p.templates.PodFromAPI(pod, in, p.clock, true)
		store.Inbound(func() { p.check(store.Learn(pod)) })
		p.place(pod)
	default:
		given := p.given[pod]
		store.Inbound(func() {
			store.UpdatePod(pod, func(pod *kube.Pod) {
				node, template, deleting, grace := pod.NodeName, pod.Template, pod.Deleting, pod.Grace
				p.templates.PodFromAPI(pod, in, p.clock, !given || !p.sim.kubelets.Reachable(pod.NodeName))
				if p.ours(in) {
					pod.NodeName, pod.Template = node, template
					if p.sim.kubelets.Reachable(node) { // else drains see the deletion now, and the kubelet when it is back
						pod.Deleting, pod.Grace = deleting, grace
					}
				}
			})
		})
	}
}

// PodGiven tells the kubelet of the pod's node of it: that it is bound there, was
// changed, or is being deleted. It may be told the same again; what is older than
// what it was told before, or than the pod's deletion, is left alone.
func (p *LiveSimulation) PodGiven(in *corev1.Pod) {
	p.wait()
	if !p.ours(in) || p.versions.hasTombstone(in) || !p.versions.newerThanTold(in) {
		return
	}
	store := p.sim.env.API
	pod := store.Pod(in.Namespace, in.Name)
	if pod != nil && pod.UID != string(in.UID) {
		p.drop(pod)
		pod = nil
	}
	newest := p.versions.newer(in)
	if pod == nil {
		pod = &kube.Pod{}
		bound := in.DeepCopy()
		bound.Spec.NodeName = ""
		p.templates.PodFromAPI(pod, bound, p.clock, true)
		store.Inbound(func() { p.check(store.Learn(pod)) })
	}
	first := !p.given[pod]
	if first && p.disks.hold(pod, in) {
		return
	}
	p.given[pod] = true
	take := func(pod *kube.Pod) {
		if newest {
			p.templates.PodFromAPI(pod, in, p.clock, first && in.Status.StartTime != nil)
			return
		}
		// The rest was seen on the watch, as it is by now.
		told := &kube.Pod{}
		p.templates.PodFromAPI(told, in, p.clock, true)
		pod.NodeName, pod.Template = told.NodeName, told.Template
		if pod.Deleting == 0 {
			pod.Deleting, pod.Grace = told.Deleting, told.Grace
		}
	}
	// One that runs already is of a live run that hadn't begun, whose nodes may have been missed meanwhile: no time passes in which its
	// kubelet would see to it.
	waits := pod.Phase == string(corev1.PodPending) || pod.Phase == string(corev1.PodRunning)
	if first && !p.begun && p.before == 0 && waits && !pod.Terminating() && p.sim.kubelets.Reachable(in.Spec.NodeName) {
		p.sim.kubelets.RunAtOnce(pod, take)
		return
	}
	store.Inbound(func() { store.UpdatePod(pod, take) })
}

// BudgetSeen tells what a watch of PodDisruptionBudgets says.
func (p *LiveSimulation) BudgetSeen(t watch.EventType, in *policyv1.PodDisruptionBudget) {
	p.wait()
	store := p.sim.env.API
	var b *kube.Budget
	for _, one := range store.Budgets() {
		if one.Namespace == in.Namespace && one.Name == in.Name {
			b = one
		}
	}
	store.Inbound(func() {
		switch {
		case t == watch.Deleted:
			if b != nil {
				store.DeleteBudget(b)
			}
		case b == nil:
			b = &kube.Budget{}
			convert.BudgetFromAPI(b, in, p.clock)
			p.check(store.CreateBudget(b))
		default:
			store.UpdateBudget(b, func(b *kube.Budget) { convert.BudgetFromAPI(b, in, p.clock) })
		}
	})
}

func (p *LiveSimulation) check(err error) {
	if err != nil {
		p.sim.env.Fail(err)
	}
}

// drop forgets a pod that is there no longer.
func (p *LiveSimulation) drop(pod *kube.Pod) {
	delete(p.given, pod)
	store := p.sim.env.API
	store.Inbound(func() { store.Forget(pod) })
}

// ours reports whether a pod is bound to a machine of the scenario.
func (p *LiveSimulation) ours(in *corev1.Pod) bool {
	return in.Spec.NodeName != "" && p.nodes[in.Spec.NodeName] != nil
}

// traitsOf are the traits of a pod's workload, by the labels that its pods have.
func (p *LiveSimulation) traitsOf(in *corev1.Pod) any {
	if in.Namespace == "kube-system" {
		for i := range p.agents {
			if labelled(in, &p.agents[i]) {
				return p.agents[i].Template.Traits
			}
		}
	}
	return p.sim.traitsOf(in)
}

func labelled(in *corev1.Pod, w *controllers.Workload) bool {
	for _, l := range w.Template.Labels {
		if in.Labels[l.Key] != l.Value {
			return false
		}
	}
	return true
}
