package discovery

import (
	"cmp"

	"k8s.io/apimachinery/pkg/version"
)

// groupPriority orders the groups of kube-apiserver in /apis, the highest first (kubernetes,
// cmd/kube-apiserver/app/aggregator.go, and pkg/controlplane/apiserver/aggregator.go,
// DefaultGenericAPIServicePriorities). A group that isn't here is a custom one.
var groupPriority = map[string]int{
	"":                             18000,
	"apiregistration.k8s.io":       18000,
	"apps":                         17800,
	"events.k8s.io":                17750,
	"authentication.k8s.io":        17700,
	"authorization.k8s.io":         17600,
	"autoscaling":                  17500,
	"batch":                        17400,
	"certificates.k8s.io":          17300,
	"networking.k8s.io":            17200,
	"policy":                       17100,
	"rbac.authorization.k8s.io":    17000,
	"storage.k8s.io":               16800,
	"admissionregistration.k8s.io": 16700,
	"apiextensions.k8s.io":         16700,
	"scheduling.k8s.io":            16600,
	"coordination.k8s.io":          16500,
	"node.k8s.io":                  16300,
	"discovery.k8s.io":             16200,
	"resource.k8s.io":              16200,
	"flowcontrol.apiserver.k8s.io": 16100,
	"internal.apiserver.k8s.io":    16000,
	"storagemigration.k8s.io":      15800,
}

// customPriority is that of every custom group (kubernetes, pkg/controlplane/controller/crdregistration).
const customPriority = 1000

// builtinGroup reports whether a group is one of kube-apiserver's own. The suffix k8s.io doesn't tell: that of
// snapshot.storage.k8s.io or metrics.k8s.io comes from elsewhere.
func builtinGroup(group string) bool {
	_, ok := groupPriority[group]
	return ok
}

// compareGroups orders two groups as /apis lists them: by priority, then by name.
func compareGroups(a, b string) int {
	priority := func(group string) int {
		if p, ok := groupPriority[group]; ok {
			return p
		}
		return customPriority
	}
	return cmp.Or(cmp.Compare(priority(b), priority(a)), cmp.Compare(a, b))
}

// compareVersions orders two versions of a group, the preferred one first: v2, v1, v1beta1. The priorities of
// kube-apiserver's own versions say the same.
func compareVersions(a, b string) int {
	return cmp.Or(version.CompareKubeAwareVersionStrings(b, a), cmp.Compare(a, b))
}
