package tables

import (
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"
)

func resourceClaims() *Printer {
	return typed(func(c *resourcev1.ResourceClaim, now time.Time) []any {
		return []any{c.Name, claimState(c), since(c.CreationTimestamp, now)}
	},
		nameColumn(),
		text("State", "A summary of the current state (allocated, pending, reserved, etc.)."),
		ageColumn(),
	)
}

func claimState(c *resourcev1.ResourceClaim) string {
	var states []string
	if c.DeletionTimestamp != nil {
		states = append(states, "deleted")
	}
	switch {
	case c.Status.Allocation != nil:
		states = append(states, "allocated")
		if len(c.Status.ReservedFor) > 0 {
			states = append(states, "reserved")
		}
	case c.DeletionTimestamp == nil:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

func resourceSlices() *Printer {
	spec := resourcev1.ResourceSliceSpec{}
	return typed(func(s *resourcev1.ResourceSlice, now time.Time) []any {
		return []any{s.Name, ptr.Deref(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, since(s.CreationTimestamp, now)}
	},
		nameColumn(),
		text("Node", doc(spec, "nodeName")),
		text("Driver", doc(spec, "driver")),
		text("Pool", doc(resourcev1.ResourcePool{}, "name")),
		ageColumn(),
	)
}

func deviceTaintRules() *Printer {
	taint := resourcev1.DeviceTaint{}
	return typed(deviceTaintRuleCells,
		nameColumn(),
		text("Key", doc(taint, "key")),
		text("Value", doc(taint, "value")),
		text("Effect", doc(taint, "effect")),
		text("TimeAdded", doc(taint, "timeAdded")),
		ageColumn(),
	)
}

func deviceTaintRuleCells(rule *resourcev1.DeviceTaintRule, now time.Time) []any {
	taint, added := rule.Spec.Taint, ""
	if taint.TimeAdded != nil {
		added = since(*taint.TimeAdded, now)
	}
	return []any{rule.Name, taint.Key, taint.Value, string(taint.Effect), added, since(rule.CreationTimestamp, now)}
}
