package openapi

import (
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/nodesim/nodesim/replay/internal/applyschema"
)

// markers know what the source says of types in comments alone (+listType, +listMapKey, +mapType, +default), by model
// name. They are read from the schema that client-go carries for server-side apply. The zero value knows nothing.
type markers map[string]*schema.Map

// readMarkers takes about 50 ms, since client-go's schema of all built-in types is YAML.
func readMarkers() markers {
	m := markers{}
	types := applyschema.Parser().Schema.Types
	for i := range types {
		if types[i].Map != nil {
			m[types[i].Name] = types[i].Map
		}
	}
	return m
}

// atomic reports whether a type is replaced as a whole.
func (m markers) atomic(name string) bool {
	t := m[name]
	return t != nil && t.ElementRelationship == schema.Atomic
}

// apply adds what is known of a property to its schema.
func (m markers) apply(p *spec.Schema, name, property string, v3 bool) {
	t := m[name]
	if t == nil {
		return
	}
	field, ok := t.FindField(property)
	if !ok {
		return
	}
	if list := field.Type.Inlined.List; list != nil {
		switch {
		case list.ElementRelationship == schema.Atomic:
			p.AddExtension("x-kubernetes-list-type", "atomic")
		case len(list.Keys) > 0:
			p.AddExtension("x-kubernetes-list-type", "map")
			p.AddExtension("x-kubernetes-list-map-keys", list.Keys)
		default:
			p.AddExtension("x-kubernetes-list-type", "set")
		}
	}
	how := schema.ElementRelationship("")
	if field.Type.ElementRelationship != nil {
		how = *field.Type.ElementRelationship
	} else if field.Type.Inlined.Map != nil {
		how = field.Type.Inlined.Map.ElementRelationship
	}
	switch how {
	case schema.Atomic:
		p.AddExtension("x-kubernetes-map-type", "atomic")
	case schema.Separable:
		p.AddExtension("x-kubernetes-map-type", "granular")
	}
	if field.Default != nil && v3 && p.Default == nil {
		p.Default = field.Default
	}
}
