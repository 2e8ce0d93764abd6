package fault

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/faultspec"
	"github.com/nodesim/nodesim/internal/phrase"
	"github.com/nodesim/nodesim/timeline"
)

// resolve finds what a fault calls a resource among those of a tape. Several
// groups may share a word.
func resolve(h *timeline.Header, s Spec) ([]timeline.Resource, error) {
	var found []timeline.Resource
	var known []string
	for _, r := range h.Resources {
		if s.Names(r.Resource, r.Group, r.Kind) {
			found = append(found, r)
		}
		known = append(known, r.String())
	}
	if len(found) > 0 {
		return found, nil
	}
	wanted := "one of the tape's: " + strings.Join(known, ", ")
	if len(known) == 0 {
		wanted = "a tape with resources"
	}
	return nil, &faultspec.Error{
		Spec: s.String(), At: len(s.Kind) + 2, Found: "resource " + strconv.Quote(s.Resource), Wanted: wanted, Near: phrase.Closest(s.Resource, known),
	}
}

var nodes = timeline.Resource{Version: "v1", Kind: "Node", Resource: "nodes"}

func isNodes(r timeline.Resource) bool { return r.Resource == nodes.Resource && r.Group == "" }

// bind ties a fault to the resources of a tape.
func bind(h *timeline.Header, s Spec) (*rule, error) {
	kind, ok := faultspec.KindOf(s.Kind)
	if !ok {
		_, err := Parse(s.String())
		return nil, err
	}
	r := &rule{given: s, spec: s.Or(kind.Default), kind: kind}
	var err error
	if r.resources, err = resolve(h, s); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(r.resources, isNodes); s.Resource == "" && i >= 0 && (s.Kind == "stale" || s.Kind == "unobserved") {
		r.resources = r.resources[i : i+1] // what a roll is about
	}
	if s.Selector != "" {
		if r.selector, err = labels.Parse(s.Selector); err != nil {
			return nil, err
		}
	}
	r.settle()
	r.reset()
	return r, nil
}
