package metrics

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The group and its version.
const (
	groupName    = "metrics.k8s.io"
	groupVersion = groupName + "/v1beta1"
)

// The types are those of k8s.io/metrics/pkg/apis/metrics/v1beta1 in JSON, which links two packages more; a test decodes
// them as theirs.
type (
	nodeMetrics struct {
		metav1.TypeMeta
		metav1.ObjectMeta `json:"metadata"`

		Timestamp metav1.Time         `json:"timestamp"` // the end of the window
		Window    metav1.Duration     `json:"window"`
		Usage     corev1.ResourceList `json:"usage"`
	}

	podMetrics struct {
		metav1.TypeMeta
		metav1.ObjectMeta `json:"metadata"`

		Timestamp  metav1.Time        `json:"timestamp"`
		Window     metav1.Duration    `json:"window"`
		Containers []containerMetrics `json:"containers"`
	}

	containerMetrics struct {
		Name  string              `json:"name"`
		Usage corev1.ResourceList `json:"usage"`
	}

	metricsList[T nodeMetrics | podMetrics] struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`

		Items []T `json:"items"`
	}
)
