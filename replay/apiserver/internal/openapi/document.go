package openapi

import (
	"maps"
	"strings"

	"k8s.io/kube-openapi/pkg/openapiconv"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// v2 is the one document of OpenAPI v2.
func (o Options) v2() *spec.Swagger {
	doc := &spec.Swagger{}
	doc.Swagger, doc.Info = "2.0", o.info()
	doc.Paths = &spec.Paths{Paths: map[string]spec.PathItem{}}
	doc.SecurityDefinitions = spec.SecurityDefinitions{"BearerToken": {SecuritySchemeProps: spec.SecuritySchemeProps{
		Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication",
	}}}
	doc.Security = []map[string][]string{{"BearerToken": {}}}
	l := newLibrary(false)
	for _, gv := range groupVersions(o.Resources) {
		maps.Copy(doc.Paths.Paths, o.paths(l, gv))
	}
	doc.Definitions = l.schemas
	return doc
}

// v3 is the document of a group and version.
func (o Options) v3(gv *groupVersion) *spec3.OpenAPI {
	l := newLibrary(true)
	paths := openapiconv.ConvertPaths(&spec.Paths{Paths: o.paths(l, gv)})
	requireBodies(paths)
	schemas := make(map[string]*spec.Schema, len(l.schemas))
	for name, s := range l.schemas {
		schemas[name] = &s
	}
	return &spec3.OpenAPI{Version: "3.0.0", Info: o.info(), Paths: paths, Components: &spec3.Components{
		Schemas: schemas,
		SecuritySchemes: spec3.SecuritySchemes{"BearerToken": {SecuritySchemeProps: spec3.SecuritySchemeProps{
			Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication",
		}}},
	}}
}

// requireBodies says that all but deletions need a body, which the conversion from v2 forgets.
func requireBodies(paths *spec3.Paths) {
	for _, path := range paths.Paths {
		for _, o := range []*spec3.Operation{path.Put, path.Post, path.Patch} {
			if o != nil && o.RequestBody != nil {
				o.RequestBody.Required = true
			}
		}
	}
}

// info is that of the real server, whose version is "1.36" here, without the patch.
func (o Options) info() *spec.Info {
	version := strings.TrimPrefix(o.ServerVersion, "v")
	if parts := strings.SplitN(version, ".", 3); len(parts) == 3 {
		version = parts[0] + "." + parts[1]
	}
	if version == "" {
		version = "unversioned"
	}
	return &spec.Info{InfoProps: spec.InfoProps{Title: "Kubernetes", Version: version}}
}
