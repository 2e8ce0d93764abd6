package openapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nodesim/nodesim/replay/apiserver/internal/openapi"
	"github.com/nodesim/nodesim/timeline"
)

// A document is as much of v2 or v3 as tests look at.
type document struct {
	Paths       map[string]map[string]json.RawMessage `json:"paths"`
	Definitions map[string]json.RawMessage            `json:"definitions"`
	Components  struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

func read(t *testing.T, h http.Handler, path string) (d document, text string) {
	t.Helper()
	w := ask(h, path, "application/json")
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return d, w.Body.String()
}

func TestSchemasOfBuiltinKinds(t *testing.T) {
	h := handler()
	core, _ := read(t, h, "/openapi/v3/api/v1")
	policy, _ := read(t, h, "/openapi/v3/apis/policy/v1")
	v2, _ := read(t, h, "/openapi/v2")
	for what, c := range map[string]struct{ got, want string }{
		"times": {string(core.Components.Schemas["io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"]),
			`{"description":"MicroTime is version of Time with microsecond level precision.","type":"string","format":"date-time"}`},
		"a field that is a number or a string, in v3": {
			part(policy.Components.Schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"], "format", "oneOf", "type"),
			`["int-or-string",[{"type":"integer"},{"type":"string"}],null]`},
		"a field that is a number or a string, in v2": {
			part(v2.Definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"], "format", "oneOf", "type"),
			`["int-or-string",null,"string"]`},
		"keys of lists and merge keys": {
			part(property(core.Components.Schemas["io.k8s.api.core.v1.Container"], "ports"), "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy", "items"),
			`["map",["containerPort","protocol"],"containerPort","merge",{"default":{},"allOf":[{"$ref":"#/components/schemas/io.k8s.api.core.v1.ContainerPort"}]}]`},
		"defaults and enums": {
			part(property(core.Components.Schemas["io.k8s.api.core.v1.ContainerPort"], "protocol"), "default", "enum"),
			`["TCP",["SCTP","TCP","UDP"]]`},
		"what must be given": {
			part(core.Components.Schemas["io.k8s.api.core.v1.Taint"], "required"),
			`[["key","effect"]]`},
		"maps": {
			part(property(core.Components.Schemas["io.k8s.api.core.v1.NodeStatus"], "capacity"), "type", "additionalProperties"),
			`["object",{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}]`},
		"kinds": {
			part(core.Components.Schemas["io.k8s.api.core.v1.NodeList"], "x-kubernetes-group-version-kind"),
			`[[{"group":"","kind":"NodeList","version":"v1"}]]`},
		"types that are replaced as a whole": {
			part(core.Components.Schemas["io.k8s.api.core.v1.ObjectReference"], "x-kubernetes-map-type"),
			`["atomic"]`},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// part picks members of an object, as a JSON array.
func part(raw json.RawMessage, names ...string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return "no object: " + string(raw)
	}
	picked := make([]json.RawMessage, len(names))
	for i, name := range names {
		picked[i] = all[name]
	}
	text, _ := json.Marshal(picked)
	return string(text)
}

func property(raw json.RawMessage, name string) json.RawMessage {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(raw, &s) // part says what is missing
	return s.Properties[name]
}

// Every reference of every document leads to a schema in it.
func TestReferencesResolve(t *testing.T) {
	h := handler(func(o *openapi.Options) { o.Resources = append(o.Resources, customs...); o.Definitions = defined })
	for _, path := range []string{"/openapi/v2", "/openapi/v3/api/v1", "/openapi/v3/apis/policy/v1", "/openapi/v3/apis/karpenter.sh/v1", "/openapi/v3/apis/example.dev/v1"} {
		d, text := read(t, h, path)
		prefix, schemas := "#/components/schemas/", d.Components.Schemas
		if path == "/openapi/v2" {
			prefix, schemas = "#/definitions/", d.Definitions
		}
		count := 0
		for part := range strings.SplitSeq(text, `"$ref":"`) {
			name, _, _ := strings.Cut(part, `"`)
			if count++; count == 1 {
				continue // before the first reference
			}
			if _, ok := schemas[strings.TrimPrefix(name, prefix)]; !ok || !strings.HasPrefix(name, prefix) {
				t.Errorf("%s refers to %s, which isn't there", path, name)
			}
		}
		if count < 10 {
			t.Errorf("%s has %d references", path, count)
		}
	}
}

func TestPaths(t *testing.T) {
	h := handler()
	core, _ := read(t, h, "/openapi/v3/api/v1")
	for path, methods := range map[string]string{
		"/api/v1/nodes":               "delete get parameters post",
		"/api/v1/nodes/{name}":        "delete get parameters patch put",
		"/api/v1/nodes/{name}/status": "get parameters patch put",
		"/api/v1/pods":                "get parameters",
		"/api/v1/namespaces/{namespace}/pods/{name}/eviction":      "parameters post",
		"/api/v1/namespaces/{namespace}/pods/{name}/binding":       "parameters post",
		"/api/v1/namespaces/{namespace}/pods/{name}/ephemeralname": "",
	} {
		if got := strings.Join(sortedKeys(core.Paths[path]), " "); got != methods {
			t.Errorf("%s: %q, want %q", path, got, methods)
		}
	}
	// What kubectl looks for before it sends dryRun and fieldValidation.
	patch := string(core.Paths["/api/v1/nodes/{name}"]["patch"])
	for _, want := range []string{
		`"name":"dryRun"`, `"name":"fieldValidation"`, `"application/strategic-merge-patch+json"`, `"x-kubernetes-action":"patch"`,
		`"x-kubernetes-group-version-kind":{"group":"","kind":"Node","version":"v1"}`, `"operationId":"patchCoreV1Node"`,
	} {
		if !strings.Contains(patch, want) {
			t.Errorf("%s is missing from %s", want, patch)
		}
	}
	refused, _ := read(t, handler(func(o *openapi.Options) { o.Writes = false }), "/openapi/v3/api/v1")
	for path, item := range refused.Paths {
		for _, method := range []string{"put", "post", "patch", "delete"} {
			if _, ok := item[method]; ok {
				t.Errorf("%s of %s is refused, and described", method, path)
			}
		}
	}
}

func sortedKeys(m map[string]json.RawMessage) (keys []string) {
	for _, k := range []string{"delete", "get", "parameters", "patch", "post", "put"} {
		if _, ok := m[k]; ok {
			keys = append(keys, k)
		}
	}
	return keys
}

var customs = []timeline.Resource{
	{Group: "karpenter.sh", Version: "v1", Kind: "NodeClaim", Resource: "nodeclaims"},
	{Group: "example.dev", Version: "v1", Kind: "Widget", Resource: "widgets", Namespaced: true},
	{Group: "example.dev", Version: "v1", Kind: "Broken", Resource: "brokens", Namespaced: true},
}

func defined(r timeline.Resource) []byte {
	switch r.Kind {
	case "NodeClaim":
		return []byte(`{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","description":"NodeClaim asks for a node","required":["spec"],
"properties":{"spec":{"type":"object","properties":{"nodeClassRef":{"type":"string"},"share":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}},
"x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}}}]}}`)
	case "Broken":
		return []byte(`{"spec":{"versions":7}}`)
	}
	return nil
}

func TestCustomKinds(t *testing.T) {
	h := handler(func(o *openapi.Options) { o.Resources = customs; o.Definitions = defined })
	claims, _ := read(t, h, "/openapi/v3/apis/karpenter.sh/v1")
	others, _ := read(t, h, "/openapi/v3/apis/example.dev/v1")
	v2, _ := read(t, h, "/openapi/v2")
	claim := claims.Components.Schemas["sh.karpenter.v1.NodeClaim"]
	for what, c := range map[string]struct{ got, want string }{
		"the definition's schema, with the envelope": {
			part(claim, "description", "required", "x-kubernetes-group-version-kind"),
			`["NodeClaim asks for a node",["spec"],[{"group":"karpenter.sh","kind":"NodeClaim","version":"v1"}]]`},
		"validations stay in v3":          {part(property(claim, "spec"), "x-kubernetes-validations"), `[[{"rule":"self == oldSelf"}]]`},
		"alternatives stay in v3":         {part(property(property(claim, "spec"), "share"), "anyOf"), `[[{"type":"integer"},{"type":"string"}]]`},
		"v2 knows no alternatives":        {part(property(property(v2.Definitions["sh.karpenter.v1.NodeClaim"], "spec"), "share"), "anyOf", "type"), `[null,null]`},
		"metadata":                        {part(property(claim, "metadata"), "allOf"), `[[{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]]`},
		"no definition":                   {part(others.Components.Schemas["dev.example.v1.Widget"], "type", "x-kubernetes-preserve-unknown-fields"), `["object",true]`},
		"a definition that can't be read": {part(others.Components.Schemas["dev.example.v1.Broken"], "type", "x-kubernetes-preserve-unknown-fields"), `["object",true]`},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if patch := string(claims.Paths["/apis/karpenter.sh/v1/nodeclaims/{name}"]["patch"]); strings.Contains(patch, "strategic") || !strings.Contains(patch, "merge-patch+json") {
		t.Errorf("custom resources have no strategic merge patch: %s", patch)
	}
}

// Definitions come from a tape that anyone may have written.
func FuzzDefinitions(f *testing.F) {
	f.Add("x.y", "v1", "Kind", "kinds", defined(customs[0]))
	f.Add("", "", "", "", []byte(`{"spec":{"versions":[{"name":"","schema":{"openAPIV3Schema":{"$ref":"#/definitions/x","items":[{"not":{}}]}}}]}}`))
	f.Add("..-", "-", "s", "a/b", []byte(`{"spec":{"versions":[{"name":"-","schema":{"openAPIV3Schema":{"properties":{"metadata":null},"x-kubernetes-preserve-unknown-fields":7}}}]}}`))
	f.Fuzz(func(t *testing.T, group, version, kind, resource string, definition []byte) {
		for _, name := range []string{group, version, kind, resource} {
			if !utf8.ValidString(name) {
				return // a header is YAML
			}
		}
		r := timeline.Resource{Group: group, Version: version, Kind: kind, Resource: resource}
		h := handler(func(o *openapi.Options) {
			o.Resources = []timeline.Resource{r}
			o.Subresources = func(timeline.Resource) []string { return []string{"status", "scale", resource} }
			o.Definitions = func(timeline.Resource) []byte { return definition }
		})
		for _, path := range []string{"/openapi/v2", "/openapi/v3"} {
			if w := ask(h, path, ""); w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
