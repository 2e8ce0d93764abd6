package discovery

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Aggregated discovery (KEP-3352): one document with all groups below /api or /apis.

// An aggregate is such a document with its ETag, quoted.
type aggregate struct {
	list *apidiscovery.APIGroupDiscoveryList
	etag string
}

// aggregateOf collects groups into one document. The ETag is a digest of its JSON, one for all encodings, as in
// k8s.io/apiserver, pkg/endpoints/discovery/aggregated/etag.go: caches tell encodings apart by Vary: Accept.
func aggregateOf(all []*group) (aggregate, error) {
	list := &apidiscovery.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: apidiscovery.SchemeGroupVersion.String()},
		Items:    []apidiscovery.APIGroupDiscovery{},
	}
	for _, g := range all {
		item := apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.name}}
		for _, v := range g.versions {
			item.Versions = append(item.Versions, apidiscovery.APIVersionDiscovery{
				Version: v.version, Resources: v.aggregated(), Freshness: apidiscovery.DiscoveryFreshnessCurrent,
			})
		}
		list.Items = append(list.Items, item)
	}
	text, err := json.Marshal(list)
	if err != nil {
		return aggregate{}, fmt.Errorf("discovery: %w", err)
	}
	return aggregate{list: list, etag: strconv.Quote(fmt.Sprintf("%X", sha512.Sum512(text)))}, nil
}

// aggregated folds the subresources of a version, which follow their resource, into it.
func (v *groupVersion) aggregated() (list []apidiscovery.APIResourceDiscovery) {
	at := map[string]int{}
	for _, r := range v.resources {
		kind := &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
		if !builtinGroup(v.group) && r.Group == "" {
			// Built-in kinds of the list's own version come without it, custom ones with it.
			kind.Group, kind.Version = v.group, v.version
		}
		name, sub, isSub := strings.Cut(r.Name, "/")
		if isSub {
			parent := &list[at[name]]
			parent.Subresources = append(parent.Subresources, apidiscovery.APISubresourceDiscovery{
				Subresource: sub, ResponseKind: kind, Verbs: r.Verbs,
			})
			continue
		}
		scope := apidiscovery.ScopeCluster
		if r.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		at[name] = len(list)
		list = append(list, apidiscovery.APIResourceDiscovery{
			Resource: r.Name, ResponseKind: kind, Scope: scope, SingularResource: r.SingularName,
			Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
		})
	}
	return list
}

// aggregatedVersions are the versions of the document that a server of a minor version offers: v2 since 1.30
// (KEP-3352), v2beta1 from 1.27, when it was on by default, until 1.32 (k8s.io/apiserver,
// pkg/features/kube_features.go, AggregatedDiscoveryRemoveBetaType).
func aggregatedVersions(minor int) (versions []string) {
	if minor >= 30 {
		versions = append(versions, "v2")
	}
	if minor >= 27 && minor < 33 {
		versions = append(versions, "v2beta1")
	}
	return versions
}

// isAggregated reports whether a negotiated conversion asks for the document.
func (h *Handler) isAggregated(kind *schema.GroupVersionKind) bool {
	if kind == nil || kind.Group != apidiscovery.GroupName || kind.Kind != "APIGroupDiscoveryList" {
		return false
	}
	for _, version := range h.aggregatedVersions {
		if version == kind.Version {
			return true
		}
	}
	return false
}

// in returns the document in a version; v2beta1 has the same fields (k8s.io/api, apidiscovery/v2beta1).
func (a aggregate) in(version string) *apidiscovery.APIGroupDiscoveryList {
	list := *a.list
	list.APIVersion = apidiscovery.GroupName + "/" + version
	return &list
}
