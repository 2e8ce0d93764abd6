package convert

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// CustomToAPI is an object of a provider's own kind as the API server is to have it.
// UIDs in it, those of its owner and of the node that it refers to, are the
// simulation's. What the server fills in is left out, the deletion included.
func CustomToAPI(o *kube.Custom, c Clock) (*unstructured.Unstructured, error) {
	fields := map[string]any{}
	if err := json.Unmarshal(o.JSON(), &fields); err != nil {
		return nil, fmt.Errorf("%s %s: %w", o.Resource, o.Name, err)
	}
	out := &unstructured.Unstructured{Object: fields}
	out.SetAPIVersion(o.Resource.Group + "/" + o.Resource.Version)
	out.SetKind(o.Resource.Kind)
	out.SetNamespace(o.Namespace)
	out.SetName(o.Name)
	for _, served := range [...]string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		unstructured.RemoveNestedField(fields, "metadata", served)
	}
	status, _ := fields["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	for i := range conditions {
		is, _ := conditions[i].(map[string]any)
		at, err := time.Parse(time.RFC3339, fmt.Sprint(is["lastTransitionTime"]))
		if err == nil {
			is["lastTransitionTime"] = c.Time(kube.InstantOf(at)).UTC().Truncate(time.Second).Format(time.RFC3339)
		}
	}
	return out, nil
}
