package kube

import (
	"fmt"
	"slices"
	"time"
)

// DeletionTimeout is the time for which a granted eviction counts against its budget while the pod isn't deleted
// (pkg/controller/disruption/disruption.go).
const DeletionTimeout = 2 * time.Minute

// maxDisrupted bounds a budget's disruptedPods (MaxDisruptedPodSize of
// pkg/registry/core/pod/storage/eviction.go).
const maxDisrupted = 2000

// A Refusal is the API server's answer to an eviction that it doesn't grant.
type Refusal struct {
	Code       int // 429, 403 or 500
	Message    string
	Cause      string // of 429, the message of the cause DisruptionBudget
	RetryAfter time.Duration
}

func (r *Refusal) Error() string { return r.Message }

// Evict is the eviction subresource, step by step as EvictionREST.Create of
// pkg/registry/core/pod/storage/eviction.go takes them. A pod that has ended,
// has not begun or is being deleted, and one that no budget covers, is deleted.
// Of others the budget is asked: it notes the pod and allows one disruption
// less, the pod gets the condition DisruptionTarget and is then deleted. A
// refusal leaves no trace on the tape.
func (s *Store) Evict(p *Pod) *Refusal {
	if p.gone {
		return nil
	}
	if r := s.outbound(); r != nil {
		return r.Evict(p)
	}
	if p.Phase != "Pending" && !p.Terminal() && !p.Terminating() {
		if no := s.disrupt(p); no != nil {
			return no
		}
	}
	s.UpdatePod(p, func(p *Pod) {
		c := Condition{
			Type: "DisruptionTarget", Status: "True", Reason: "EvictionByEvictionAPI",
			Message: "Eviction API: evicting", Transition: s.Now().Second(),
		}
		if was := p.Conditions.Get(c.Type); was != nil {
			c.Observed = was.Observed // which the API server doesn't set itself
		}
		p.Conditions = p.Conditions.Set(c)
	})
	s.DeletePod(p, OwnGrace)
	return nil
}

// disrupt asks the pod's budget, and takes the disruption from it.
func (s *Store) disrupt(p *Pod) *Refusal {
	budgets := s.BudgetsOf(p)
	switch len(budgets) {
	case 0:
		return nil
	case 1:
	default:
		return &Refusal{Code: 500, Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}
	}
	b := budgets[0]
	if !p.Ready() {
		// A pod that isn't Ready doesn't count, so nothing is taken.
		if b.UnhealthyPodEvictionPolicy == "AlwaysAllow" || b.CurrentHealthy >= b.DesiredHealthy && b.DesiredHealthy > 0 {
			return nil
		}
	}
	const violates = "Cannot evict pod as it would violate the pod's disruption budget."
	switch {
	case b.ObservedGeneration < b.Generation:
		return &Refusal{
			Code: 429, Message: violates, RetryAfter: 10 * time.Second,
			Cause: fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Name),
		}
	case len(b.DisruptedPods) > maxDisrupted:
		return &Refusal{Code: 403, Message: "DisruptedPods map too big - too many evictions not confirmed by PDB controller"}
	case b.DisruptionsAllowed == 0:
		return &Refusal{Code: 429, Message: violates, Cause: b.why()}
	}
	s.UpdateBudget(b, func(b *Budget) {
		b.DisruptionsAllowed--
		if b.DisruptionsAllowed == 0 {
			b.SetDisruptionAllowed(s.Now())
		}
		i, found := slices.BinarySearchFunc(b.DisruptedPods, p.Name, byPod)
		d := Disrupted{Pod: p.Name, At: s.Now().Second()}
		was := b.DisruptedPods
		if found {
			b.DisruptedPods = slices.Clone(was)
			b.DisruptedPods[i] = d
			return
		}
		b.DisruptedPods = make([]Disrupted, len(was)+1)
		copy(b.DisruptedPods, was[:i])
		b.DisruptedPods[i] = d
		copy(b.DisruptedPods[i+1:], was[i:])
	})
	return nil
}

// why says why a budget allows no disruption. What a sync failed of comes first:
// then the counts are old.
func (b *Budget) why() string {
	c := b.Conditions.Get("DisruptionAllowed")
	told := c != nil && c.Status == "False" && c.Message != ""
	switch {
	case told && c.Reason == "SyncFailed":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", b.Name, c.Message)
	case b.CurrentHealthy <= b.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.DesiredHealthy, b.CurrentHealthy)
	case told:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, c.Reason, c.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name)
}

func byPod(d Disrupted, name string) int {
	switch {
	case d.Pod < name:
		return -1
	case d.Pod > name:
		return 1
	}
	return 0
}

// SetDisruptionAllowed sets the condition DisruptionAllowed to what
// DisruptionsAllowed says (UpdateDisruptionAllowedCondition of
// component-helpers/apps/poddisruptionbudget).
func (b *Budget) SetDisruptionAllowed(now Instant) {
	c := Condition{Type: "DisruptionAllowed", Status: "True", Reason: "SufficientPods", Transition: now.Second(), Observed: b.ObservedGeneration}
	if b.DisruptionsAllowed == 0 {
		c.Status, c.Reason = "False", "InsufficientPods"
	}
	b.Conditions = b.Conditions.Set(c)
}
