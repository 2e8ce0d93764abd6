package tables

import (
	"fmt"
	"strconv"
	"time"

	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func poolStatusRequests() *Printer {
	return typed(poolStatusRequestCells,
		nameColumn(),
		text("Driver", "The driver to query pools for."),
		text("Total", "Total number of devices across all pools."),
		text("Available", "Number of available devices across all pools."),
		text("Allocated", "Number of allocated devices across all pools."),
		text("Unavailable", "Number of unavailable devices across all pools."),
		text("Errors", "Number of pools with validation errors."),
		integer("Pools", "Total number of matching pools."),
		text("Status", "Processing status."),
		text("Completed", "Time since the observation completed."),
	)
}

// poolStatusRequestCells adds up the pools' devices, unless the request isn't answered yet or has failed.
func poolStatusRequestCells(r *resourcev1alpha3.ResourcePoolStatusRequest, now time.Time) []any {
	cells := []any{r.Name, r.Spec.Driver, "-", "-", "-", "-", "-", int64(0), "Pending", none}
	if r.Status == nil {
		return cells
	}
	pools := ptr.Deref(r.Status.PoolCount, 0)
	cells[7] = int64(pools)
	status, at := answer(r.Status.Conditions)
	switch status {
	case resourcev1alpha3.ResourcePoolStatusRequestConditionFailed:
		cells[8] = status
		return cells
	case resourcev1alpha3.ResourcePoolStatusRequestConditionComplete:
		cells[8], cells[9] = status, since(at, now)
		if told := len(r.Status.Pools); int(pools) > told {
			cells[8] = fmt.Sprintf("%s (%d/%d pools)", status, told, pools)
		}
	}
	var sums [5]int
	for _, p := range r.Status.Pools {
		for i, devices := range []*int32{p.TotalDevices, p.AvailableDevices, p.AllocatedDevices, p.UnavailableDevices} {
			sums[i] += int(ptr.Deref(devices, 0))
		}
		if p.ValidationError != nil {
			sums[4]++
		}
	}
	for i, sum := range sums {
		cells[2+i] = strconv.Itoa(sum)
	}
	return cells
}

// answer is the first condition that ends the request, and since when it is true; "" where none does.
func answer(conditions []metav1.Condition) (string, metav1.Time) {
	for _, c := range conditions {
		if c.Status != metav1.ConditionTrue {
			continue
		}
		switch c.Type {
		case resourcev1alpha3.ResourcePoolStatusRequestConditionComplete, resourcev1alpha3.ResourcePoolStatusRequestConditionFailed:
			return c.Type, c.LastTransitionTime
		}
	}
	return "", metav1.Time{}
}
