package recorder

import (
	"encoding/json"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/timeline"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// controllerOf returns the UID of the owner that manages an object.
func controllerOf(raw []byte) string { return rawjson.Text(kubejson.Controller(raw), "uid") }

// selectorOf returns a budget's selector. One that can't be read matches
// nothing; an empty one matches every pod of the namespace, none at all
// matches none (policy/v1, PodDisruptionBudgetSpec.Selector).
func selectorOf(raw []byte) labels.Selector {
	var selector *metav1.LabelSelector
	if s := rawjson.Get(raw, "spec", "selector"); s != nil && json.Unmarshal(s, &selector) != nil {
		return labels.Nothing()
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Nothing()
	}
	return parsed
}

// nodeNamed returns the node that an object names, or "".
func nodeNamed(r timeline.Resource, o *object, raw []byte) string {
	if r.String() == "csinodes.storage.k8s.io" || r.String() == "leases.coordination.k8s.io" && o.ns == "kube-node-lease" {
		return o.name
	}
	for _, path := range [][]string{{"spec", "nodeName"}, {"status", "nodeName"}, {"status", "nodeRef", "name"}} {
		if name := rawjson.Text(raw, path...); name != "" {
			return name
		}
	}
	for ref := range rawjson.Elements(rawjson.Get(raw, "metadata", "ownerReferences")) {
		if rawjson.Text(ref, "kind") == "Node" {
			return rawjson.Text(ref, "name")
		}
	}
	return ""
}

// judge decides about an Event by the object that it is about.
func (s *scope) judge(raw []byte) verdict {
	about := rawjson.Get(raw, "involvedObject")
	if about == nil {
		about = rawjson.Get(raw, "regarding") // events.k8s.io/v1
	}
	kind, ns, name, uid := rawjson.Text(about, "kind"), rawjson.Text(about, "namespace"), rawjson.Text(about, "name"), rawjson.Text(about, "uid")
	if kind == "Node" {
		// The kubelet puts the node's name where the UID belongs
		// (pkg/kubelet/kubelet.go, nodeRef).
		in, alive := s.nodes[name]
		switch {
		case in || s.were["/"+name]:
			return inside
		case alive:
			return outside
		}
		return undecided
	}
	if uid != "" && (s.were[uid] || s.owners[uid]) {
		return inside
	}
	watched := false
	for _, t := range s.states {
		if t.res.Kind != kind || isEvent(t.res) {
			continue
		}
		watched = true
		o := t.alive[uid]
		switch {
		case uid == "":
			o = t.named(ns, name)
		case o == nil && kind == "Pod":
			o = s.mirrors[uid]
		}
		if o == nil {
			continue
		}
		switch {
		case o.onTape || o.view.in:
			return inside
		case kind == "Pod" && o.view.node == "":
			return undecided
		}
		return outside
	}
	if watched {
		return undecided
	}
	return outside
}

// named looks an object up by name: for the rare Event that names no UID.
func (t *resourceState) named(ns, name string) *object {
	if t.names != nil {
		return t.names[ns+"/"+name]
	}
	for _, o := range t.alive {
		if o.ns == ns && o.name == name {
			return o
		}
	}
	return nil
}
