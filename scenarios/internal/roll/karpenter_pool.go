package roll

import (
	"cmp"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/timeline"
)

// NodePools is the resource of Karpenter's NodePools. No tape of a simulation holds
// them: they don't change.
var NodePools = timeline.Resource{Group: "karpenter.sh", Version: "v1", Kind: "NodePool", Resource: "nodepools"}

// nodePool is the reference of a group's NodePool.
func (k *Karpenter) nodePool(g *cloud.Group) kube.Reference {
	s := k.env.Stream("nodepool", g.Name)
	return kube.Reference{APIVersion: "karpenter.sh/v1", Kind: NodePools.Kind, Name: g.Name, UID: s.UUID()}
}

// createPool creates the NodePool of a group, unless it is there.
func (k *Karpenter) createPool(g *cloud.Group) {
	if k.env.API.Custom(NodePools.Resource, "", g.Name) != nil {
		return
	}
	o := &kube.Custom{Resource: NodePools}
	o.Name = g.Name
	// The budget that the API defaults to (pkg/apis/v1/nodepool.go).
	budget := cmp.Or(k.cfg.Budget, "10%")
	o.Spec = `{"disruption":{"budgets":[{"nodes":` + kube.Quote(budget) + `}],"consolidateAfter":"Never","consolidationPolicy":"WhenEmpty"},` +
		`"template":{"spec":` + claimSpec(g.Template, capacityOf(g), "") + `}}`
	now := k.env.API.Now().Second()
	for _, kind := range [...]string{"NodeClassReady", "Ready", "ValidationSucceeded"} {
		o.Conditions = o.Conditions.Set(kube.Condition{Type: kind, Status: "True", Reason: kind, Transition: now, Observed: 1})
	}
	if err := k.env.API.CreateCustom(o); err != nil {
		k.env.Fail(err)
	}
}
