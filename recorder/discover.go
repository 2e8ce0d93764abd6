package recorder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DefaultResources returns the resources that show a roll: the nodes, what runs on
// them, what guards it, and what the cluster says about both.
func DefaultResources() []string {
	return []string{"nodes", "pods", "events", "poddisruptionbudgets.policy"}
}

// catalog holds what a server offers: every listable and watchable resource in
// the version that its group prefers.
type catalog struct {
	entries []entry
	failed  []string // groups whose discovery failed
}

// entry is one resource with the words people use for it.
type entry struct {
	timeline.Resource
	also  []string // singular, kind in lower case, short names
	verbs []string
}

// discover asks the server what it offers. Versions that can't be asked are
// remembered, not fatal.
func discover(ctx context.Context, c *client) (*catalog, error) {
	offers, err := c.offers(ctx)
	if err != nil {
		return nil, err
	}
	cat, has := new(catalog), map[schema.GroupResource]bool{}
	for _, o := range offers {
		if !o.known {
			cat.failed = append(cat.failed, o.String())
		}
		for _, r := range o.resources {
			of := schema.GroupResource{Group: o.Group, Resource: r.Name}
			if has[of] || strings.Contains(r.Name, "/") {
				continue
			}
			has[of] = true
			cat.entries = append(cat.entries, entry{
				Resource: timeline.Resource{Group: o.Group, Version: o.Version, Kind: r.Kind, Resource: r.Name, Namespaced: r.Namespaced},
				also:     append([]string{r.SingularName, strings.ToLower(r.Kind)}, r.ShortNames...),
				verbs:    r.Verbs,
			})
		}
	}
	slices.Sort(cat.failed)
	return cat, nil
}

// find resolves the names as kubectl would: plural, "plural.group", singular,
// kind or short name; among several the core group wins. A resource that is
// named twice counts once, and the order is that of the names.
func (c *catalog) find(names []string) ([]timeline.Resource, error) {
	var found []timeline.Resource
	for _, name := range names {
		r, err := c.one(strings.ToLower(strings.TrimSpace(name)))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(found, r) {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return nil, errors.New("resources: found none, want at least one, such as nodes")
	}
	return found, nil
}

func (c *catalog) one(name string) (timeline.Resource, error) {
	word, group, qualified := strings.Cut(name, ".")
	var hits []entry
	for _, e := range c.entries {
		if qualified && e.Group != group {
			continue
		}
		if e.Resource.Resource == word {
			hits = append(hits, e)
		}
	}
	for _, e := range c.entries {
		if len(hits) == 0 && (!qualified || e.Group == group) && slices.Contains(e.also, word) && word != "" {
			hits = append(hits, e)
		}
	}
	for _, e := range hits {
		if e.Group == "" {
			hits = []entry{e}
			break
		}
	}
	switch len(hits) {
	case 0:
		return timeline.Resource{}, c.unknown(name, word)
	case 1:
	default:
		var full []string
		for _, e := range hits {
			full = append(full, e.String())
		}
		slices.Sort(full)
		return timeline.Resource{}, fmt.Errorf("resource %q: found in several groups, want one of %s", name, strings.Join(full, ", "))
	}
	e := hits[0]
	if e.Group == "" && e.Resource.Resource == "secrets" {
		return timeline.Resource{}, fmt.Errorf("resource %q: found Secrets, which are never recorded, not even in full; leave them out", name)
	}
	for _, verb := range []string{"list", "watch"} {
		if !slices.Contains(e.verbs, verb) {
			return timeline.Resource{}, fmt.Errorf("resource %q: the server knows no %s for it (verbs: %s); leave it out", name, verb, strings.Join(e.verbs, ", "))
		}
	}
	return e.Resource, nil
}
