package podadmission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Charge returns the quotas that a write charges, with what they have charged then, or why one refuses it (CheckRequest of
// apiserver/pkg/admission/plugin/resourcequota/controller.go). old is the object as it was; nil says that it is new.
func Charge(quotas []*corev1.ResourceQuota, is Item, old *Item, now time.Time) (all []*corev1.ResourceQuota, err error) {
	if len(quotas) == 0 || old != nil && !counted(&is, old) {
		return nil, nil
	}
	var concern []*corev1.ResourceQuota
	for _, q := range quotas {
		names := counts(q.Status.Hard, is.Resource)
		if len(names) == 0 || !is.inScope(q) {
			continue
		}
		if is.Pod != nil {
			if err := complete(is.Pod, names); err != nil {
				return nil, fmt.Errorf("failed quota: %s: %w", q.Name, err)
			}
		}
		if slices.ContainsFunc(names, func(n corev1.ResourceName) bool { _, known := q.Status.Used[n]; return !known }) {
			return nil, fmt.Errorf("status unknown for quota: %s, resources: %s", q.Name, joined(names))
		}
		concern = append(concern, q)
	}
	if len(concern) == 0 {
		return nil, nil
	}
	usage := is.usage(now)
	if below := slices.DeleteFunc(slices.Sorted(maps.Keys(usage)), func(n corev1.ResourceName) bool { q := usage[n]; return q.Sign() >= 0 }); len(below) > 0 {
		return nil, fmt.Errorf("quota usage is negative for resource(s): %s", joined(below))
	}
	for _, q := range concern {
		delta := usage
		if old != nil && old.inScope(q) {
			delta = more(usage, old.usage(now))
		}
		next, err := charged(q, delta)
		if err != nil {
			return nil, err
		}
		if next != nil {
			all = append(all, next)
		}
	}
	return all, nil
}

// counted reports whether quotas look at a change (Handles of the evaluators).
func counted(is, old *Item) bool {
	if is.Pod != nil {
		return Limited(is.Pod) != Limited(old.Pod)
	}
	return is.Service != nil || is.Claim != nil
}

// counts are the names of a quota that count something of a resource, sorted.
func counts(hard corev1.ResourceList, of string) (names []corev1.ResourceName) {
	for name := range hard {
		if Counts(name, of) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// more is by how much what is used grows. It doesn't shrink here: the controller counts anew.
func more(is, was corev1.ResourceList) corev1.ResourceList {
	grown := corev1.ResourceList{}
	for name, q := range is {
		q = q.DeepCopy()
		q.Sub(was[name])
		if q.Sign() > 0 {
			grown[name] = q
		}
	}
	return grown
}

// charged is a quota with more used, nil where nothing of it is.
func charged(q *corev1.ResourceQuota, delta corev1.ResourceList) (*corev1.ResourceQuota, error) {
	asked, used, hard := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
	next := q.DeepCopy()
	changed := false
	for name, d := range delta {
		limit, has := q.Status.Hard[name]
		if !has || d.IsZero() {
			continue
		}
		changed = true
		sum := next.Status.Used[name]
		sum.Add(d)
		if sum.Cmp(limit) > 0 {
			asked[name], used[name], hard[name] = d, q.Status.Used[name], limit
		}
		if next.Status.Used == nil {
			next.Status.Used = corev1.ResourceList{}
		}
		next.Status.Used[name] = sum
	}
	switch {
	case len(asked) > 0:
		return nil, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.Name, listed(asked), listed(used), listed(hard))
	case !changed:
		return nil, nil
	}
	return next, nil
}

func listed(all corev1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		q := all[name]
		parts = append(parts, string(name)+"="+q.String())
	}
	return strings.Join(parts, ",")
}

func joined(names []corev1.ResourceName) string {
	var parts []string
	for _, n := range names {
		parts = append(parts, string(n))
	}
	return strings.Join(parts, ",")
}

// QuotaStatus is what a quota's status should say of what is there, and whether it says something else now (syncResourceQuota of
// pkg/controller/resourcequota and CalculateUsage of apiserver/pkg/quota/v1). known reports whether there is a resource.
func QuotaStatus(q *corev1.ResourceQuota, items []Item, known func(resource string) bool, now time.Time) (is corev1.ResourceQuotaStatus, changed bool) {
	is.Hard, is.Used = q.Spec.Hard.DeepCopy(), corev1.ResourceList{}
	if is.Hard == nil {
		is.Hard = corev1.ResourceList{}
	}
	for name := range is.Hard {
		if measured(name, known) {
			is.Used[name] = resource.Quantity{Format: resource.DecimalSI}
		} else if was, said := q.Status.Used[name]; said {
			is.Used[name] = was
		}
	}
	for i := range items {
		if !items[i].inScope(q) {
			continue
		}
		for name, u := range items[i].usage(now) {
			if sum, counted := is.Used[name]; counted && Counts(name, items[i].Resource) {
				sum.Add(u)
				is.Used[name] = sum
			}
		}
	}
	return is, q.Status.Hard == nil || q.Status.Used == nil || !same(is.Hard, q.Status.Hard) || !same(is.Used, q.Status.Used)
}

// measured reports whether a name counts anything that there may be.
func measured(name corev1.ResourceName, known func(resource string) bool) bool {
	if of, counts := strings.CutPrefix(string(name), "count/"); counts {
		return known(of)
	}
	return aliased(name) != "" || Counts(name, "pods") || Counts(name, "services") || Counts(name, "persistentvolumeclaims")
}

func same(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(p, q resource.Quantity) bool { return p.Cmp(q) == 0 })
}
