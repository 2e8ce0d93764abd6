package tables

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func autoscalerCells(a *autoscalingv2.HorizontalPodAutoscaler, now time.Time) []any {
	target := a.Spec.ScaleTargetRef
	return []any{
		a.Name, target.Kind + "/" + target.Name, metricTargets(a.Spec.Metrics, a.Status.CurrentMetrics),
		fmt.Sprint(ptr.Deref(a.Spec.MinReplicas, 1)), int64(a.Spec.MaxReplicas), int64(a.Status.CurrentReplicas),
		since(a.CreationTimestamp, now),
	}
}

// metricTargets lists the first two metrics, each as where it is and where it should be. An autoscaler without metrics
// goes by the CPU (pkg/apis/autoscaling/v2/defaults.go).
func metricTargets(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
	if len(specs) == 0 {
		specs = []autoscalingv2.MetricSpec{cpuMetric(80)}
	}
	words := make([]string, len(specs))
	for i := range specs {
		var status autoscalingv2.MetricStatus
		if i < len(statuses) {
			status = statuses[i]
		}
		words[i] = metricTarget(&specs[i], &status)
	}
	return firstFew(words, 2, ", ")
}

// cpuMetric is the metric of a CPU utilization in percent.
func cpuMetric(utilization int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
		Name:   corev1.ResourceCPU,
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &utilization},
	}}
}
