package fakeclient

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// resourceLists returns what discovery tells: the resources of the tape by group
// and version, in the tape's order, with the subresources that clients look for.
func resourceLists(resources []timeline.Resource) []*metav1.APIResourceList {
	var lists []*metav1.APIResourceList
	byVersion := map[string]*metav1.APIResourceList{}
	for _, r := range resources {
		l := byVersion[r.APIVersion()]
		if l == nil {
			l = &metav1.APIResourceList{GroupVersion: r.APIVersion()}
			byVersion[r.APIVersion()] = l
			lists = append(lists, l)
		}
		l.APIResources = append(l.APIResources, metav1.APIResource{
			Name: r.Resource, Kind: r.Kind, Namespaced: r.Namespaced, Group: r.Group, Version: r.Version,
			Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		})
		l.APIResources = append(l.APIResources, subresources(r)...)
	}
	return lists
}

func subresources(r timeline.Resource) []metav1.APIResource {
	sub := func(name, kind, group, version string, verbs ...string) metav1.APIResource {
		return metav1.APIResource{Name: r.Resource + "/" + name, Kind: kind, Group: group, Version: version, Namespaced: r.Namespaced, Verbs: verbs}
	}
	status := sub("status", r.Kind, r.Group, r.Version, "get", "patch", "update")
	switch r.String() {
	case "pods":
		return []metav1.APIResource{
			status,
			sub("binding", "Binding", "", "v1", "create"),
			sub("eviction", "Eviction", "policy", "v1", "create"), // kubectl drain asks for it
		}
	case "events", "events.events.k8s.io":
		return nil
	}
	return []metav1.APIResource{status}
}
