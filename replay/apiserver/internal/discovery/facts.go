package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

var (
	builtinVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	// customVerbs come in this order (k8s.io/apiextensions-apiserver, pkg/apiserver/customresource_discovery_controller.go).
	customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
)

// Verbs returns what a real server lets do with a resource, as discovery lists it. The caller may keep the slice and
// change it.
func Verbs(r timeline.Resource) []string { return slices.Clone(factsOf(r, nil).resource.Verbs) }

// Subresources returns the subresources that a replay of a resource has, such as "binding", "eviction" and "status"
// for pods, in alphabetical order. Of a resource that isn't built in it is "status"; Handler.Subresources knows the
// definitions too. The caller may keep the slice and change it.
func Subresources(r timeline.Resource) []string { return factsOf(r, nil).names() }

// facts hold what discovery says of a resource and its subresources, as in a list of resources.
type facts struct {
	resource     metav1.APIResource
	subresources []metav1.APIResource
}

// names are those of the subresources.
func (f facts) names() (names []string) {
	for _, sub := range f.subresources {
		_, name, _ := strings.Cut(sub.Name, "/")
		names = append(names, name)
	}
	return names
}

// factsOf finds the facts of a resource; definition may be nil.
func factsOf(r timeline.Resource, d *definition) facts {
	f, builtin := captured().facts(r)
	f.resource.Name, f.resource.Kind, f.resource.Namespaced = r.Resource, r.Kind, r.Namespaced
	if builtin {
		for i := range f.subresources {
			f.subresources[i].Namespaced = r.Namespaced
		}
		return f
	}
	f.resource.SingularName, f.resource.Verbs = strings.ToLower(r.Kind), customVerbs
	if builtinGroup(r.Group) {
		f.resource.Verbs = builtinVerbs
	}
	subresources := []string{"status"}
	if r.Group == "cluster.x-k8s.io" && (r.Resource == "machinedeployments" || r.Resource == "machinesets") {
		subresources = append(subresources, "scale") // also in a scenario, which has no definition of them
	}
	if d != nil {
		names := d.names()
		if names.Singular != "" {
			f.resource.SingularName = names.Singular
		}
		f.resource.ShortNames, f.resource.Categories = names.ShortNames, names.Categories
		if stored := d.stored(); stored != "" {
			f.resource.StorageVersionHash = storageVersionHash(r.Group+"/"+stored, r.Kind)
		}
		subresources = d.subresources(r.Version)
	}
	for _, name := range subresources {
		sub := metav1.APIResource{Name: r.Resource + "/" + name, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: []string{"get", "patch", "update"}}
		if name == "scale" {
			sub.Group, sub.Version, sub.Kind = "autoscaling", "v1", "Scale"
		}
		f.subresources = append(f.subresources, sub)
	}
	return f
}

// storageVersionHash digests the kind that is stored, given its "group/version", as k8s.io/apiserver,
// pkg/endpoints/discovery/storageversionhash.go does.
func storageVersionHash(groupVersion, kind string) string {
	sum := sha256.Sum256([]byte(groupVersion + "/" + kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
