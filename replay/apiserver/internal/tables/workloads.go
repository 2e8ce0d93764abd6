package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// health is a field of a component's first condition that tells of health; its status in a word.
func health(o *object, a arguments) any {
	for _, c := range read[[]corev1.ComponentCondition](o, ".conditions") {
		switch {
		case c.Type != corev1.ComponentHealthy:
		case a.at(0) == "message":
			return c.Message
		case a.at(0) == "error":
			return c.Error
		case c.Status == corev1.ConditionTrue:
			return "Healthy"
		default:
			return "Unhealthy"
		}
	}
	return a.at(1)
}

func ready(o *object) string {
	return fmt.Sprintf("%d/%d", get(o, ".status.readyReplicas", int64(0)), get(o, ".spec.replicas", int64(1)))
}

// suspended is a word, in spite of its column's type.
func suspended(o *object) string {
	if get(o, ".spec.suspend", false) {
		return "True"
	}
	return "False"
}

// controller is the object's controller, as in daemonset.apps/proxy. The API server refuses the whole table for an
// owner whose version doesn't parse; here that is an unknown controller.
func controller(o *object) string {
	owner := metav1.GetControllerOf(&o.ObjectMeta)
	if owner == nil {
		return none
	}
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return unknown
	}
	kind := version.WithKind(owner.Kind).GroupKind()
	if kind.Empty() {
		return owner.Name
	}
	return strings.ToLower(kind.String()) + "/" + owner.Name
}

// controllerSelector is that of a ReplicationController, which defaults to its template's labels.
func controllerSelector(o *object) string {
	selector := read[map[string]string](o, ".spec.selector")
	if len(selector) == 0 {
		selector = read[map[string]string](o, ".spec.template.metadata.labels")
	}
	return labels.FormatLabels(selector)
}

// deploymentSelector writes the selector otherwise than the other workloads do: an empty one as nothing at all.
func deploymentSelector(o *object) string {
	selector, err := metav1.LabelSelectorAsSelector(read[*metav1.LabelSelector](o, ".spec.selector"))
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}

// quota says of each resource how much is used and how much may be, limits apart from the rest.
func quota(o *object, a arguments) any {
	status := read[corev1.ResourceQuotaStatus](o, ".status")
	var words []string
	for _, name := range slices.Sorted(maps.Keys(status.Hard)) {
		used, hard := status.Used[name], status.Hard[name]
		if strings.HasPrefix(string(name), "limits.") == (a.at(0) == "limits") {
			words = append(words, fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String()))
		}
	}
	return strings.Join(words, ", ")
}

func groupPolicy(o *object) string {
	if o.has(".spec.schedulingPolicy.gang") {
		return "Gang"
	}
	return "Basic"
}

// groupStatus goes by the last condition of each type: a disruption gives its reason, before all else.
func groupStatus(o *object) string {
	status, disruption := "Pending", (*condition)(nil)
	for _, c := range o.conditions() {
		switch {
		case c.Type == "PodGroupScheduled" && c.isTrue():
			status = "Scheduled"
		case c.Type == "PodGroupScheduled":
			status = "Unschedulable"
		case c.Type == "DisruptionTarget":
			disruption = &c
		}
	}
	if disruption != nil {
		return disruption.Reason
	}
	return status
}

// claimState is what has become of a claim for devices.
func claimState(o *object) string {
	var states []string
	if o.DeletionTimestamp != nil {
		states = append(states, "deleted")
	}
	switch {
	case o.has(".status.allocation"):
		states = append(states, "allocated")
		if len(o.all(".status.reservedFor[*]")) > 0 {
			states = append(states, "reserved")
		}
	case o.DeletionTimestamp == nil:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

// answer is the condition that ends a ResourcePoolStatusRequest: the first that is true. Without one it has no type.
func answer(o *object) condition {
	for _, c := range o.conditions() {
		if c.isTrue() && (c.Type == "Complete" || c.Type == "Failed") {
			return c
		}
	}
	return condition{}
}

// poolSum adds up a number of the pools, or counts those that have an error, unless the request isn't answered yet or has
// failed.
func poolSum(o *object, a arguments) any {
	if !o.has(".status") || answer(o).Type == "Failed" {
		return "-"
	}
	sum := int64(0)
	for _, value := range o.all(".status.pools[*]." + a.at(0)) {
		if _, isText := value.(string); isText {
			sum++
		} else {
			sum += mustBe[int64](o, a.at(0), value)
		}
	}
	return fmt.Sprint(sum)
}

func poolStatus(o *object) string {
	status := cmp.Or(answer(o).Type, "Pending")
	told, pools := len(o.all(".status.pools[*]")), get(o, ".status.poolCount", int64(0))
	if status == "Complete" && pools > int64(told) {
		return fmt.Sprintf("%s (%d/%d pools)", status, told, pools)
	}
	return status
}

func poolCompleted(o *object) string {
	if c := answer(o); c.Type == "Complete" {
		return since(c.LastTransitionTime, o.now)
	}
	return none
}
