package recorder

import (
	"strings"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// clusterScoped are the kinds that may be in a dump about nodes and have
// no namespace. For others it shows in the objects.
var clusterScoped = map[string]bool{
	"Node": true, "Namespace": true, "PersistentVolume": true, "CSINode": true, "NodeClaim": true, "NodePool": true,
}

// irregular are the plurals that the rule of pluralOf doesn't make.
var irregular = map[string]string{
	"Endpoints":                  "endpoints",
	"SecurityContextConstraints": "securitycontextconstraints",
}

// resourceOf names the resource of a kind. The plural is taken as given, or
// guessed: a dump doesn't say it.
func resourceOf(kind, apiVersion, plural string) timeline.Resource {
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		gv = schema.GroupVersion{Version: apiVersion}
	}
	plural, _, _ = strings.Cut(plural, ".")
	if plural == "" {
		plural = pluralOf(kind)
	}
	return timeline.Resource{
		Group: gv.Group, Version: gv.Version, Kind: kind, Resource: plural,
	}
}

// pluralOf guesses as apimachinery does (pkg/api/meta, UnsafeGuessKindToResource).
func pluralOf(kind string) string {
	if p, ok := irregular[kind]; ok {
		return p
	}
	s := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"):
		return s + "es"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	}
	return s + "s"
}
