package podadmission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/kubedefaults"
)

// selectors are the scopes of a quota, written either way (getScopeSelectorsFromQuota of apiserver/pkg/quota/v1/generic).
func selectors(q *corev1.ResourceQuota) (all []corev1.ScopedResourceSelectorRequirement) {
	for _, s := range q.Spec.Scopes {
		all = append(all, corev1.ScopedResourceSelectorRequirement{ScopeName: s, Operator: corev1.ScopeSelectorOpExists})
	}
	if s := q.Spec.ScopeSelector; s != nil {
		all = append(all, s.MatchExpressions...)
	}
	return all
}

// inScope reports whether an object is in all scopes of a quota. Only pods and claims are in any.
func (i *Item) inScope(q *corev1.ResourceQuota) bool {
	for _, s := range selectors(q) {
		switch {
		case i.Pod != nil && podIn(i.Pod, &s):
		case i.Claim != nil && s.ScopeName == corev1.ResourceQuotaScopeVolumeAttributesClass && named(&s, attributes(i.Claim)):
		default:
			return false
		}
	}
	return true
}

// podIn is podMatchesScopeFunc of pkg/quota/v1/evaluator/core/pods.go.
func podIn(p *corev1.Pod, s *corev1.ScopedResourceSelectorRequirement) bool {
	switch s.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return Limited(p)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !Limited(p)
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(&p.Spec)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(&p.Spec)
	case corev1.ResourceQuotaScopePriorityClass:
		var class []string
		if p.Spec.PriorityClassName != "" {
			class = []string{p.Spec.PriorityClassName}
		}
		return named(s, class)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossNamespace(p.Spec.Affinity)
	}
	return false
}

// Limited reports whether a pod has a deadline, which puts it in the scope Terminating (IsTerminating there).
func Limited(p *corev1.Pod) bool {
	d := p.Spec.ActiveDeadlineSeconds
	return d != nil && *d >= 0
}

// named reports whether one of an object's classes is one that a scope selects.
func named(s *corev1.ScopedResourceSelectorRequirement, classes []string) bool {
	among := func(c string) bool { return slices.Contains(s.Values, c) }
	switch s.Operator {
	case corev1.ScopeSelectorOpExists:
		return len(classes) > 0
	case corev1.ScopeSelectorOpDoesNotExist:
		return len(classes) == 0
	case corev1.ScopeSelectorOpIn:
		return slices.ContainsFunc(classes, among)
	case corev1.ScopeSelectorOpNotIn:
		return len(classes) == 0 || slices.ContainsFunc(classes, func(c string) bool { return !among(c) })
	}
	return false
}

// attributes are the classes of volume attributes of a claim (getReferencedVolumeAttributesClassNames there).
func attributes(c *corev1.PersistentVolumeClaim) (all []string) {
	named := []*string{c.Spec.VolumeAttributesClassName, c.Status.CurrentVolumeAttributesClassName}
	if m := c.Status.ModifyVolumeStatus; m != nil {
		named = append(named, &m.TargetVolumeAttributesClassName)
	}
	for _, n := range named {
		if n != nil && *n != "" {
			all = append(all, *n)
		}
	}
	return all
}

// bestEffort reports whether a pod asks for no CPU or memory.
func bestEffort(s *corev1.PodSpec) bool { return kubedefaults.QOSOf(s) == corev1.PodQOSBestEffort }

// crossNamespace reports whether an affinity to pods, or against some, looks at other namespaces (usesCrossNamespacePodAffinity there).
func crossNamespace(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	var terms []corev1.PodAffinityTerm
	weigh := func(list []corev1.WeightedPodAffinityTerm) {
		for i := range list {
			terms = append(terms, list[i].PodAffinityTerm)
		}
	}
	if to := a.PodAffinity; to != nil {
		terms = append(terms, to.RequiredDuringSchedulingIgnoredDuringExecution...)
		weigh(to.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if from := a.PodAntiAffinity; from != nil {
		terms = append(terms, from.RequiredDuringSchedulingIgnoredDuringExecution...)
		weigh(from.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return len(t.Namespaces) > 0 || t.NamespaceSelector != nil })
}
