package openapi

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/kube-openapi/pkg/schemamutation"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/nodesim/nodesim/timeline"
)

// An example is one of the two custom resources of the captured documents, and how a resource of a tape is made like it.
type example struct {
	of           timeline.Resource
	root         string // of its paths
	kind, plural string
}

func exampleOf(r timeline.Resource) example {
	e := example{of: r, root: "/apis/thegroup.example.com/v7alpha7/", kind: "Thewide", plural: "thewides"}
	if r.Namespaced {
		e.kind, e.plural = "Thekind", "theplurals"
	}
	return e
}

// model is the example's.
func (e example) model() string { return "com.example.thegroup.v7alpha7." + e.kind }

// like replaces the example's names in JSON by those of the resource, whose models are m.
func (e example) like(m models) *strings.Replacer {
	tag, camel := names(e.of.Group, e.of.Version)
	pairs := []string{
		e.model() + "List", m.list,
		e.model(), m.object,
		"thegroupExampleCom_v7alpha7", tag,
		"ThegroupExampleComV7alpha7", camel,
		"a " + e.kind, article(e.of.Kind),
		e.kind, e.of.Kind,
		e.plural, e.of.Resource,
		"thegroup.example.com", e.of.Group,
		"v7alpha7", e.of.Version,
	}
	for i := 1; i < len(pairs); i += 2 {
		text, _ := json.Marshal(pairs[i]) // a string has no error
		pairs[i] = string(text[1 : len(text)-1])
	}
	return strings.NewReplacer(pairs...)
}

// addCustom adds a custom kind and its list. A definition that can't be read, or that has no schema for the version,
// is as none: such a kind may have any fields.
func (l *library) addCustom(r timeline.Resource, definition []byte) models {
	labels := strings.Split(r.Group, ".")
	slices.Reverse(labels)
	prefix := strings.Join(labels, ".") + "." + r.Version + "."
	m := models{modelLike(prefix + r.Kind), modelLike(prefix + r.Kind + "List")}
	e := exampleOf(r)
	read := func(model string) (s spec.Schema) {
		_ = json.Unmarshal([]byte(e.like(m).Replace(string(captured().Schemas[model]))), &s)
		return s
	}
	envelope, list := l.convert(read(e.model())), l.convert(read(e.model()+"List"))

	object, ok := defined(r, definition)
	if open, _ := object.Extensions.GetBool("x-kubernetes-preserve-unknown-fields"); open && !l.v3 {
		// Clients of v2 would refuse what isn't listed (buildKubeNative of k8s.io/apiextensions-apiserver, pkg/controller/openapi/builder).
		object = spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
		object.AddExtension(kindsKey, envelope.Extensions[kindsKey])
		l.schemas[m.object], l.schemas[m.list] = object, list
		return m
	}
	if !ok {
		object = spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
		object.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	}
	if !l.v3 {
		object = *forV2(&object)
	}
	// Every object has apiVersion, kind and metadata (k8s.io/apiextensions-apiserver, pkg/controller/openapi/builder).
	if object.Properties == nil {
		object.Properties = map[string]spec.Schema{}
	}
	for name, s := range envelope.Properties {
		object.Properties[name] = s
	}
	object.AddExtension(kindsKey, envelope.Extensions[kindsKey])
	l.schemas[m.object], l.schemas[m.list] = object, list
	return m
}

// modelLike replaces what can't be in a reference; the names of real groups and kinds pass as they are.
func modelLike(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
}

// defined reads the schema of a version from a CustomResourceDefinition.
func defined(r timeline.Resource, raw []byte) (s spec.Schema, ok bool) {
	var d struct {
		Spec struct {
			Versions []struct {
				Name   string `json:"name"`
				Schema struct {
					OpenAPIV3Schema *spec.Schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &d) != nil {
		return s, false
	}
	for _, v := range d.Spec.Versions {
		if v.Name == r.Version && v.Schema.OpenAPIV3Schema != nil {
			return *v.Schema.OpenAPIV3Schema, true
		}
	}
	return s, false
}

// forV2 leaves out what OpenAPI v2, and clients of the time, don't know (k8s.io/apiextensions-apiserver,
// pkg/controller/openapi/v2/conversion.go).
func forV2(s *spec.Schema) *spec.Schema {
	w := schemamutation.Walker{RefCallback: schemamutation.RefCallbackNoop, SchemaCallback: func(s *spec.Schema) *spec.Schema {
		c := *s
		c.AllOf, c.AnyOf, c.OneOf, c.Not, c.Default = nil, nil, nil, nil, nil
		open, _ := c.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
		either, _ := c.Extensions.GetBool("x-kubernetes-int-or-string")
		if open || either || c.Nullable {
			c.Type, c.Items, c.Properties, c.Nullable = nil, nil, nil, false
		}
		return &c
	}}
	return w.WalkSchema(s)
}

// names of a group and version: "rbacAuthorization_v1" as a tag, "RbacAuthorizationV1" within an operationId.
func names(group, version string) (tag, camel string) {
	group = strings.TrimSuffix(group, ".k8s.io")
	if group == "" {
		group = "core"
	}
	for i, label := range strings.FieldsFunc(group, func(r rune) bool { return r == '.' || r == '-' }) {
		upper := capital(label)
		camel += upper
		if i > 0 {
			label = upper
		}
		tag += label
	}
	return tag + "_" + version, camel + capital(version)
}

// capital says "Status" for "status".
func capital(name string) string {
	_, first := utf8.DecodeRuneInString(name)
	return strings.ToUpper(name[:first]) + name[first:]
}

// article says "a Node", "an Event", "Endpoints" (k8s.io/apiserver, pkg/endpoints/installer.go).
func article(kind string) string {
	if strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss") {
		return kind
	}
	if strings.ContainsAny(kind[:min(1, len(kind))], "AEIOU") {
		return "an " + kind
	}
	return "a " + kind
}
