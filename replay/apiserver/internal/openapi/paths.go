package openapi

import (
	"net/http"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// add writes the operations of a path that are allowed; a path without any is left out.
func (p *resourcePaths) add(path string, operations ...operation) {
	var item spec.PathItem
	for _, o := range operations {
		if !p.allow(o.action) {
			continue
		}
		written := p.operation(o)
		switch o.method {
		case "get":
			item.Get = written
		case "put":
			item.Put = written
		case "post":
			item.Post = written
		case "patch":
			item.Patch = written
		case "delete":
			item.Delete = written
		}
	}
	if item.Get == nil && item.Put == nil && item.Post == nil && item.Patch == nil && item.Delete == nil {
		return
	}
	item.Parameters = pathParameters(path, p.r.Kind)
	p.paths[path] = item
}

func (p *resourcePaths) operation(o operation) *spec.Operation {
	w := &spec.Operation{}
	w.Tags, w.ID, w.Description, w.Schemes = []string{p.tag}, o.id, o.text, []string{"https"}
	w.Consumes, w.Produces = o.consumes, o.produces
	if w.Consumes == nil {
		w.Consumes = []string{"*/*"}
	}
	if w.Produces == nil {
		w.Produces = produced
	}
	if o.body != "" {
		body := spec.Parameter{}
		body.Name, body.In, body.Required, body.Schema = "body", "body", !o.optionalBody, p.schemaOf(o.body)
		w.Parameters = append(w.Parameters, body)
	}
	w.Parameters = append(w.Parameters, o.parameters...)
	w.Responses = &spec.Responses{}
	w.Responses.StatusCodeResponses = map[int]spec.Response{401: {ResponseProps: spec.ResponseProps{Description: "Unauthorized"}}}
	for _, code := range append([]int{200}, o.codes...) {
		w.Responses.StatusCodeResponses[code] = spec.Response{ResponseProps: spec.ResponseProps{
			Description: http.StatusText(code), Schema: p.schemaOf(o.answer),
		}}
	}
	w.AddExtension("x-kubernetes-action", o.action)
	w.AddExtension("x-kubernetes-group-version-kind", map[string]any{"group": o.kind.Group, "version": o.kind.Version, "kind": o.kind.Kind})
	return w
}

// schemaOf refers to a model in the way of v2; the conversion to v3 rewrites it.
func (p *resourcePaths) schemaOf(model string) *spec.Schema {
	return &spec.Schema{SchemaProps: spec.SchemaProps{Ref: spec.MustCreateRef("#/definitions/" + model)}}
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
