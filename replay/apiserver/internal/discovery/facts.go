package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/timeline"
)

var (
	builtinVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	// customVerbs come in this order (k8s.io/apiextensions-apiserver, pkg/apiserver/customresource_discovery_controller.go).
	customVerbs = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
)

// Verbs returns what a real server lets do with a resource, as discovery lists it. The caller may keep the slice and
// change it.
func Verbs(r timeline.Resource) []string {
	switch b, known := builtin[groupResource{r.Group, r.Resource}]; {
	case known && b.verbs != "":
		return strings.Fields(b.verbs)
	case builtinGroup(r.Group):
		return slices.Clone(builtinVerbs)
	}
	return slices.Clone(customVerbs)
}

// Subresources returns the subresources that a replay of a resource has, such as "binding", "eviction" and "status"
// for pods, in alphabetical order. Of a resource that isn't built in it is "status"; Handler.Subresources knows the
// definitions too. The caller may keep the slice and change it.
func Subresources(r timeline.Resource) []string { return factsOf(r, nil).sub }

// facts hold what discovery says of a resource beside what the tape's header says.
type facts struct {
	singular          string
	short, categories []string
	sub               []string
	verbs             []string
	hash              string // storageVersionHash, "" where unknown
}

// factsOf finds the facts of a resource; definition may be nil.
func factsOf(r timeline.Resource, d *definition) facts {
	f := facts{singular: strings.ToLower(r.Kind), verbs: Verbs(r)}
	b, known := builtin[groupResource{r.Group, r.Resource}]
	switch {
	case known:
		f.short, f.categories, f.sub = strings.Fields(b.short), strings.Fields(b.categories), strings.Fields(b.sub)
		switch {
		case b.stored == "-" || strings.Contains(r.Version, "alpha") || strings.Contains(r.Version, "beta"):
		case b.stored != "":
			f.hash = storageVersionHash(b.stored, r.Kind)
		default:
			f.hash = storageVersionHash(r.Group+"/"+r.Version, r.Kind)
		}
	case d != nil:
		names := d.names()
		if names.Singular != "" {
			f.singular = names.Singular
		}
		f.short, f.categories = names.ShortNames, names.Categories
		f.sub = d.subresources(r.Version)
		if stored := d.stored(); stored != "" {
			f.hash = storageVersionHash(r.Group+"/"+stored, r.Kind)
		}
	default:
		f.sub = []string{"status"}
	}
	return f
}

// storageVersionHash digests the kind that is stored, given its "group/version" ("/v1" for the core group), as
// k8s.io/apiserver, pkg/endpoints/discovery/storageversionhash.go does.
func storageVersionHash(groupVersion, kind string) string {
	sum := sha256.Sum256([]byte(groupVersion + "/" + kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
