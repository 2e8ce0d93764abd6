package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func resourceQuotas() *Printer {
	return typed(resourceQuotaCells,
		nameColumn(),
		text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
		text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."),
		ageColumn(),
	)
}

// resourceQuotaCells says of each resource how much is used and how much may be, limits apart from the rest.
func resourceQuotaCells(quota *corev1.ResourceQuota, now time.Time) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(quota.Status.Hard)) {
		used, hard := quota.Status.Used[name], quota.Status.Hard[name]
		word := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, word)
		} else {
			requests = append(requests, word)
		}
	}
	return []any{quota.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), since(quota.CreationTimestamp, now)}
}
