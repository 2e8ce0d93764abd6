package openapi

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Types that say themselves what they look like on the wire (k8s.io/kube-openapi, pkg/common: OpenAPIV3DefinitionGetter
// and the methods that openapi-gen looks for).
type (
	typed     interface{ OpenAPISchemaType() []string }
	formatted interface{ OpenAPISchemaFormat() string }
	oneOf     interface{ OpenAPIV3OneOfTypes() []string }
	named     interface{ OpenAPIModelName() string }
	doced     interface{ SwaggerDoc() map[string]string }
)

// descriptions are those of types without SwaggerDoc, from the comments of their source.
var descriptions = map[string]string{
	"io.k8s.apimachinery.pkg.api.resource.Quantity":   "Quantity is a fixed-point representation of a number. It provides convenient marshaling/unmarshaling in JSON and YAML, in addition to String() and AsInt64() accessors.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Duration":   "Duration is a wrapper around time.Duration which supports correct marshaling to YAML and JSON. In particular, it marshals into strings, which can be used as map keys in json.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":   "FieldsV1 stores a set of fields in a data structure like a Trie, in JSON format.\n\nEach key is either a '.' representing the field itself, and will always map to an empty set, or a string representing a sub-field or item. The string will follow one of these four formats: 'f:<name>', where <name> is the name of a field in a struct, or key in a map 'v:<value>', where <value> is the exact json formatted value of a list item 'i:<index>', where <index> is position of a item in a list 'k:<keys>', where <keys> is a map of  a list item's key fields to their unique values If a key maps to an empty Fields value, the field that key represents is part of the set.\n\nThe exact format is defined in sigs.k8s.io/structured-merge-diff",
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":  "MicroTime is version of Time with microsecond level precision.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":       "Time is a wrapper around time.Time which supports correct marshaling to YAML and JSON.  Wrappers are provided for many of the factory methods that the time package offers.",
	"io.k8s.apimachinery.pkg.runtime.RawExtension":    "RawExtension is used to hold extensions in external versions.",
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString is a type that can hold an int32 or a string.  When used in JSON or YAML marshalling and unmarshalling, it produces or consumes the inner type.  This allows you to have, for example, a JSON field that can accept a name or number.",
	"io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent": "Event represents a single event to a watched resource.",
}

// opaque are structs whose fields are not what is on the wire.
var opaque = map[reflect.Type]bool{
	reflect.TypeFor[metav1.FieldsV1]():      true,
	reflect.TypeFor[metav1.Patch]():         true,
	reflect.TypeFor[runtime.RawExtension](): true,
}

// special is the schema of a type that isn't described by its fields.
func special(t reflect.Type, v3 bool) (spec.Schema, bool) {
	value := reflect.New(t).Interface()
	if opaque[t] {
		return spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}, true
	}
	typed, ok := value.(typed)
	if !ok {
		return spec.Schema{}, false
	}
	var s spec.Schema
	s.Type = typed.OpenAPISchemaType()
	if f, ok := value.(formatted); ok {
		s.Format = f.OpenAPISchemaFormat()
	}
	if o, ok := value.(oneOf); ok && v3 {
		s.Type = nil
		for _, name := range o.OpenAPIV3OneOfTypes() {
			s.OneOf = append(s.OneOf, spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{name}}})
		}
	}
	return s, true
}
