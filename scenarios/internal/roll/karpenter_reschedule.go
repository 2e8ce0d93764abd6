package roll

import (
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// Drift disrupts a node only where its pods would run elsewhere: on a node that is there, or on a new one of any NodePool
// (AllNonPendingPodsScheduled in pkg/controllers/disruption/drift.go). Here it is only blocked for a pod that no node would take, whatever
// other pods do: spreads and affinities between pods don't count.

// strands names a pod of a node that would run nowhere else, and why, "" where there is none. Karpenter's own reasons list the requirements of
// pod and NodePool; these are the scheduler's.
func (k *Karpenter) strands(n *kube.Node) string {
	p := firstOf(k.env.API.PodsOn(n.Name), func(p *kube.Pod) bool { return Leaves(p) && p.Active() && len(k.refusals(p, n)) > 0 })
	if p == nil {
		return ""
	}
	return "Not all pods would schedule, " + p.Namespace + "/" + p.Name + " => " + strings.Join(k.refusals(p, n), ", ")
}

// refusals are why a pod would run on no node but one.
func (k *Karpenter) refusals(p *kube.Pod, but *kube.Node) (why []string) {
	volumes, one := k.volumeZone(p)
	if !one {
		return nil // it runs where no pod could be placed
	}
	need := component.NeedOf(p)
	for _, g := range k.cfg.Groups {
		for _, zone := range g.Zones {
			if volumes != "" && volumes != zone {
				continue
			}
			if why = k.judge.RefusalsOf(p.Template, need, k.newNode(g, zone)); why == nil {
				return nil
			}
		}
	}
	for _, n := range k.env.API.Nodes() {
		if n != but && n.Ready() && !n.Terminating() && (volumes == "" || volumes == n.Labels.Get(component.LabelZone)) && k.takes(n, p, need) {
			return nil
		}
	}
	if why == nil {
		why = []string{k.judge.ReasonVolume()}
	}
	return why
}

// takes reports whether a node that is there would take a pod.
func (k *Karpenter) takes(n *kube.Node, p *kube.Pod, need component.Room) bool {
	like := &scheduler.NewNode{NodeGroup: scheduler.NodeGroup{Taints: n.Taints, Labels: n.Labels}, Room: k.roomOn(n).free, Allocatable: n.Allocatable}
	return k.judge.RefusalsOf(p.Template, need, like) == nil
}
