package controllers

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// verdict is the result of a sync of a budget's pods.
type verdict struct {
	expected, desired, current, allowed int
	disrupted                           []kube.Disrupted
	overdue                             []*kube.Pod  // evicted, and never deleted
	recheck                             kube.Instant // when the first of disrupted is overdue; 0 for none
}

// sync is trySync and failSafe: it writes the status where that differs.
func (d *Disruption) sync(n *budgetCount) {
	b, now := n.budget, d.env.API.Now()
	if n.pods == 0 {
		d.report(b, "Normal", "NoPods", "No matching pods found")
	}
	v, err := d.verdict(n, now)
	switch {
	case err != nil:
		d.report(b, "Warning", "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: "+err.Error())
	case n.unmanaged > 0 && byScale(b):
		d.report(b, "Warning", "UnmanagedPods", "Pods selected by this PodDisruptionBudget (selector: "+goString(b)+") were found "+
			"to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "+
			"To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.")
	}
	for _, p := range v.overdue {
		// The real message has the namespace twice as well.
		d.env.API.Record(disruptionController, kube.AboutPod(p), "Warning", "NotDeleted",
			"Pod was expected by PDB "+b.Namespace+"/"+b.Namespace+" to be deleted but it wasn't")
	}
	d.env.API.UpdateBudget(b, func(b *kube.Budget) { v.write(b, err, now) })
	if v.recheck != 0 && (n.recheck <= now || v.recheck < n.recheck) {
		n.recheck = v.recheck
		d.env.After(v.recheck.Sub(now)+1, func() { d.queue(d.counts[b]) })
	}
}

func (d *Disruption) report(b *kube.Budget, kind, reason, message string) {
	d.env.API.Record(disruptionController, kube.Reference{
		APIVersion: "policy/v1", Kind: "PodDisruptionBudget", Namespace: b.Namespace, Name: b.Name, UID: b.UID,
		ResourceVersion: strconv.FormatUint(b.Version(), 10),
	}, kind, reason, message)
}

// goString is a LabelSelector as Go prints it.
func goString(b *kube.Budget) string {
	s := "&LabelSelector{MatchLabels:map[string]string{"
	for _, l := range b.Selector {
		s += l.Key + ": " + l.Value + ","
	}
	s += "},MatchExpressions:[]LabelSelectorRequirement{"
	for i := range b.Expressions {
		e := &b.Expressions[i]
		s += "LabelSelectorRequirement{Key:" + e.Key + ",Operator:" + e.Operator + ",Values:[" + strings.Join(e.Values, " ") + "],},"
	}
	return s + "},}"
}

// write puts a verdict into the status (updatePdbStatus); without one it keeps the present status (failSafe).
func (v *verdict) write(b *kube.Budget, failed error, now kube.Instant) {
	if failed != nil {
		b.DisruptionsAllowed = 0
		b.Conditions = b.Conditions.Set(kube.Condition{
			Type: "DisruptionAllowed", Status: "False", Reason: "SyncFailed", Message: failed.Error(),
			Transition: now.Second(), Observed: b.ObservedGeneration,
		})
		return
	}
	b.CurrentHealthy, b.DesiredHealthy, b.ExpectedPods, b.DisruptionsAllowed = v.current, v.desired, v.expected, v.allowed
	if !slices.Equal(b.DisruptedPods, v.disrupted) {
		b.DisruptedPods = v.disrupted
	}
	b.ObservedGeneration = b.Generation
	b.SetDisruptionAllowed(now)
}

func (d *Disruption) verdict(n *budgetCount, now kube.Instant) (v verdict, err error) {
	if v.expected, v.desired, err = d.expect(n); err != nil {
		return v, err
	}
	d.disrupted(n, now, &v)
	if v.allowed = v.current - v.desired; v.expected <= 0 || v.allowed <= 0 {
		v.allowed = 0
	}
	return v, nil
}

// byScale reports whether a budget depends on what its pods' controllers want.
func byScale(b *kube.Budget) bool {
	return b.MaxUnavailable != "" || strings.HasSuffix(b.MinAvailable, "%")
}

// expect is getExpectedPodCount: how many pods there should be, and how many of
// them healthy.
func (d *Disruption) expect(n *budgetCount) (expected, desired int, err error) {
	b := n.budget
	if b.MinAvailable == "" && b.MaxUnavailable == "" {
		return 0, 0, nil
	}
	if !byScale(b) {
		return n.pods, ScaledValue(b.MinAvailable, n.pods), nil
	}
	if expected, err = d.scale(n); err != nil {
		return 0, 0, err
	}
	if b.MaxUnavailable != "" {
		return expected, max(0, expected-ScaledValue(b.MaxUnavailable, expected)), nil
	}
	return expected, ScaledValue(b.MinAvailable, expected), nil
}

// ScaledValue is a number, or a percentage of a total rounded up, as
// intstr.GetScaledValueFromIntOrPercent of apimachinery reads them; 0 where it
// is neither.
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
func (d *Disruption) disrupted(n *budgetCount, now kube.Instant, v *verdict) {
	v.current = n.healthy
	for _, e := range n.budget.DisruptedPods {
		p := d.env.API.Pod(n.budget.Namespace, e.Pod)
		if p == nil || p.Terminating() || !n.budget.Covers(p) {
			continue
		}
		ends := e.At.Add(kube.DeletionTimeout)
		if ends < now {
			v.overdue = append(v.overdue, p)
			continue
		}
		v.disrupted = append(v.disrupted, e)
		if v.recheck == 0 || ends < v.recheck {
			v.recheck = ends
		}
		if ends > now && p.Ready() {
			v.current--
		}
	}
}
