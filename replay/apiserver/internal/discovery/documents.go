package discovery

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// A group is the part of the documents that one API group answers with. The core group is "", and always there.
type group struct {
	name     string
	versions []*groupVersion // the preferred one first
}

type groupVersion struct {
	group, version string
	resources      []metav1.APIResource // by name, each followed by its subresources
}

// groups sorts the resources of a tape into groups, in the order of /apis.
func groups(resources []timeline.Resource, factsOf func(timeline.Resource) facts, writes bool) []*group {
	all := []*group{{versions: []*groupVersion{{version: "v1"}}}}
	for _, r := range resources {
		v := find(&all, r)
		v.resources = append(v.resources, entries(factsOf(r), writes)...)
	}
	for _, g := range all {
		slices.SortFunc(g.versions, func(a, b *groupVersion) int { return compareVersions(a.version, b.version) })
		for _, v := range g.versions {
			// Subresources stay after their resource in the order of their facts.
			slices.SortStableFunc(v.resources, func(a, b metav1.APIResource) int { return cmp.Compare(parent(a), parent(b)) })
		}
	}
	slices.SortFunc(all, func(a, b *group) int { return compareGroups(a.name, b.name) })
	return all
}

// parent is the resource that an entry belongs to.
func parent(r metav1.APIResource) string {
	name, _, _ := strings.Cut(r.Name, "/")
	return name
}

// find returns the version of a resource, which it adds where it is missing.
func find(all *[]*group, r timeline.Resource) *groupVersion {
	i := slices.IndexFunc(*all, func(g *group) bool { return g.name == r.Group })
	if i < 0 {
		i = len(*all)
		*all = append(*all, &group{name: r.Group})
	}
	g := (*all)[i]
	for _, v := range g.versions {
		if v.version == r.Version {
			return v
		}
	}
	v := &groupVersion{group: r.Group, version: r.Version}
	g.versions = append(g.versions, v)
	return v
}

// entries describes a resource and its subresources as a list of resources does.
func entries(f facts, writes bool) []metav1.APIResource {
	f.resource.Verbs = allowed(f.resource.Verbs, writes)
	list := []metav1.APIResource{f.resource}
	for _, sub := range f.subresources {
		if sub.Verbs = allowed(sub.Verbs, writes); len(sub.Verbs) > 0 {
			list = append(list, sub)
		}
	}
	return list
}

// allowed are the verbs that are not refused.
func allowed(verbs []string, writes bool) metav1.Verbs {
	if writes {
		return verbs
	}
	return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return verb != "get" && verb != "list" && verb != "watch" })
}

// apiVersion is "v1" or "policy/v1".
func (v *groupVersion) apiVersion() string {
	return metav1.GroupVersion{Group: v.group, Version: v.version}.String()
}

// resourceList is /api/v1 or /apis/GROUP/VERSION. That of the core group has no apiVersion (k8s.io/apiserver,
// pkg/endpoints/discovery/util.go, keepUnversioned: it had none in release 1.1).
func (v *groupVersion) resourceList() *metav1.APIResourceList {
	l := &metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: v.apiVersion(), APIResources: v.resources,
	}
	if l.APIResources == nil {
		l.APIResources = []metav1.APIResource{}
	}
	if v.group == "" {
		l.APIVersion = ""
	}
	return l
}

// apiGroup is the group in /apis.
func (g *group) apiGroup() metav1.APIGroup {
	a := metav1.APIGroup{Name: g.name}
	for _, v := range g.versions {
		a.Versions = append(a.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v.apiVersion(), Version: v.version})
	}
	a.PreferredVersion = a.Versions[0]
	return a
}

// groupList is /apis; the core group isn't in it.
func groupList(all []*group) *metav1.APIGroupList {
	l := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, g := range all {
		if g.name != "" {
			l.Groups = append(l.Groups, g.apiGroup())
		}
	}
	return l
}
