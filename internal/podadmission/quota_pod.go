package podadmission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// podUsage charges a pod (PodUsageFunc of pkg/quota/v1/evaluator/core/pods.go). One at its end counts as an object alone.
func podUsage(all corev1.ResourceList, p *corev1.Pod, now time.Time) {
	if Ended(p, now) {
		return
	}
	requests, limits := Requests(&p.Spec), Limits(&p.Spec)
	// What the pod's sandbox takes counts too (PodRequests and PodLimits of component-helpers/resource), other than for LimitRanges.
	add(requests, p.Spec.Overhead)
	for name, q := range p.Spec.Overhead {
		if _, has := limits[name]; has {
			add(limits, corev1.ResourceList{name: q})
		}
	}
	maps.Copy(all, compute(requests, limits))
}

// Ended reports whether a pod is no longer charged for what it asked for: it has ended, or should have ended by now
// (QuotaV1Pod there).
func Ended(p *corev1.Pod, now time.Time) bool {
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return true
	}
	if p.DeletionTimestamp == nil || p.DeletionGracePeriodSeconds == nil {
		return false
	}
	return now.After(p.DeletionTimestamp.Add(time.Duration(*p.DeletionGracePeriodSeconds) * time.Second))
}

// compute names requests and limits as quotas do (podComputeUsageHelper there).
func compute(requests, limits corev1.ResourceList) corev1.ResourceList {
	all := corev1.ResourceList{corev1.ResourcePods: one}
	for name, q := range requests {
		asked := corev1.ResourceName(corev1.DefaultResourceRequestsPrefix) + name
		switch {
		case limited(name), huge(name):
			all[name], all[asked] = q, q
		case !Native(name) && !strings.HasPrefix(string(name), corev1.DefaultResourceRequestsPrefix):
			all[asked] = q
		}
	}
	for name, q := range limits {
		if limited(name) {
			all["limits."+name] = q
		}
	}
	return all
}

func limited(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// Requests are what a pod asks for, and Limits what it may have at most: what its containers add up to, or its init containers
// need before, or it says itself (podRequests and podLimits of plugin/pkg/admission/limitranger).
func Requests(s *corev1.PodSpec) corev1.ResourceList {
	return total(s, func(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Requests })
}

// Limits are described above.
func Limits(s *corev1.PodSpec) corev1.ResourceList {
	return total(s, func(r *corev1.ResourceRequirements) corev1.ResourceList { return r.Limits })
}

func total(s *corev1.PodSpec, of func(*corev1.ResourceRequirements) corev1.ResourceList) corev1.ResourceList {
	sum, sidecars, first := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	for i := range s.Containers {
		add(sum, of(&s.Containers[i].Resources))
	}
	for i := range s.InitContainers {
		c := &s.InitContainers[i]
		needs := of(&c.Resources)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(sum, needs)
			add(sidecars, needs)
			needs = sidecars
		} else {
			both := maps.Clone(sidecars)
			add(both, needs)
			needs = both
		}
		most(first, needs)
	}
	most(sum, first)
	if s.Resources != nil {
		for name, q := range of(s.Resources) {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				sum[name] = q
			}
		}
	}
	return sum
}

func add(to, more corev1.ResourceList) {
	for name, q := range more {
		is, has := to[name]
		if !has {
			to[name] = q.DeepCopy()
			continue
		}
		is.Add(q)
		to[name] = is
	}
}

func most(to, other corev1.ResourceList) {
	for name, q := range other {
		if is, has := to[name]; !has || q.Cmp(is) > 0 {
			to[name] = q.DeepCopy()
		}
	}
}

// needed are the names that each container of a pod has to say something of, where a quota counts them (validationSet of pods.go).
var needed = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceMemory,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
}

// complete says what containers don't say of what a quota counts (Constraints of pods.go). A pod that has resources of its own
// needn't.
func complete(p *corev1.Pod, counted []corev1.ResourceName) error {
	if own := p.Spec.Resources; own != nil && (len(own.Requests) > 0 || len(own.Limits) > 0) {
		return nil
	}
	var missing []string
	for _, name := range needed {
		if !slices.Contains(counted, name) {
			continue
		}
		var by []string
		for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range containers {
				r := &containers[i].Resources
				if _, says := compute(r.Requests, r.Limits)[name]; !says {
					by = append(by, containers[i].Name)
				}
			}
		}
		if slices.Sort(by); len(by) > 0 {
			missing = append(missing, fmt.Sprintf("%s for: %s", name, strings.Join(slices.Compact(by), ",")))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("must specify %s", strings.Join(missing, "; "))
}
