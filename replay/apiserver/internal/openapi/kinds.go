package openapi

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/timeline"
)

// A groupVersion is the subject of one document of v3.
type groupVersion struct {
	schema.GroupVersion
	resources []timeline.Resource
}

// path is the document's place in the index: "api/v1" or "apis/policy/v1".
func (gv groupVersion) path() string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.Group + "/" + gv.Version
}

// groupVersions sorts the resources of a tape by group and version, in the tape's order.
func groupVersions(resources []timeline.Resource) (list []*groupVersion) {
	at := map[schema.GroupVersion]*groupVersion{}
	for _, r := range resources {
		key := schema.GroupVersion{Group: r.Group, Version: r.Version}
		gv := at[key]
		if gv == nil {
			gv = &groupVersion{GroupVersion: key}
			at[key] = gv
			list = append(list, gv)
		}
		gv.resources = append(gv.resources, r)
	}
	return list
}

// models are the names of the schemas that a resource's paths refer to.
type models struct{ object, list string }

// addKinds adds the schemas of a document's kinds, and of what comes with every document: Status, DeleteOptions and
// so on. It returns the models of each kind.
func (l *library) addKinds(gv *groupVersion, definitions func(timeline.Resource) []byte) map[string]models {
	names := map[string]models{}
	common := []string{"DeleteOptions", "Patch", "Status"}
	for _, r := range gv.resources {
		if _, ok := names[r.Kind]; ok {
			continue
		}
		object, list := gv.WithKind(r.Kind), gv.WithKind(r.Kind+"List")
		m := models{captured().model(object), captured().model(list)}
		if m.object == "" || m.list == "" {
			names[r.Kind] = l.addCustom(r, definition(definitions, r))
			continue
		}
		l.add(m.object)
		l.add(m.list)
		l.mark(m.object, object)
		l.mark(m.list, list)
		names[r.Kind] = m
		common = []string{"DeleteOptions", "Patch", "Status", "APIResourceList", "WatchEvent"}
	}
	for _, kind := range common {
		l.add(meta + kind)
		if kind == "DeleteOptions" || kind == "WatchEvent" { // which are of every group
			l.mark(meta+kind, schema.GroupVersionKind{Version: "v1", Kind: kind})
			l.mark(meta+kind, gv.WithKind(kind))
		}
	}
	return names
}

func definition(definitions func(timeline.Resource) []byte, r timeline.Resource) []byte {
	if definitions == nil {
		return nil
	}
	return definitions(r)
}
