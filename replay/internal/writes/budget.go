package writes

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay"
)

// mostDisrupted is MaxDisruptedPodSize of eviction.go.
const mostDisrupted = 2000

// budgets returns those on the tape that cover a pod.
func (d *Handler) budgets(pod *corev1.Pod) ([]*policyv1.PodDisruptionBudget, error) {
	gvr := policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
	if _, held := d.cluster.Resource(gvr); !held {
		return nil, nil
	}
	all, err := d.cluster.ListUnfaulted(gvr, pod.Namespace, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var covering []*policyv1.PodDisruptionBudget
	for _, o := range all.Items {
		v, err := o.Memo(budgetMemo{}, decodeBudget)
		if err != nil {
			return nil, err
		}
		if b := v.(*readBudget); b.selector != nil && b.selector.Matches(labels.Set(pod.Labels)) {
			covering = append(covering, b.DeepCopy())
		}
	}
	return covering, nil
}

// readBudget is a budget with what it selects; nil where that can't be read.
type readBudget struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
}

type budgetMemo struct{}

func decodeBudget(o *replay.Object) (any, error) {
	b := &readBudget{PodDisruptionBudget: &policyv1.PodDisruptionBudget{}}
	if err := json.Unmarshal(o.Raw(), b.PodDisruptionBudget); err != nil {
		return nil, fmt.Errorf("disruption budget %s/%s on the tape: %w", o.Namespace(), o.Name(), err)
	}
	if selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil {
		b.selector = selector
	}
	return b, nil
}

// allows reports as an error why a budget doesn't let a pod go: an unready pod
// by its policy, any other by checkAndDecrement of eviction.go. counts says that
// the pod is one of the disruptions that the budget allows.
func allows(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) (counts bool, err error) {
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
	if !ready {
		policy := b.Spec.UnhealthyPodEvictionPolicy
		if policy != nil && *policy == policyv1.AlwaysAllow || b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0 {
			return false, nil
		}
	}
	forbidden := func(why string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}, b.Name, fmt.Errorf("%s", why))
	}
	switch {
	case b.Status.ObservedGeneration < b.Generation:
		return false, tooMany(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Name))
	case b.Status.DisruptionsAllowed < 0:
		return false, forbidden("pdb disruptions allowed is negative")
	case len(b.Status.DisruptedPods) > mostDisrupted:
		return false, forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case b.Status.DisruptionsAllowed == 0:
		return false, tooMany(0, spent(b))
	}
	return true, nil
}

// spent says why nothing may be disrupted.
func spent(b *policyv1.PodDisruptionBudget) string {
	c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	says := c != nil && c.Status == metav1.ConditionFalse && c.Message != ""
	switch {
	case says && c.Reason == policyv1.SyncFailedReason:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", b.Name, c.Message)
	case b.Status.CurrentHealthy <= b.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	case says:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, c.Reason, c.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name)
}

// tooMany is 429 with the cause DisruptionBudget. Without seconds to wait there
// is no Retry-After.
func tooMany(seconds int, why string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: why})
	return err
}
