package recorder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// unknown suggests what may have been meant.
func (c *catalog) unknown(name, word string) error {
	near := c.near(word)
	text := fmt.Sprintf("resource %q: not found on this server", name)
	switch {
	case len(near) > 0:
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	default:
		text += "; `kubectl api-resources --verbs=list,watch` lists what there is"
	}
	if len(c.failed) > 0 {
		text += " (not available: " + strings.Join(c.failed, ", ") + ")"
	}
	return errors.New(text)
}

// near returns at most three watchable resources whose plural is close to word.
func (c *catalog) near(word string) []string {
	type hit struct {
		name string
		far  int
	}
	var hits []hit
	for _, e := range c.entries {
		if !slices.Contains(e.verbs, "watch") {
			continue
		}
		far := phrase.Distance(word, e.Resource.Resource)
		for _, a := range e.also {
			if a != "" {
				far = min(far, phrase.Distance(word, a))
			}
		}
		if far <= phrase.Near(word) {
			hits = append(hits, hit{e.String(), far})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, h := range hits[:min(3, len(hits))] {
		names = append(names, h.name)
	}
	return names
}
