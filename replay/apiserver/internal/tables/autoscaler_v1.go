package tables

import (
	"encoding/json"
	"slices"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The annotations in which autoscaling/v1 keeps what it has no fields for (pkg/apis/autoscaling/annotations.go).
const (
	metricSpecsAnnotation    = "autoscaling.alpha.kubernetes.io/metrics"
	metricStatusesAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
)

// autoscalerV1Cells reads an autoscaler of autoscaling/v1 as the API server does when it converts one
// (pkg/apis/autoscaling/v1/conversion.go). Annotations that don't read are as good as none.
//
// The field for the CPU doesn't say where among the metrics it had been; the measurements do, once there are some.
// Without them it comes last.
func autoscalerV1Cells(a *autoscalingv1.HorizontalPodAutoscaler, now time.Time) []any {
	newer := autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: a.ObjectMeta}
	newer.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference(a.Spec.ScaleTargetRef)
	newer.Spec.MinReplicas, newer.Spec.MaxReplicas = a.Spec.MinReplicas, a.Spec.MaxReplicas
	newer.Status.CurrentReplicas = a.Status.CurrentReplicas

	var specs []autoscalingv1.MetricSpec
	if json.Unmarshal([]byte(a.Annotations[metricSpecsAnnotation]), &specs) == nil {
		for i := range specs {
			newer.Spec.Metrics = append(newer.Spec.Metrics, metricSpecOfV1(&specs[i]))
		}
	}
	newer.Status.CurrentMetrics = metricStatusesOfV1(a)
	if utilization := a.Spec.TargetCPUUtilizationPercentage; utilization != nil {
		at := slices.IndexFunc(newer.Status.CurrentMetrics, func(m autoscalingv2.MetricStatus) bool {
			return m.Resource != nil && m.Resource.Name == corev1.ResourceCPU && m.Resource.Current.AverageUtilization != nil
		})
		if at < 0 || at > len(newer.Spec.Metrics) {
			at = len(newer.Spec.Metrics)
		}
		newer.Spec.Metrics = slices.Insert(newer.Spec.Metrics, at, cpuMetric(*utilization))
	}
	return autoscalerCells(&newer, now)
}

func metricStatusesOfV1(a *autoscalingv1.HorizontalPodAutoscaler) []autoscalingv2.MetricStatus {
	var annotated []autoscalingv1.MetricStatus
	if json.Unmarshal([]byte(a.Annotations[metricStatusesAnnotation]), &annotated) == nil {
		statuses := make([]autoscalingv2.MetricStatus, len(annotated))
		for i := range annotated {
			statuses[i] = metricStatusOfV1(&annotated[i])
		}
		return statuses
	}
	if utilization := a.Status.CurrentCPUUtilizationPercentage; utilization != nil {
		return []autoscalingv2.MetricStatus{{Resource: &autoscalingv2.ResourceMetricStatus{
			Name:    corev1.ResourceCPU,
			Current: autoscalingv2.MetricValueStatus{AverageUtilization: utilization},
		}}}
	}
	return nil
}

// metricSpecOfV1 keeps of a metric what a cell shows.
func metricSpecOfV1(spec *autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	newer := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(spec.Type)}
	target := func(value, average *resource.Quantity, utilization *int32) autoscalingv2.MetricTarget {
		return autoscalingv2.MetricTarget{Value: value, AverageValue: average, AverageUtilization: utilization}
	}
	if s := spec.External; s != nil {
		newer.External = &autoscalingv2.ExternalMetricSource{Target: target(s.TargetValue, s.TargetAverageValue, nil)}
	}
	if s := spec.Object; s != nil {
		newer.Object = &autoscalingv2.ObjectMetricSource{Target: target(&s.TargetValue, s.AverageValue, nil)}
	}
	if s := spec.Pods; s != nil {
		newer.Pods = &autoscalingv2.PodsMetricSource{Target: target(nil, &s.TargetAverageValue, nil)}
	}
	if s := spec.Resource; s != nil {
		newer.Resource = &autoscalingv2.ResourceMetricSource{
			Name: s.Name, Target: target(nil, s.TargetAverageValue, s.TargetAverageUtilization),
		}
	}
	if s := spec.ContainerResource; s != nil {
		newer.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{
			Name: s.Name, Target: target(nil, s.TargetAverageValue, s.TargetAverageUtilization),
		}
	}
	return newer
}

// metricStatusOfV1 keeps of a measurement what a cell shows.
func metricStatusOfV1(status *autoscalingv1.MetricStatus) autoscalingv2.MetricStatus {
	var newer autoscalingv2.MetricStatus
	current := func(value, average *resource.Quantity, utilization *int32) autoscalingv2.MetricValueStatus {
		return autoscalingv2.MetricValueStatus{Value: value, AverageValue: average, AverageUtilization: utilization}
	}
	if s := status.External; s != nil {
		newer.External = &autoscalingv2.ExternalMetricStatus{Current: current(&s.CurrentValue, s.CurrentAverageValue, nil)}
	}
	if s := status.Object; s != nil {
		newer.Object = &autoscalingv2.ObjectMetricStatus{Current: current(&s.CurrentValue, s.AverageValue, nil)}
	}
	if s := status.Pods; s != nil {
		newer.Pods = &autoscalingv2.PodsMetricStatus{Current: current(nil, &s.CurrentAverageValue, nil)}
	}
	if s := status.Resource; s != nil {
		newer.Resource = &autoscalingv2.ResourceMetricStatus{
			Name: s.Name, Current: current(nil, &s.CurrentAverageValue, s.CurrentAverageUtilization),
		}
	}
	if s := status.ContainerResource; s != nil {
		newer.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{
			Name: s.Name, Current: current(nil, &s.CurrentAverageValue, s.CurrentAverageUtilization),
		}
	}
	return newer
}
