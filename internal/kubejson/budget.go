package kubejson

import (
	"encoding/json"

	"github.com/nodesim/nodesim/internal/rawjson"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Budget decodes a PodDisruptionBudget. Its selector is shared.
func (d *Decoder) Budget(b *policyv1.PodDisruptionBudget, raw []byte) {
	w := d.walk(raw)
	for name := range w.Members() {
		switch string(name) {
		case "metadata":
			d.meta(&b.ObjectMeta, &w)
		case "spec":
			d.budgetSpec(&b.Spec, &w)
		case "status":
			d.budgetStatus(&b.Status, &w)
		default:
			w.Value()
		}
	}
}

func (d *Decoder) budgetSpec(s *policyv1.PodDisruptionBudgetSpec, w *rawjson.Walker) {
	if !w.AtObject() {
		*s = policyv1.PodDisruptionBudgetSpec{}
	}
	for name := range w.Members() {
		switch string(name) {
		case "minAvailable":
			s.MinAvailable = amount(w)
		case "maxUnavailable":
			s.MaxUnavailable = amount(w)
		case "selector":
			s.Selector = d.selector(s.Selector, w.Value())
		case "unhealthyPodEvictionPolicy":
			s.UnhealthyPodEvictionPolicy = nil
			if policy := policyv1.UnhealthyPodEvictionPolicyType(d.word(w)); policy != "" {
				s.UnhealthyPodEvictionPolicy = &policy
			}
		default:
			w.Value()
		}
	}
}

func (d *Decoder) budgetStatus(s *policyv1.PodDisruptionBudgetStatus, w *rawjson.Walker) {
	if !w.AtObject() {
		*s = policyv1.PodDisruptionBudgetStatus{}
	}
	for name := range w.Members() {
		switch string(name) {
		case "observedGeneration":
			s.ObservedGeneration = number(w)
			continue
		case "disruptionsAllowed":
			s.DisruptionsAllowed = small(w)
			continue
		case "currentHealthy":
			s.CurrentHealthy = small(w)
			continue
		case "desiredHealthy":
			s.DesiredHealthy = small(w)
			continue
		}
		if d.Brief { // disruptedPods has all pods that were evicted of late
			w.Value()
			continue
		}
		switch string(name) {
		case "expectedPods":
			s.ExpectedPods = small(w)
		case "disruptedPods":
			s.DisruptedPods = nil
			for pod := range w.Members() {
				if s.DisruptedPods == nil {
					s.DisruptedPods = map[string]metav1.Time{}
				}
				s.DisruptedPods[string(pod)] = instant(w)
			}
		case "conditions":
			s.Conditions = nil
			for range w.Elements() {
				s.Conditions = append(s.Conditions, d.condition(w))
			}
		default:
			w.Value()
		}
	}
}

func (d *Decoder) condition(w *rawjson.Walker) (c metav1.Condition) {
	for name := range w.Members() {
		switch string(name) {
		case "type":
			c.Type = d.word(w)
		case "status":
			c.Status = metav1.ConditionStatus(d.word(w))
		case "reason":
			c.Reason = d.word(w)
		case "observedGeneration":
			c.ObservedGeneration = number(w)
		case "lastTransitionTime":
			c.LastTransitionTime = instant(w)
		default:
			w.Value()
		}
	}
	return c
}

// selector is what a text makes of a selector: it replaces none, and patches one.
func (d *Decoder) selector(old *metav1.LabelSelector, raw []byte) *metav1.LabelSelector {
	if old != nil && rawjson.IsObject(raw) {
		text, err := json.Marshal(old)
		if err == nil {
			text, err = rawjson.Compact(nil, text)
		}
		if err != nil {
			return nil
		}
		raw = rawjson.Apply(nil, text, raw)
	}
	return share(&d.selectors, raw, func(raw []byte) (s *metav1.LabelSelector) {
		if json.Unmarshal(raw, &s) != nil {
			return nil
		}
		return s
	})
}
