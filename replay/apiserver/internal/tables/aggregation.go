package tables

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// apiService holds what a row shows of an APIService, whose Go type is in a module of its own
// (k8s.io/kube-aggregator).
type apiService struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"service"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
			Reason string `json:"reason"`
		} `json:"conditions"`
	} `json:"status"`
}

func apiServices() *Printer {
	return typed(apiServiceCells,
		nameColumn(),
		text("Service", "The reference to the service that hosts this API endpoint."),
		text("Available", "Whether this service is available."),
		ageColumn(),
	)
}

func apiServiceCells(s *apiService, now time.Time) []any {
	service, available := "Local", "Unknown"
	if s.Spec.Service != nil {
		service = s.Spec.Service.Namespace + "/" + s.Spec.Service.Name
	}
	for _, c := range s.Status.Conditions {
		if c.Type != "Available" {
			continue
		}
		available = c.Status
		if c.Status != "True" && c.Reason != "" {
			available = fmt.Sprintf("%s (%s)", c.Status, c.Reason)
		}
		break
	}
	return []any{s.Name, service, available, since(s.CreationTimestamp, now)}
}
