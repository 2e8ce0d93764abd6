//go:build controlplane

package scheduler_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spec makes what a pod with these labels asks for: each thing now and then.
func (g *generator) spec(labels map[string]string) corev1.PodSpec {
	s := corev1.PodSpec{SchedulerName: corev1.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyAlways}
	s.Containers = []corev1.Container{g.container("c")}
	if g.odds(5) {
		s.Containers = append(s.Containers, g.container("d"))
	}
	if g.odds(6) {
		s.InitContainers = append(s.InitContainers, g.container("i"))
	}
	if g.odds(8) {
		always := corev1.ContainerRestartPolicyAlways
		sidecar := g.container("s")
		sidecar.RestartPolicy = &always
		s.InitContainers = append(s.InitContainers, sidecar)
		if g.odds(2) {
			s.InitContainers = append(s.InitContainers, g.container("j"))
		}
	}
	if g.odds(10) {
		s.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080, HostIP: g.one("", "10.0.0.1", "10.0.0.2"), Protocol: corev1.Protocol(g.one("TCP", "TCP", "UDP"))}}
	}
	if g.odds(10) {
		s.Overhead = corev1.ResourceList{corev1.ResourceCPU: g.quantity("50m", "250m"), corev1.ResourceMemory: g.quantity("32Mi")}
	}
	if g.odds(15) {
		s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: g.quantity("1", "2"), corev1.ResourceMemory: g.quantity("1Gi")}}
	}
	if g.odds(12) {
		s.NodeSelector = map[string]string{"disk": g.one("ssd", "hdd")}
	}
	if g.odds(3) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: "k", Operator: corev1.TolerationOpEqual, Value: "v", Effect: corev1.TaintEffect(g.one("", "NoSchedule"))})
	}
	if g.odds(8) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: g.one("k", "l", ""), Operator: corev1.TolerationOpExists})
	}
	if g.odds(30) {
		s.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/gate"}}
	}
	if g.odds(40) {
		s.Volumes = []corev1.Volume{{Name: "image", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "registry.example/plain:7"}}}}
	}
	g.priority(&s)
	g.spread(&s, labels)
	g.affinity(&s, labels)
	return s
}

func (g *generator) container(name string) corev1.Container {
	c := corev1.Container{Name: name, Image: g.one("registry.example/big:1", "registry.example/mid:2", "registry.example/plain", "registry.example/small:1", "registry.example/absent:1")}
	requests := corev1.ResourceList{}
	if !g.odds(8) {
		requests[corev1.ResourceCPU] = g.quantity("100m", "100m", "250m", "500m", "900m", "3")
	}
	if !g.odds(8) {
		requests[corev1.ResourceMemory] = g.quantity("64Mi", "500Mi", "1Gi", "2Gi")
	}
	if g.odds(12) {
		requests[corev1.ResourceEphemeralStorage] = g.quantity("1Gi", "4Gi")
	}
	c.Resources.Requests = requests
	if g.odds(14) {
		requests[gpu] = g.quantity("1", "1", "2")
		c.Resources.Limits = corev1.ResourceList{gpu: requests[gpu]}
	}
	return c
}

func (g *generator) priority(s *corev1.PodSpec) {
	priority := []int32{-10, 0, 0, 0, 0, 0, 100, 100, 1000}[g.IntN(9)]
	policy := corev1.PreemptLowerPriority
	if g.odds(10) {
		policy = corev1.PreemptNever
	}
	s.Priority, s.PreemptionPolicy = &priority, &policy
}

func (g *generator) selector() *metav1.LabelSelector {
	switch g.IntN(6) {
	case 0:
		return &metav1.LabelSelector{}
	case 1:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"a"}}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": g.one("a", "b")}}
}

// keyed narrows a selector by a pod's own value of a label, as the API server does for matchLabelKeys and
// mismatchLabelKeys (applyMatchLabelKeysAndMismatchLabelKeys of pkg/registry/core/pod/strategy.go).
func keyed(s *metav1.LabelSelector, labels map[string]string, key string, operator metav1.LabelSelectorOperator) {
	s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{labels[key]}})
}

func (g *generator) spread(s *corev1.PodSpec, labels map[string]string) {
	if !g.odds(3) {
		return
	}
	for range 1 + g.IntN(2) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: int32(1 + g.IntN(3)), TopologyKey: g.one(hostKey, zoneKey, zoneKey, "disk"), LabelSelector: g.selector(),
			WhenUnsatisfiable: corev1.UnsatisfiableConstraintAction(g.one("DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway")),
		}
		switch g.IntN(6) {
		case 0:
			if c.WhenUnsatisfiable == corev1.DoNotSchedule {
				domains := int32(2 + g.IntN(3))
				c.MinDomains = &domains
			}
		case 1:
			policy := corev1.NodeInclusionPolicy(g.one("Honor", "Ignore"))
			c.NodeTaintsPolicy = &policy
		case 2:
			policy := corev1.NodeInclusionPolicy(g.one("Honor", "Ignore"))
			c.NodeAffinityPolicy = &policy
		case 3:
			c.MatchLabelKeys = []string{"version"}
			keyed(c.LabelSelector, labels, "version", metav1.LabelSelectorOpIn)
		}
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, c)
	}
}

func (g *generator) nodeTerm() corev1.NodeSelectorTerm {
	of := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	switch g.IntN(7) {
	case 0:
		return of("disk", corev1.NodeSelectorOpIn, "ssd")
	case 1:
		return of("disk", corev1.NodeSelectorOpDoesNotExist)
	case 2:
		return of("size", corev1.NodeSelectorOpGt, "9")
	case 3:
		return of(zoneKey, corev1.NodeSelectorOpNotIn, "a")
	case 4:
		return of(zoneKey, corev1.NodeSelectorOpIn, "b", "c")
	case 5:
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{g.one("n0", "n1", "n2")}}}}
	}
	both := of("size", corev1.NodeSelectorOpLt, "12")
	both.MatchExpressions = append(both.MatchExpressions, of("disk", corev1.NodeSelectorOpExists).MatchExpressions...)
	return both
}

func (g *generator) podTerm(labels map[string]string) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: g.one(hostKey, zoneKey, "disk"), LabelSelector: g.selector()}
	switch g.IntN(7) {
	case 0:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}}
	case 2:
		t.Namespaces = []string{g.one("a", "b")}
	case 3:
		t.MatchLabelKeys = []string{"version"}
		keyed(t.LabelSelector, labels, "version", metav1.LabelSelectorOpIn)
	case 4:
		t.MismatchLabelKeys = []string{"version"}
		keyed(t.LabelSelector, labels, "version", metav1.LabelSelectorOpNotIn)
	}
	return t
}

func (g *generator) weighted(labels map[string]string) (terms []corev1.WeightedPodAffinityTerm) {
	for range 1 + g.IntN(2) {
		terms = append(terms, corev1.WeightedPodAffinityTerm{Weight: int32(1 + g.IntN(100)), PodAffinityTerm: g.podTerm(labels)})
	}
	return terms
}

func (g *generator) affinity(s *corev1.PodSpec, labels map[string]string) {
	a := &corev1.Affinity{}
	if g.odds(5) {
		a.NodeAffinity = &corev1.NodeAffinity{}
		if g.odds(3) {
			required := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{g.nodeTerm()}}
			if g.odds(2) {
				required.NodeSelectorTerms = append(required.NodeSelectorTerms, g.nodeTerm())
			}
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
		}
		for range g.IntN(3) {
			term := g.nodeTerm()
			if term.MatchFields == nil {
				a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
					corev1.PreferredSchedulingTerm{Weight: int32(1 + g.IntN(100)), Preference: term})
			}
		}
	}
	switch g.IntN(16) {
	case 0:
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.podTerm(labels)}}
	case 1, 2:
		a.PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: g.weighted(labels)}
	case 3:
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.podTerm(labels), g.podTerm(labels)}}
	}
	switch g.IntN(16) {
	case 0:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.podTerm(labels)}}
	case 1, 2:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: g.weighted(labels)}
	case 3:
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.podTerm(labels), g.podTerm(labels)}}
	}
	if *a != (corev1.Affinity{}) {
		s.Affinity = a
	}
}
