package roll

import (
	"cmp"
	"slices"
	"time"

	"github.com/nodesim/nodesim/scenarios/cycle"
	"github.com/nodesim/nodesim/scenarios/internal/cloud"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// karpenterDrift replaces nodes whose image is no longer that of their
// EC2NodeClass (kubernetes-sigs/karpenter, pkg/controllers/disruption: drift.go
// and queue.go). NodeClaims become Drifted; for each of as many as the
// NodePool's budget allows, the node is tainted, a replacement is launched, and
// when that is initialized the old NodeClaim is deleted: the rest is the
// termination of [Karpenter]. No node is ever cordoned. A node is passed over
// while a budget doesn't allow one of its pods to be evicted, or a pod or the
// node itself must not be disrupted; so such a roll never fails, it waits.
type karpenterDrift struct {
	Base
	k       *Karpenter
	ordered []*claim // by Start, whose machines aren't launched yet
	// disrupted are the old NodeClaims of commands: the budget counts them until
	// their machines are being terminated.
	disrupted []*claim
	// spare says that the node of a claim that is wanted is empty while there are
	// more than are: such a one goes first.
	spare bool
}

// KarpenterDrift is the roll of a NodePool by drift; Budget bounds the number of nodes at once.
func KarpenterDrift(k *Karpenter) func(Base) Strategy {
	return func(b Base) Strategy {
		s := &karpenterDrift{Base: b, k: k}
		s.asked = func() int {
			s.ordered = slices.DeleteFunc(s.ordered, func(c *claim) bool {
				return c.instance != nil || c.object.Gone() || c.object.Terminating()
			})
			return len(s.ordered)
		}
		return s
	}
}

// Begin finds the drift, claim by claim. Those that are on their way out already
// count against the budget.
func (s *karpenterDrift) Begin() {
	old := make([]*cloud.Instance, 0, len(s.cfg.Group.Instances()))
	for _, i := range s.cfg.Group.Instances() {
		if c := s.k.claims[i.ID]; c != nil && c.object.Terminating() && !slices.Contains(s.disrupted, c) {
			s.disrupted = append(s.disrupted, c)
		}
		if s.Roller.old(i) {
			old = append(old, i)
		}
	}
	target := s.target
	var next func()
	next = func() {
		if s.over || s.target != target {
			return
		}
		for len(old) > 0 {
			c := s.k.claims[old[0].ID]
			old = old[1:]
			if c != nil && !c.object.Gone() && !c.object.Terminating() {
				s.k.set(c, "Drifted", "True", "AMIDrift", "AMIDrift")
				break
			}
		}
		s.look()
		if len(old) > 0 {
			s.env.After(s.env.Draw(&s.chance, s.env.Timings.CordonSpacing), next)
		}
	}
	next()
}

func (s *karpenterDrift) Options(c cycle.Cluster) (cycle.Options, bool) {
	budget := min(max(s.budget(), 0), s.cfg.Size)
	draining, outdated, serving := 0, 0, 0
	for i := range c.Instances {
		switch in := &c.Instances[i]; {
		case in.State == cycle.Draining:
			draining++
		case in.State != cycle.Started:
		case in.Config != c.Config:
			outdated++
		default:
			serving++
		}
	}
	s.spare = serving > s.cfg.Size && slices.ContainsFunc(s.cfg.Group.Instances(), func(i *cloud.Instance) bool { return s.reason(i) == empty })
	s.disrupted = slices.DeleteFunc(s.disrupted, func(c *claim) bool { return c.object.Gone() || c.ending() })
	busy := max(len(s.disrupted), draining) + s.notReady()
	if outdated > 0 || serving > s.cfg.Size {
		// The disruption controller looks every so often, whatever happened: for what
		// has drifted, and for what was launched for pods that have their place by now.
		s.lookAt(s.env.Now() + s.env.Draw(&s.chance, s.env.Timings.DisruptionPoll))
		if outdated > 0 && busy >= budget {
			s.k.publish(s.k.nodePool(s.cfg.Group), "Normal", "DisruptionBlocked", "No allowed disruptions for disruption reason Drifted due to blocking budget", "")
		}
	}
	return cycle.Options{
		TargetSize: s.cfg.Size, MaxSurge: cycle.AtMost(0), MaxUnavailable: cycle.AtMost(max(budget, 1)), // a budget of 0 waits: MaxDraining
		MaxDraining: cycle.AtMost(max(budget-busy+draining, 0)), MayDrain: s.mayDisrupt,
	}, true
}

// budget is how many nodes may be disrupted now. A percentage is of the initialized nodes whose machines aren't being terminated
// (BuildDisruptionBudgetMapping, pkg/controllers/disruption/helpers.go): one that is drained and its replacement both count.
func (s *karpenterDrift) budget() int {
	if s.cfg.BudgetOf == nil {
		return s.cfg.Budget
	}
	return s.cfg.BudgetOf(s.countNodes(func(*claim, *kube.Node) bool { return true }))
}

// countNodes counts the nodes of the group that budgets count, and of which something is so.
func (s *karpenterDrift) countNodes(is func(*claim, *kube.Node) bool) (count int) {
	for _, i := range s.cfg.Group.Instances() {
		c, n := s.k.claims[i.ID], s.env.API.Node(i.Name)
		if c != nil && n != nil && c.initialized && !c.ending() && is(c, n) {
			count++
		}
	}
	return count
}

// ending reports whether a claim's node is drained and its machine is being terminated. Budgets don't count it any more.
func (c *claim) ending() bool { return c.object.Conditions.Is("InstanceTerminating", "True") }

// notReady counts the initialized nodes of the group that aren't Ready and aren't being replaced: budgets count them as disrupted
// (BuildDisruptionBudgetMapping, pkg/controllers/disruption/helpers.go).
func (s *karpenterDrift) notReady() int {
	return s.countNodes(func(c *claim, n *kube.Node) bool { return !n.Ready() && !slices.Contains(s.disrupted, c) })
}

// It doesn't wait: a replacement that doesn't come is given up and tried again.
func (s *karpenterDrift) Waits(cycle.Cluster) bool { return false }

// mayDisrupt is ValidateNodeDisruptable and ValidatePodsDisruptable
// (pkg/controllers/state/statenode.go).
func (s *karpenterDrift) mayDisrupt(id cycle.InstanceID) (bool, string) {
	i := s.env.Cloud.Instance(string(id))
	if i == nil {
		return false, "no such instance"
	}
	c, n := s.k.claims[i.ID], s.env.API.Node(i.Name)
	if c == nil || n == nil || s.Roller.old(i) && !c.object.Conditions.Is("Drifted", "True") {
		return false, "not known to have drifted"
	}
	var why string
	switch {
	case !c.initialized:
		why = "Node isn't initialized"
	case c.object.Terminating() || n.Terminating():
		why = "Node is deleting or marked for deletion"
	case n.Annotations.Get(doNotDisrupt) == "true":
		why = `Disruption is blocked through the "` + doNotDisrupt + `" annotation`
	case s.awaits(i):
		// SimulateScheduling (helpers.go): its pods would go to a node that isn't
		// initialized. No event says so.
		return false, "its pods would go to a node that isn't initialized"
	case s.spare && s.reason(i) == underutilized:
		return false, "an empty node goes first"
	case s.k.cfg.GracePeriod == 0: // a node with a terminationGracePeriod is disrupted whatever its pods say (ValidatePodsDisruptable)
		why = s.podsForbid(n)
	}
	if why == "" && s.Roller.old(i) {
		why = s.k.strands(n)
	}
	if why != "" {
		s.k.publishBoth(n, c, "Normal", "DisruptionBlocked", why)
	}
	return why == "", why
}

// Why a node is disrupted (pkg/apis/v1/nodepool.go, DisruptionReason). A node that
// has not drifted goes where more were launched than are wanted, for pods that had no
// place then: that is consolidation.
const (
	drifted       = "Drifted"
	empty         = "Empty"
	underutilized = "Underutilized"
)

func (s *karpenterDrift) reason(i *cloud.Instance) string {
	switch {
	case s.Roller.old(i):
		return drifted
	case slices.ContainsFunc(s.env.API.PodsOn(i.Name), Leaves):
		return underutilized
	}
	return empty
}

// podsForbid says which pod of a node, or which budget, is in the way (CanEvictPods of pkg/utils/pdb/pdb.go). The
// annotation counts on pods of DaemonSets and static pods too.
func (s *karpenterDrift) podsForbid(n *kube.Node) string {
	pods := s.env.API.PodsOn(n.Name)
	if p := firstOf(pods, func(p *kube.Pod) bool { return p.Active() && p.Annotations.Get(doNotDisrupt) == "true" }); p != nil {
		return `Pod has "` + doNotDisrupt + `" annotation (Pod=` + p.Namespace + "/" + p.Name + ")"
	}
	p := firstOf(pods, func(p *kube.Pod) bool { return p.Active() && leavesKarpenter(p) && s.held(p) })
	if p == nil {
		return ""
	}
	budgets := s.env.API.BudgetsOf(p)
	budget := " (PodDisruptionBudget=" + budgets[0].Namespace + "/" + budgets[0].Name + ")"
	if len(budgets) > 1 {
		return "Eviction does not support multiple PDBs" + budget
	}
	return "Pdb prevents pod evictions" + budget
}

// firstOf is the first pod by its name that something is so of, nil where it is of none. Karpenter takes them in the order of a cache, which
// has none.
func firstOf(pods []*kube.Pod, is func(*kube.Pod) bool) (first *kube.Pod) {
	for _, p := range pods {
		if is(p) && (first == nil || cmp.Or(cmp.Compare(p.Namespace, first.Namespace), cmp.Compare(p.Name, first.Name)) < 0) {
			first = p
		}
	}
	return first
}

// held reports whether a budget doesn't allow a pod's eviction, or several cover it.
func (s *karpenterDrift) held(p *kube.Pod) bool {
	budgets := s.env.API.BudgetsOf(p)
	return len(budgets) > 1 || len(budgets) == 1 && budgets[0].DisruptionsAllowed == 0 &&
		(budgets[0].UnhealthyPodEvictionPolicy != "AlwaysAllow" || !p.Conditions.Is("Ready", "False"))
}

// Start launches nodes that replace none.
func (s *karpenterDrift) Start(count int) {
	for range count {
		if c := s.k.launch(s.cfg.Group, s.target, "", func(bool) { s.look() }); c != nil {
			s.ordered = append(s.ordered, c)
		}
	}
}

// others counts the nodes of the group beside one: those that stay, with those that
// were asked for, and of them those that are initialized.
func (s *karpenterDrift) others(beside *cloud.Instance) (stay, serve int) {
	for _, c := range s.k.named {
		if c.group != s.cfg.Group || c.object.Terminating() || c.object.Gone() || slices.Contains(s.disrupted, c) {
			continue
		}
		switch i := c.instance; {
		case i == nil:
			stay++
		case i == beside || i.State == cloud.ShuttingDown || i.State == cloud.Terminated:
		default:
			if stay++; c.initialized {
				serve++
			}
		}
	}
	return stay, serve
}

// awaits reports whether a node can go without a replacement once another one is
// initialized.
func (s *karpenterDrift) awaits(i *cloud.Instance) bool {
	stay, serve := s.others(i)
	return stay >= s.cfg.Size && serve < s.cfg.Size
}

// replacementPoll is between two looks of the queue at a replacement.
const replacementPoll = time.Second

// Drain is a command of the disruption queue. Its end is the machine's: done is
// never called. A node whose pods have their place on those that stay is replaced by
// none (drift.go: the replacements are what the simulated scheduling asks for), as
// where a Karpenter that was restarted no longer knows for whom it had launched one.
func (s *karpenterDrift) Drain(i *cloud.Instance, n *kube.Node, _ func(error)) {
	c := s.k.claims[i.ID]
	if c == nil {
		s.idle(i)
		return
	}
	_, serve := s.others(i)
	s.disrupted = append(s.disrupted, c)
	s.taint(n, kube.Taint{Key: disruptedTaint, Effect: "NoSchedule"})
	why := s.reason(i)
	s.k.set(c, "DisruptionReason", "True", why, why)
	if serve >= s.cfg.Size {
		s.env.After(replacementPoll, func() { s.replacement(i, n, c, why, true) })
		return
	}
	fresh := s.k.launch(s.cfg.Group, s.target, s.k.zoneFor(s.cfg.Group, i.Zone, n), func(ok bool) {
		s.env.After(replacementPoll, func() { s.replacement(i, n, c, why, ok) })
	})
	if fresh == nil {
		return
	}
	s.env.After(replacementPoll, func() {
		if !fresh.object.Gone() {
			s.k.publish(fresh.about(), "Normal", "DisruptionLaunching", "Launching NodeClaim: "+why, "")
			s.k.publish(fresh.about(), "Normal", "DisruptionWaitingReadiness", "Waiting on readiness to continue disruption", "")
		}
	})
}

// replacement ends the wait for a replacement: the old NodeClaim goes, or, where
// none came, its node is given back.
func (s *karpenterDrift) replacement(i *cloud.Instance, n *kube.Node, c *claim, why string, ok bool) {
	if c.object.Gone() || c.object.Terminating() || s.over || !c.object.Conditions.Is("DisruptionReason", "True") { // or its node was given back
		return
	}
	if !ok {
		s.Restore(n)
		s.disrupted = slices.DeleteFunc(s.disrupted, func(d *claim) bool { return d == c })
		s.idle(i)
		s.look()
		return
	}
	s.k.reasons[c.object.UID] = why
	s.k.publish(kube.AboutNode(n), "Normal", "DisruptionTerminating", "Disrupting Node: "+why+"/Delete", "")
	s.k.publish(c.about(), "Normal", "DisruptionTerminating", "Disrupting NodeClaim: "+why+"/Delete", "")
	s.k.deleteClaim(c)
}

// Remove deletes a NodeClaim.
func (s *karpenterDrift) Remove(i *cloud.Instance, _ *kube.Node) {
	if c := s.k.claims[i.ID]; c != nil {
		s.k.deleteClaim(c)
	}
}

// Restore removes the taint, and its condition in the claim.
func (s *karpenterDrift) Restore(n *kube.Node) {
	s.untaint(n, disruptedTaint)
	i := s.env.Cloud.ByNode(n.Name)
	if i == nil || s.k.claims[i.ID] == nil {
		return
	}
	s.disrupted = slices.DeleteFunc(s.disrupted, func(c *claim) bool { return c == s.k.claims[i.ID] })
	s.env.API.UpdateCustom(s.k.claims[i.ID].object, func(o *kube.Custom) {
		o.Conditions = o.Conditions.Remove("DisruptionReason")
		if !s.Roller.old(i) {
			o.Conditions = o.Conditions.Remove("Drifted")
		}
	})
}
