package recorder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/labels"
)

// sampled returns the labels of nodes on a first page.
func sampled(t *resourceState, raws [][]byte) (sample []labels.Set) {
	if t.res.String() != "nodes" {
		return nil
	}
	for _, raw := range raws {
		sample = append(sample, labelsOf(raw))
	}
	return sample
}

// A noNodeError says that no node is in the scope, and what there is instead.
type noNodeError struct {
	error
	nodes timeline.Resource
}

// checkGroup refuses a scope without nodes, which is a misspelt one in nearly
// all cases, and says what there is.
func (r *Recorder) checkGroup(p *prepared) error {
	if p.sequencer.scope == nil {
		return nil
	}
	nodes := -1
	groups := map[string]bool{}
	for i, t := range p.sequencer.states {
		if t.res.String() != "nodes" {
			continue
		}
		nodes = i
		for _, o := range p.lists[i] {
			if o.view.in {
				return nil
			}
			for _, key := range p.sequencer.scope.keys {
				if v := labelsOf(o.raw)[key]; v != "" {
					groups[v] = true
				}
			}
		}
	}
	if nodes < 0 {
		return errors.New("scope: found no nodes among the resources, want them: a scope is a group of nodes")
	}
	return &noNodeError{r.unmatched(p, nodes, groups), p.sequencer.states[nodes].res}
}

// unmatched says what there is instead of the scope's nodes.
func (r *Recorder) unmatched(p *prepared, nodes int, groups map[string]bool) error {
	switch {
	case r.cfg.Scope.Selector != "":
		return fmt.Errorf("selector %q: found no node that matches (of %d); `kubectl get nodes --show-labels` shows their labels", r.cfg.Scope.Selector, len(p.lists[nodes]))
	case len(groups) == 0:
		return fmt.Errorf("node group %q: found no node of any group (of %d nodes); want a label of %s on them, or use a selector", r.cfg.Scope.Nodegroup, len(p.lists[nodes]), strings.Join(p.sequencer.scope.keys, ", "))
	}
	return fmt.Errorf("node group %q: found no such group; there are %s", r.cfg.Scope.Nodegroup, strings.Join(sorted(groups), ", "))
}

func sorted(set map[string]bool) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// provider finds out whose labels most nodes on the tape carry.
func provider(p *prepared, s Scope) string {
	nodes := p.sample
	for i, t := range p.sequencer.states {
		if t.res.String() != "nodes" {
			continue
		}
		for _, o := range p.lists[i] {
			if p.sequencer.scope == nil || o.view.in {
				nodes = append(nodes, labelsOf(o.raw))
			}
		}
	}
	best, most := "", 0
	for _, candidate := range s.Providers {
		n := 0
		for _, l := range nodes {
			if slices.ContainsFunc(candidate.Labels, func(key string) bool { return l[key] != "" }) {
				n++
			}
		}
		if n > most {
			best, most = candidate.Name, n
		}
	}
	if best == "" && len(s.Providers) == 1 {
		best = s.Providers[0].Name
	}
	return best
}
