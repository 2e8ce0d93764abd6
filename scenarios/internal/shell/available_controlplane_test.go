//go:build controlplane

package shell_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// apiServiceName is that of the metrics.
const apiServiceName = "v1beta1.metrics.k8s.io"

// available waits until the API server says that it reaches the metrics. If the context ends first, the error has the
// API server's own words for why not.
func available(ctx context.Context, at dynamic.ResourceInterface) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	said := "nothing said yet"
	for {
		found, err := at.Get(ctx, apiServiceName, metav1.GetOptions{})
		if err == nil {
			status, why := condition(found)
			if status == "True" {
				return nil
			}
			if why != "" {
				said = why
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for APIService %s to be available: %w: %s", apiServiceName, ctx.Err(), said)
		case <-ticker.C:
		}
	}
}

// condition is the status of the condition Available, and the words beside it.
func condition(found *unstructured.Unstructured) (status, why string) {
	all, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
	for _, one := range all {
		fields, ok := one.(map[string]any)
		if !ok || fields["type"] != "Available" {
			continue
		}
		status, _ = fields["status"].(string)
		reason, _ := fields["reason"].(string)
		message, _ := fields["message"].(string)
		return status, reason + ": " + message
	}
	return "", ""
}
