// Package autoscaler is the cluster autoscaler of a simulated cluster.
//
// In: pods that wait, nodes, and groups at the provider. Out: the sizes of groups, cordons, evictions and Events. It packs
// with Assign of scenarios/nodemanager and judges nodes with the scheduler's filters.
package autoscaler

import (
	"fmt"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/kubelet"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/scenarios/internal/scheduler"
)

// Autoscaler adds nodes for pods that fit nowhere and takes idle nodes away, as
// the Cluster Autoscaler does (kubernetes/autoscaler, cluster-autoscaler), whose
// words and taints it uses. What it decides by is nodemanager.Assign, which
// gives every request a machine of its own and keeps standby ones: a request is a
// bundle of waiting pods that fill a node.
//
//	autoscaler_demand.go  pods that wait, by template
//	autoscaler_node.go    nodes: joining, free, busy, or on their way out
//	autoscaler_group.go   groups: instances, sizes, and pauses after failures
//	autoscaler_shape.go   what a group's next node will look like
//	autoscaler_pack.go    pods into bundles, bundles to groups
//	autoscaler_plan.go    machines, requests, and what is decided about them
//	autoscaler_up.go      a plan becomes a larger group
//	autoscaler_down.go    idle nodes go
//	autoscaler_report.go  Events, no more than the real one gets through
//
// It looks at the cluster every AutoscalerScan. Where more than 45 % of all nodes, and more than three, have long
// been unready, it does nothing but say so. It leaves nodes alone that another client is emptying: those that are
// cordoned, carry a taint that their group doesn't give them, or whose instance is on its way out. A node that is
// younger than five minutes isn't idle, so that the surge of a roll isn't taken away before it is used.
//
// Where it differs from the real one: all groups may grow in one scan; the first
// group of the configuration that can hold a pod is the one that grows; nodes
// with workload on them are never emptied to save one; a group whose nodes don't
// come up gets a pause, and the machines stay. Instances of a detached group are
// launched and terminated one by one, with the same words and taints.
type Autoscaler struct {
	env    *component.Env
	cfg    Config
	chance model.Stream
	// judge says why pods don't fit, in the scheduler's words: the real one runs
	// the scheduler's filters as a library, too.
	judge scheduler.Scheduler

	groups  []*scaledGroup
	byGroup map[*cloud.Group]*scaledGroup

	nodes   map[string]*scaledNode
	unready map[*scaledNode]struct{}
	marked  []*scaledNode // with the taint of a candidate for deletion
	demands []*demand
	byPods  map[*kube.Template]*demand
	waiting map[*kube.Pod]int // places in their demands
	claims  map[scheduler.ClaimName]string
	agents  scheduler.Agents // which take room on a new node

	reports   reports
	idleGrace time.Duration
	grown     time.Duration // when a group last grew
	everGrown bool
}

// Config lists the groups to scale.
type Config struct {
	// Groups that are scaled, within their Min and Max. Pods that fit into
	// several go to the first.
	Groups []*cloud.Group
	// Standby are nodes that are kept free.
	Standby []Standby
	// Kubelets says what a new node looks like; its Shape, Place and Profile are
	// used.
	Kubelets kubelet.Config
}

// Standby keeps a number of nodes of a group free for pods to come.
type Standby struct {
	Group string
	Count int
}

const (
	// Flags of cluster-autoscaler (config/flags/flags.go) and their defaults:
	maxUnreadyPercentage = 45               // max-total-unready-percentage
	okUnready            = 3                // ok-total-unready-count
	nodeStartup          = 15 * time.Minute // MaxNodeStartupTime, and max-node-provision-time
	backoffGroupFirst    = 5 * time.Minute  // initial-node-group-backoff-duration
	backoffGroupMost     = 30 * time.Minute // max-node-group-backoff-duration
	deleteDelay          = 5 * time.Second  // node-delete-delay-after-taint
	softTaintsAtOnce     = 10               // max-bulk-soft-taint-count
	deletionsAtOnce      = 10               // max-scale-down-parallelism

	// youth is the age from which a node may count as idle.
	youth = 5 * time.Minute
	// settling is the time that the scheduler may take after a change of a node to retry waiting pods: its backoff of
	// up to ten seconds, and some.
	settling = 15 * time.Second
	// scanAtLeast keeps a configured interval of 0 from stopping the time.
	scanAtLeast = 100 * time.Millisecond

	taintToBeDeleted = "ToBeDeletedByClusterAutoscaler"
	taintCandidate   = "DeletionCandidateOfClusterAutoscaler"
)

// New starts the autoscaler. It knows the nodes and pods that are
// there.
func New(env *component.Env, cfg Config) *Autoscaler {
	a := &Autoscaler{
		env: env, cfg: cfg, chance: env.Stream("autoscaler"), judge: scheduler.Scheduler{Env: env},
		byGroup: map[*cloud.Group]*scaledGroup{}, nodes: map[string]*scaledNode{}, unready: map[*scaledNode]struct{}{},
		byPods: map[*kube.Template]*demand{}, waiting: map[*kube.Pod]int{}, claims: map[scheduler.ClaimName]string{},
	}
	a.reports.begin(env, a.chance.UUID())
	a.idleGrace = env.Draw(&a.chance, env.Timings.AutoscalerIdle)
	for _, g := range cfg.Groups {
		if a.byGroup[g] == nil {
			a.byGroup[g] = newScaledGroup(a, g)
			a.groups = append(a.groups, a.byGroup[g])
		}
	}
	for _, s := range cfg.Standby {
		i := slices.IndexFunc(a.groups, func(g *scaledGroup) bool { return g.Name == s.Group })
		if i < 0 {
			env.Fail(fmt.Errorf("standby of group %q: it isn't scaled: name one of the autoscaler's groups", s.Group))
			continue
		}
		a.groups[i].standby += max(s.Count, 0)
	}
	for _, n := range env.API.Nodes() {
		a.node(kube.Added, nil, n)
	}
	for _, p := range env.API.Pods() {
		if p.NodeName == "" {
			a.pod(kube.Added, nil, p)
		} else {
			a.agent(p)
			a.claim(p)
		}
	}
	env.API.WatchNodes(a.node)
	env.API.WatchPods(a.pod)
	env.Cloud.Watch(a.instance)
	env.Cloud.WatchRefusals(a.refused)
	every := env.Draw(&a.chance, env.Timings.AutoscalerScan)
	env.After(time.Duration(a.chance.N(uint64(max(every, scanAtLeast)))), a.scan)
	return a
}

// scan is one look (RunOnce of core/static_autoscaler.go).
func (a *Autoscaler) scan() {
	a.env.After(max(a.env.Draw(&a.chance, a.env.Timings.AutoscalerScan), scanAtLeast), a.scan)
	if !a.healthy() {
		a.forgetIdle()
		a.reports.status("Warning", "ClusterUnhealthy", "Cluster is unhealthy")
		return
	}
	for _, g := range a.groups {
		g.look()
	}
	p := a.pack()
	for _, g := range a.groups {
		g.decide(p.of(g))
	}
	a.grow(p)
	a.shrink()
}

// healthy is IsClusterHealthy of clusterstate/clusterstate.go. Nodes that are
// being deleted, or were created a short while ago, may be unready.
func (a *Autoscaler) healthy() bool {
	unready := 0
	for n := range a.unready {
		if a.env.API.Now().Sub(n.node.Created) >= nodeStartup && !n.node.HasTaint(taintToBeDeleted, "") {
			unready++
		}
	}
	return unready <= okUnready || 100*unready <= maxUnreadyPercentage*len(a.nodes)
}

// now is the moment as the planner has it.
func (a *Autoscaler) now() time.Time { return a.env.API.Now().Time() }
