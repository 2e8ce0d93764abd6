package objects

import (
	"slices"

	"github.com/nodesim/nodesim/timeline"
)

// definition is what a CustomResourceDefinition says of its kind.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name string `json:"name"`
		} `json:"versions"`
	} `json:"spec"`
}

// define takes note of a kind, which may own objects from now on.
func (s *Objects) define(x *Object) {
	d := decode[definition](x).Spec
	var all []timeline.Resource
	for _, v := range d.Versions {
		all = append(all, timeline.Resource{Group: d.Group, Version: v.Name, Kind: d.Names.Kind, Resource: d.Names.Plural, Namespaced: d.Scope == "Namespaced"})
	}
	if key := d.Names.Plural + "." + d.Group; !slices.Equal(s.defined[key], all) {
		s.defined[key] = all
		s.garbage.again()
	}
}

// kindOf finds the kind that a reference names.
func (s *Objects) kindOf(apiVersion, kind string) *Kind {
	for _, r := range s.Header.Resources {
		if r.Kind == kind && r.APIVersion() == apiVersion {
			return s.kind(s.Header.Key(r))
		}
	}
	for key, versions := range s.defined {
		if slices.ContainsFunc(versions, func(r timeline.Resource) bool { return r.Kind == kind && r.APIVersion() == apiVersion }) {
			return s.kind(key) // no two define the same
		}
	}
	return nil
}
