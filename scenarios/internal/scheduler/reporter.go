package scheduler

import (
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// A Reporter writes what a scheduler has decided of a pod, in the scheduler's name.
type Reporter struct {
	Env *component.Env
	// Name and Instance are the reportingController and reportingInstance of its Events.
	Name, Instance string
}

// Bind binds a pod to a node, and gives it these labels.
func (r *Reporter) Bind(p *kube.Pod, node string, labels kube.Pairs) {
	about := kube.AboutPod(p)
	r.Env.API.UpdatePod(p, func(p *kube.Pod) {
		p.NodeName = node
		p.Labels = labels
		if r.Env.Version.Minor >= 35 { // the feature ClearingNominatedNodeNameAfterBinding
			p.Nominated = ""
		}
		p.Conditions = p.Conditions.Set(kube.Condition{Type: "PodScheduled", Status: "True", Transition: r.Env.API.Now().Second()})
	})
	r.Env.API.RecordNew(r.Name, r.Instance, about, "Normal", "Scheduled", "Binding", "Successfully assigned "+p.Namespace+"/"+p.Name+" to "+node)
}

// Unschedulable says of a pod that it has no node, and the node on which one that preempts others is to have their place.
func (r *Reporter) Unschedulable(p *kube.Pod, message, nominated string) {
	r.Failed(p, message)
	c := kube.Condition{Type: "PodScheduled", Status: "False", Reason: "Unschedulable", Message: message, Transition: r.Env.API.Now().Second()}
	if r.Env.Version.PodGeneration() {
		c.Observed = p.Generation
	}
	r.Env.API.UpdatePod(p, func(p *kube.Pod) { p.Conditions, p.Nominated = p.Conditions.Set(c), nominated })
}

// Failed tells of a failure in an Event. One that is told again of the same version of a pod is part of a series, whatever
// its message.
func (r *Reporter) Failed(p *kube.Pod, message string) {
	r.Env.API.RecordNew(r.Name, r.Instance, kube.AboutPod(p), "Warning", "FailedScheduling", "Scheduling", cutNote(message))
}

// TopologyLabels returns a pod's labels with those of a node's zone and region, as the admission PodTopologyLabels adds
// them to a binding since 1.35.
func (r *Reporter) TopologyLabels(labels kube.Pairs, n *kube.Node) kube.Pairs {
	if r.Env.Version.Minor < 35 {
		return labels
	}
	for _, k := range [...]string{component.LabelRegion, component.LabelZone} {
		if v, ok := n.Labels.Lookup(k); ok {
			labels = labels.With(k, v)
		}
	}
	return labels
}
