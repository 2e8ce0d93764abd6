package calibrate

import corev1 "k8s.io/api/core/v1"

// Nodes of kwok have no kubelet: one stage of kwok runs a bound pod with all of its containers ready, and one removes a pod that
// is deleted, and no Event tells of either. In a simulation of such nodes these stages take the times containerReady and
// appStop. They count where no kubelet reports of any pod of the tape.
type stages struct {
	start, stop []sample
	kubelets    bool // one reports of a pod
}

// binds takes the binding of a pod to its node.
func (p *pod) binds(r *reading, to string) {
	if p.node == "" && to != "" && p.fresh {
		p.bound = r.here()
	}
}

// staged takes the first status of a pod, if it has all of the pod's containers running and ready.
func (p *pod) staged(r *reading, s *corev1.PodStatus) {
	if !p.bound.is || len(s.ContainerStatuses) == 0 {
		return
	}
	for i := range s.ContainerStatuses {
		if !s.ContainerStatuses[i].Ready {
			return
		}
	}
	r.stages.start = append(r.stages.start, r.sample(r.now-p.bound.at, p.bound, r.here()))
}

// removed takes the end of a pod that was deleted on a node that is ready.
func (p *pod) removed(r *reading) {
	if n := r.nodes[p.node]; p.graceful && !p.held && n != nil && n.ready {
		r.stages.stop = append(r.stages.stop, r.sample(r.now-p.deleted.at, p.deleted, r.here()))
	}
}

// reports notes that a kubelet reports of a pod.
func (s *stages) reports(e *corev1.Event) {
	s.kubelets = s.kubelets || e.InvolvedObject.Kind == "Pod" && (e.Source.Component == "kubelet" || e.ReportingController == "kubelet")
}

// settle takes what was gathered, at the end of a tape with Events, none of which is of a kubelet.
func (s *stages) settle(r *reading) {
	if s.kubelets || r.coarse || r.streams["events"] == nil {
		return
	}
	for name, all := range map[string][]sample{"containerReady": s.start, "appStop": s.stop} {
		if len(all) > 0 {
			of := r.of(name)
			of.seen = append(of.seen, all...)
		}
	}
}
