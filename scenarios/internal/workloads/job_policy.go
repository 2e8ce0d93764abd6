package workloads

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// matchPolicy finds the first rule that a failed pod meets: what it says where the Job fails, whether the failure counts,
// and what the rule does (matchPodFailurePolicy of pkg/controller/job/pod_failure_policy.go).
func matchPolicy(policy *batchv1.PodFailurePolicy, p *kube.Pod) (message string, counts bool, action batchv1.PodFailurePolicyAction) {
	if policy == nil {
		return "", true, ""
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		why := ""
		if rule.OnExitCodes != nil {
			if c := exited(rule.OnExitCodes, p); c != nil {
				why = fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d matching %s rule at index %d", c.Name, p.Namespace, p.Name, c.State.ExitCode, rule.Action, i)
			}
		} else if kind := conditioned(rule.OnPodConditions, p); kind != "" {
			why = fmt.Sprintf("Pod %s/%s has condition %s matching %s rule at index %d", p.Namespace, p.Name, kind, rule.Action, i)
		}
		if why == "" {
			continue
		}
		switch rule.Action {
		case batchv1.PodFailurePolicyActionIgnore:
			return "", false, rule.Action
		case batchv1.PodFailurePolicyActionFailJob:
			return why, true, rule.Action
		case batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionCount:
			return "", true, rule.Action
		}
	}
	return "", true, ""
}

// exited is the first container whose exit a rule means.
func exited(rule *batchv1.PodFailurePolicyOnExitCodesRequirement, p *kube.Pod) *kube.Container {
	for _, list := range [][]kube.Container{p.Containers, p.Init} {
		for i := range list {
			c := &list[i]
			if c.State.Kind != "terminated" || c.State.ExitCode == 0 || rule.ContainerName != nil && *rule.ContainerName != c.Name {
				continue
			}
			in := slices.Contains(rule.Values, int32(c.State.ExitCode))
			if in == (rule.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
				return c
			}
		}
	}
	return nil
}

// conditioned is the first condition that a rule means.
func conditioned(rule []batchv1.PodFailurePolicyOnPodConditionsPattern, p *kube.Pod) string {
	for i := range p.Conditions {
		c := &p.Conditions[i]
		for _, r := range rule {
			if c.Type == string(r.Type) && c.Status == string(r.Status) {
				return c.Type
			}
		}
	}
	return ""
}

// failedByPolicy is why a failed pod fails the Job; "" where none does.
func (j *jobSync) failedByPolicy() string {
	for _, p := range j.pods {
		if j.job.Spec.PodFailurePolicy != nil && j.hasFailed(p) {
			if message, _, _ := matchPolicy(j.job.Spec.PodFailurePolicy, p); message != "" {
				return message
			}
		}
	}
	return ""
}

// counting is how many of some failed pods count.
func (j *jobSync) counting(failed []*kube.Pod) (n int32) {
	for _, p := range failed {
		if _, counts, _ := matchPolicy(j.job.Spec.PodFailurePolicy, p); counts {
			n++
		}
	}
	return n
}

// metBy says which rule of a policy the succeeded indexes meet; "" is none (pkg/controller/job/success_policy.go).
func metBy(policy *batchv1.SuccessPolicy, completions int, succeeded intervals) string {
	if policy == nil || len(succeeded) == 0 {
		return ""
	}
	for i, rule := range policy.Rules {
		enough := func(n int) bool { return rule.SucceededCount != nil && n >= int(*rule.SucceededCount) }
		met := false
		if rule.SucceededIndexes == nil {
			met = enough(succeeded.total())
		} else if wanted := parseIndexes(*rule.SucceededIndexes, completions); len(wanted) > 0 {
			n := 0
			for _, w := range wanted {
				for _, s := range succeeded {
					n += max(min(w.last, s.last)-max(w.first, s.first)+1, 0)
				}
			}
			met = n == wanted.total() || enough(n)
		}
		if met {
			return fmt.Sprintf("Matched rules at index %d", i)
		}
	}
	return ""
}
