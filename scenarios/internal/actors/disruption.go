package actors

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/api"
	"github.com/nodesim/nodesim/scenarios/model"
)

// Disruption is the disruption controller of kube-controller-manager
// (pkg/controller/disruption/disruption.go): it keeps the status of budgets, and
// takes the condition DisruptionTarget back from pods that nobody deleted.
//
// The real controller counts a budget's pods at every sync. This one keeps the
// counts as pods change, so that a sync costs the same for ten pods and ten
// thousand.
type Disruption struct {
	env    *Env
	chance model.Stream
	counts map[*api.Budget]*budgetCount
	byPods map[string][]*budgetCount // by the UID of the pods' controller
	stale  model.Stream
}

// budgetCount is what is known of a budget's pods.
type budgetCount struct {
	budget  *api.Budget
	pods    int            // that it selects
	healthy int            // of those: Ready and not being deleted
	owners  map[string]int // pods by controller
	queued  bool
}

// NewDisruption starts the disruption controller. Budgets that are there
// already, and their pods, are taken into account.
func NewDisruption(env *Env) *Disruption {
	d := &Disruption{env: env, chance: env.Stream("disruption"), counts: map[*api.Budget]*budgetCount{}, byPods: map[string][]*budgetCount{}}
	env.API.WatchBudgets(d.budgetChanged)
	env.API.WatchPods(d.podChanged)
	return d
}

func (d *Disruption) budgetChanged(c api.Change, old, b *api.Budget) {
	switch c {
	case api.Added:
		n := &budgetCount{budget: b, owners: map[string]int{}}
		d.counts[b] = n
		clear(d.byPods)
		for _, p := range d.env.API.Pods() {
			if b.Covers(p) {
				n.count(p, +1)
			}
		}
		d.queue(n)
	case api.Modified:
		// The API server's own writes, when it grants an eviction, bring the
		// controller to its feet as well.
		d.queue(d.counts[b])
	case api.Deleted:
		delete(d.counts, b)
		clear(d.byPods)
	}
}

func (d *Disruption) podChanged(c api.Change, old, p *api.Pod) {
	for _, n := range d.of(p) {
		switch c {
		case api.Added:
			n.count(p, +1)
		case api.Modified:
			n.count(old, -1)
			n.count(p, +1)
			if healthy(old) == healthy(p) && old.Terminating() == p.Terminating() && old.Phase == p.Phase {
				// A sync finds nothing new, and writes nothing.
				continue
			}
		case api.Deleted:
			n.count(old, -1)
		}
		d.queue(n)
	}
	if c == api.Modified && !p.Terminating() && p.Conditions.Is("DisruptionTarget", "True") && !old.Conditions.Is("DisruptionTarget", "True") {
		d.watchTarget(p)
	}
}

// of returns the budgets that select a pod. The pods of one controller don't
// differ in the labels that budgets select by.
func (d *Disruption) of(p *api.Pod) []*budgetCount {
	owner := ""
	if p.Owner != nil {
		owner = p.Owner.UID
	}
	if some, known := d.byPods[owner]; known && owner != "" {
		return some
	}
	var some []*budgetCount
	for _, b := range d.env.API.Budgets() {
		if n := d.counts[b]; n != nil && b.Covers(p) {
			some = append(some, n)
		}
	}
	d.byPods[owner] = some
	return some
}

func healthy(p *api.Pod) bool { return !p.Terminating() && p.Ready() }

func (n *budgetCount) count(p *api.Pod, by int) {
	n.pods += by
	if healthy(p) {
		n.healthy += by
	}
	if p.Owner != nil {
		if n.owners[p.Owner.UID] += by; n.owners[p.Owner.UID] == 0 {
			delete(n.owners, p.Owner.UID)
		}
	}
}

// queue has a budget synced soon; changes until then are one sync.
func (d *Disruption) queue(n *budgetCount) {
	if n == nil || n.queued {
		return
	}
	n.queued = true
	d.env.After(d.env.Draw(&d.chance, d.env.Timings.ControllerReact), func() {
		n.queued = false
		if d.counts[n.budget] == n {
			d.sync(n)
		}
	})
}

// sync is trySync: it writes the status where that differs.
func (d *Disruption) sync(n *budgetCount) {
	b, now := n.budget, d.env.API.Now()
	if n.pods == 0 {
		d.env.API.Record(api.Source{Component: "controllermanager"}, api.Reference{
			APIVersion: "policy/v1", Kind: "PodDisruptionBudget", Namespace: b.Namespace, Name: b.Name, UID: b.UID,
			ResourceVersion: strconv.FormatUint(b.Version(), 10),
		}, "Normal", "NoPods", "No matching pods found")
	}
	expected, desired := d.expect(n)
	disrupted, current := d.disrupted(n, now)
	allowed := current - desired
	if expected <= 0 || allowed <= 0 {
		allowed = 0
	}
	d.env.API.UpdateBudget(b, func(b *api.Budget) {
		b.CurrentHealthy, b.DesiredHealthy, b.ExpectedPods, b.DisruptionsAllowed = current, desired, expected, allowed
		if !slices.Equal(b.DisruptedPods, disrupted) {
			b.DisruptedPods = disrupted
		}
		b.ObservedGeneration = b.Generation
		b.SetDisruptionAllowed(now)
	})
}

// expect is getExpectedPodCount: how many pods there should be, and how many of
// them healthy.
func (d *Disruption) expect(n *budgetCount) (expected, desired int) {
	b := n.budget
	if b.MaxUnavailable != "" {
		expected = d.scale(n)
		return expected, max(0, expected-ScaledValue(b.MaxUnavailable, expected))
	}
	if strings.HasSuffix(b.MinAvailable, "%") {
		expected = d.scale(n)
		return expected, ScaledValue(b.MinAvailable, expected)
	}
	return n.pods, ScaledValue(b.MinAvailable, n.pods)
}

// scale adds up what the pods' controllers want.
func (d *Disruption) scale(n *budgetCount) (sum int) {
	for owner := range n.owners { // a sum: the order is of no consequence
		replicas, _ := d.env.API.Scale(owner)
		sum += replicas
	}
	return sum
}

// ScaledValue is a number, or a percentage of a total rounded up, as
// intstr.GetScaledValueFromIntOrPercent of apimachinery reads them.
func ScaledValue(value string, total int) int {
	percent, is := strings.CutSuffix(value, "%")
	v, _ := strconv.Atoi(percent)
	if is {
		return (v*total + 99) / 100
	}
	return v
}

// disrupted is buildDisruptedPodMap and countHealthyPods: which granted
// evictions still count, and how many pods are healthy without them.
func (d *Disruption) disrupted(n *budgetCount, now api.Instant) (keep []api.Disrupted, current int) {
	current = n.healthy
	var first api.Instant
	for _, e := range n.budget.DisruptedPods {
		p := d.env.API.Pod(n.budget.Namespace, e.Pod)
		if p == nil || p.Terminating() {
			continue
		}
		ends := e.At.Add(api.DeletionTimeout)
		if ends < now {
			d.env.API.Record(api.Source{Component: "controllermanager"}, api.AboutPod(p), "Warning", "NotDeleted",
				"Pod was expected by PDB "+n.budget.Namespace+"/"+n.budget.Namespace+" to be deleted but it wasn't")
			continue
		}
		keep = append(keep, e)
		if first == 0 || ends < first {
			first = ends
		}
		if ends > now && p.Ready() {
			current--
		}
	}
	if first != 0 {
		d.env.After(first.Sub(now)+1, func() { d.queue(d.counts[n.budget]) })
	}
	return keep, current
}

// watchTarget takes the condition back where the pod isn't deleted within two
// minutes (syncStalePodDisruption).
func (d *Disruption) watchTarget(p *api.Pod) {
	d.env.After(api.DeletionTimeout, func() {
		c := p.Conditions.Get("DisruptionTarget")
		if p.Gone() || p.Terminating() || p.Terminal() || c == nil || c.Status != "True" {
			return
		}
		d.env.API.UpdatePod(p, func(p *api.Pod) {
			next := *c
			next.Status, next.Reason, next.Message, next.Transition = "False", "", "", d.env.API.Now().Second()
			p.Conditions = p.Conditions.Set(next)
		})
	})
}
