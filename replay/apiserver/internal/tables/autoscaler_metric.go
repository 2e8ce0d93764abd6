package tables

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/utils/ptr"
)

// metricTarget is one metric: what is measured, as far as status tells it, and what is wanted.
func metricTarget(spec *autoscalingv2.MetricSpec, status *autoscalingv2.MetricStatus) string {
	switch spec.Type {
	case autoscalingv2.ExternalMetricSourceType:
		var current *autoscalingv2.MetricValueStatus
		if status.External != nil {
			current = &status.External.Current
		}
		return valueTarget(ptr.Deref(spec.External, autoscalingv2.ExternalMetricSource{}).Target, current)
	case autoscalingv2.ObjectMetricSourceType:
		var current *autoscalingv2.MetricValueStatus
		if status.Object != nil {
			current = &status.Object.Current
		}
		return valueTarget(ptr.Deref(spec.Object, autoscalingv2.ObjectMetricSource{}).Target, current)
	case autoscalingv2.PodsMetricSourceType:
		current := unknown
		if status.Pods != nil {
			current = status.Pods.Current.AverageValue.String()
		}
		return fmt.Sprintf("%s/%s", current, ptr.Deref(spec.Pods, autoscalingv2.PodsMetricSource{}).Target.AverageValue)
	case autoscalingv2.ResourceMetricSourceType:
		var current *autoscalingv2.MetricValueStatus
		if status.Resource != nil {
			current = &status.Resource.Current
		}
		source := ptr.Deref(spec.Resource, autoscalingv2.ResourceMetricSource{})
		return fmt.Sprintf("%s: %s", source.Name, resourceTarget(source.Target, current))
	case autoscalingv2.ContainerResourceMetricSourceType:
		var current *autoscalingv2.MetricValueStatus
		if status.ContainerResource != nil {
			current = &status.ContainerResource.Current
		}
		source := ptr.Deref(spec.ContainerResource, autoscalingv2.ContainerResourceMetricSource{})
		return fmt.Sprintf("%s: %s", source.Name, resourceTarget(source.Target, current))
	default:
		return "<unknown type>"
	}
}

// valueTarget is a metric of objects or from outside: a value, or an average over the pods. A value that the object
// doesn't have is written as Quantity writes nil.
func valueTarget(target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	found := unknown
	if target.AverageValue != nil {
		if current != nil && current.AverageValue != nil {
			found = current.AverageValue.String()
		}
		return fmt.Sprintf("%s/%s (avg)", found, target.AverageValue)
	}
	if current != nil {
		found = current.Value.String()
	}
	return fmt.Sprintf("%s/%s", found, target.Value)
}

// resourceTarget is a metric of CPU or memory: an average quantity, or a percentage of the requests.
func resourceTarget(target autoscalingv2.MetricTarget, current *autoscalingv2.MetricValueStatus) string {
	found := unknown
	if target.AverageValue != nil {
		if current != nil {
			found = current.AverageValue.String()
		}
		return fmt.Sprintf("%s/%s", found, target.AverageValue)
	}
	if current != nil && current.AverageUtilization != nil {
		found = fmt.Sprintf("%d%%", *current.AverageUtilization)
	}
	wanted := "<auto>"
	if target.AverageUtilization != nil {
		wanted = fmt.Sprintf("%d%%", *target.AverageUtilization)
	}
	return fmt.Sprintf("%s/%s", found, wanted)
}
