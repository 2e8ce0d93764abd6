package spec

import (
	"slices"
	"time"
)

// A way lists the keys of a Roll that a strategy has, with their defaults. A key that is nil here must not be set.
type way struct {
	strategy  Strategy
	providers []Provider // none: all of them

	maxUnavailable, maxSurge, budget                     *IntOrPercent
	evictionTimeout, joinTimeout, settleAfterDrain, soak *time.Duration
	force, legacyTaint                                   bool

	inPlace bool // pods are changed, no node is replaced
}

func number(n int) *IntOrPercent             { return &IntOrPercent{Value: n} }
func share(n int) *IntOrPercent              { return &IntOrPercent{Value: n, IsPercent: true} }
func lasting(d time.Duration) *time.Duration { return &d }
func (w *way) of(p Provider) bool            { return len(w.providers) == 0 || slices.Contains(w.providers, p) }
func (r *Roll) way() *way                    { return wayOf(r.Strategy) }
func wayOf(s Strategy) *way {
	for _, w := range ways() {
		if w.strategy == s {
			return &w
		}
	}
	return nil
}

// ways are the strategies with the defaults that their providers document.
func ways() []way {
	return []way{
		{
			strategy: StrategyPlain, maxUnavailable: number(0), maxSurge: number(1), evictionTimeout: lasting(15 * time.Minute),
			joinTimeout: lasting(15 * time.Minute), settleAfterDrain: lasting(0), force: true,
		},
		{ // UpdateNodegroupConfig of the EKS API, and "Update behavior" in the EKS user guide. The surge is not configurable.
			strategy: StrategyEKSDefault, providers: []Provider{ProviderEKS}, maxUnavailable: number(1),
			evictionTimeout: lasting(15 * time.Minute), joinTimeout: lasting(15 * time.Minute),
			settleAfterDrain: lasting(time.Minute), force: true, legacyTaint: true,
		},
		{
			strategy: StrategyEKSMinimal, providers: []Provider{ProviderEKS}, maxUnavailable: number(1),
			evictionTimeout: lasting(15 * time.Minute), joinTimeout: lasting(15 * time.Minute),
			settleAfterDrain: lasting(time.Minute), force: true, legacyTaint: true,
		},
		{ // spec.disruption.budgets of a NodePool; a drain lasts until terminationGracePeriod, which isn't set by default. Nobody
			// sets the 15 minutes of registration (kubernetes-sigs/karpenter, pkg/controllers/nodeclaim/lifecycle/liveness.go).
			strategy: StrategyKarpenter, providers: []Provider{ProviderKarpenter}, budget: share(10), evictionTimeout: lasting(0),
		},
		{ // GKE documentation, "Node upgrade strategies": surge 1, unavailable 0, budgets are respected for an hour.
			strategy: StrategyGKESurge, providers: []Provider{ProviderGKE}, maxUnavailable: number(0), maxSurge: number(1),
			evictionTimeout: lasting(time.Hour), joinTimeout: lasting(15 * time.Minute),
		},
		{ // The same page: batches of one node, and an hour of soaking for the pool.
			strategy: StrategyGKEBlueGreen, providers: []Provider{ProviderGKE}, maxUnavailable: number(1),
			evictionTimeout: lasting(time.Hour), joinTimeout: lasting(15 * time.Minute), soak: lasting(time.Hour),
		},
		{ // AKS documentation, "Upgrade options": a drain may take 30 minutes, no soak.
			strategy: StrategyAKSReimage, providers: []Provider{ProviderAKS}, maxUnavailable: number(0), maxSurge: number(1),
			evictionTimeout: lasting(30 * time.Minute), joinTimeout: lasting(15 * time.Minute), soak: lasting(0),
		},
		{ // Cluster API, MachineDeployment: RollingUpdate with a surge of 1; nodeDrainTimeout 0 is without limit.
			strategy: StrategyCAPI, providers: []Provider{ProviderCAPI}, maxUnavailable: number(0), maxSurge: number(1),
			evictionTimeout: lasting(0), joinTimeout: lasting(0),
		},
		{ // kOps, rolling-update cluster: a surge of 1 where the cloud can detach instances, as AWS does
			// (kubernetes/kops#8674); drain and validation have 15 minutes, 5 s pass after a drain.
			strategy: StrategyKOps, providers: []Provider{ProviderKOps}, maxUnavailable: number(0), maxSurge: number(1),
			evictionTimeout: lasting(15 * time.Minute), joinTimeout: lasting(15 * time.Minute), settleAfterDrain: lasting(5 * time.Second),
		},
		{strategy: StrategyImage, maxUnavailable: number(1), joinTimeout: lasting(5 * time.Minute), inPlace: true},
		{strategy: StrategyResize, maxUnavailable: number(1), joinTimeout: lasting(5 * time.Minute), inPlace: true},
	}
}

// strategiesOf are those that a provider's groups can be rolled by.
func strategiesOf(p Provider) []Strategy {
	var names []Strategy
	for _, w := range ways() {
		if w.of(p) {
			names = append(names, w.strategy)
		}
	}
	return names
}
