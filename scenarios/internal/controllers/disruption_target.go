package controllers

import "github.com/nodesim/nodesim/scenarios/internal/kube"

// staleTarget reports whether a pod has the condition DisruptionTarget, and no deletion yet
// (nonTerminatingPodHasStaleDisruptionCondition). What a kubelet says of a pod that it ends never gets stale.
func staleTarget(p *kube.Pod) bool {
	if p.Terminating() || p.Terminal() {
		return false
	}
	c := p.Conditions.Get("DisruptionTarget")
	return c != nil && c.Status == "True" && c.Reason != "TerminationByKubelet"
}

// watchTarget takes the condition back where the pod isn't deleted within two
// minutes of it (syncStalePodDisruption).
func (d *Disruption) watchTarget(p *kube.Pod) {
	said := p.Conditions.Get("DisruptionTarget").Transition
	d.env.After(said.Add(kube.DeletionTimeout).Sub(d.env.API.Now()), func() {
		if p.Gone() || !staleTarget(p) || p.Conditions.Get("DisruptionTarget").Transition != said {
			return
		}
		d.env.API.UpdatePod(p, func(p *kube.Pod) {
			p.Conditions = p.Conditions.Set(kube.Condition{
				Type: "DisruptionTarget", Status: "False", Transition: d.env.API.Now().Second(), Observed: observed(p),
			})
		})
	})
}
