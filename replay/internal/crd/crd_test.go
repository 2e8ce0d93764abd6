package crd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// made is a definition whose only version has this schema of spec.
func made(t testing.TB, spec string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	d := &apiextensionsv1.CustomResourceDefinition{}
	text := `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"widgets","kind":"Widget"},` +
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` + spec + `}}}}]}}`
	if err := json.Unmarshal([]byte(text), d); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(d)
	return d
}

// shape is what a server makes of an object's spec: it is pruned, defaulted and validated.
func shape(t *testing.T, schema, spec string) string {
	t.Helper()
	d, err := read(made(t, schema))
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{}
	if err := utiljson.Unmarshal([]byte(`{"spec":`+spec+`}`), &object); err != nil {
		t.Fatal(err)
	}
	v := d.Version("v1")
	unknown := v.Prune(object)
	v.Default(object)
	out, err := json.Marshal(object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %v", out, strings.Join(unknown, ","), v.Validate(object).ToAggregate()))
}

// The messages are a server's: those of the test against a control plane in package apiserver.
func TestObjectsHaveTheirSchemasShape(t *testing.T) {
	const free = `"x-kubernetes-preserve-unknown-fields":true`
	for _, c := range []struct{ name, schema, spec, want string }{
		{"pruned", `{"type":"object","properties":{"a":{"type":"object"}}}`, `{"a":{"b":1},"c":[{"d":1}]}`, `{"a":{}} spec.a.b,spec.c <nil>`},
		{"kept", `{"type":"object",` + free + `,"properties":{"a":{"type":"object"}}}`, `{"a":{"b":1},"c":{"d":1}}`, `{"a":{},"c":{"d":1}} spec.a.b <nil>`},
		{"kept in a list", `{"type":"array",` + free + `,"items":{"type":"object","properties":{"a":{"type":"object"}}}}`, `[{"a":{"b":1},"c":1}]`, `[{"a":{}}] spec[0].a.b,spec[0].c <nil>`},
		{"a map", `{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}}`, `{"x":{"a":"1","b":2}}`, `{"x":{"a":"1"}} spec.x.b <nil>`},
		{"defaults", `{"type":"object","properties":{"a":{"type":"object","default":{},"properties":{"b":{"type":"integer","default":3}}},"c":{"type":"string","nullable":true,"default":"d"}}}`,
			`{"c":null}`, `{"a":{"b":3},"c":null}  <nil>`},
		{"nulls", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"string"}}}}`, `{"a":null,"b":[null]}`,
			`{"b":[null]}  spec.b[0]: Invalid value: "null": spec.b[0] in body must be of type string: "null"`},
		{"int or string", `{"type":"object","properties":{"p":{"x-kubernetes-int-or-string":true}}}`, `{"p":true}`, `{"p":true}  spec.p: Invalid value: "boolean": spec.p in body must be of type integer,string: "boolean"`},
		{"embedded", `{"type":"object","x-kubernetes-embedded-resource":true,` + free + `}`, `{"kind":"Pod","metadata":{"name":"p","x":1},"y":1}`, `{"kind":"Pod","metadata":{"name":"p"},"y":1} spec.metadata.x spec.apiVersion: Required value`},
		{"all", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":"1"}`,
			`{"a":"1"}  [spec.b: Required value, <nil>: Invalid value: "": "spec" must validate all the schemas (allOf)]`},
		{"the best of several", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"anyOf":[{"required":["a"]},{"required":["b"],"properties":{"b":{"minimum":5}}}]}`, `{"b":3}`,
			`{"b":3}  [<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf), spec.b: Invalid value: 3: spec.b in body should be greater than or equal to 5]`},
		{"a format", `{"type":"object","properties":{"d":{"type":"string","format":"duration"},"u":{"type":"string","format":"uuid4"},"x":{"type":"string","format":"mine"}}}`, `{"d":"1h","u":"x","x":"x"}`,
			`{"d":"1h","u":"x","x":"x"}  spec.u: Invalid value: "x": spec.u in body must be of type uuid4: "x"`},
		{"many", `{"type":"object","minProperties":2,"properties":{"a":{"type":"array","minItems":2,"items":{"type":"number","multipleOf":2,"maximum":3,"exclusiveMaximum":true}}}}`, `{"a":[3]}`,
			`{"a":[3]}  [spec: Invalid value: 1: spec in body should have at least 2 properties, spec.a[0]: Invalid value: 3: spec.a[0] in body should be a multiple of 2, spec.a[0]: Invalid value: 3: spec.a[0] in body should be less than 3, spec.a: Invalid value: 1: spec.a in body should have at least 2 items]`},
		{"keys", `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],"items":{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"integer"}}}}`,
			`[{"a":"x","b":1},{"a":"x","b":2},{"a":"x","b":1}]`, `[{"a":"x","b":1},{"a":"x","b":2},{"a":"x","b":1}]  spec[2]: Duplicate value: {"a":"x","b":1}`},
		{"rules", `{"type":"object","x-kubernetes-validations":[{"rule":"false"}],"properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, `{"a":"x"}  <nil>`},
		{"rules of what is wrong", `{"type":"object","x-kubernetes-validations":[{"rule":"false"}],"properties":{"a":{"type":"string"}}}`, `{"a":1}`,
			`{"a":1}  [spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]`},
	} {
		if diff := cmp.Diff(c.want, shape(t, c.schema, c.spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// What a server refuses of a schema beyond what the test against a control plane asks.
func TestSchemasThatAreRefused(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"type":"object","properties":{"a":`, depth) + `{"type":"string"}` + strings.Repeat(`}}`, depth)
	}
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","nullable":true}},"required":["a"]}`: "",
		nested(200): "",
		`{"type":"object","properties":{"a":{"type":"object","default":{"b":1}}}}`:                            "properties[spec].properties[a].default: Invalid value: {\"b\":1}: must not have unknown fields",
		`{"type":"object","x-kubernetes-embedded-resource":true}`:                                             "properties[spec].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
		`{"type":"object","x-kubernetes-preserve-unknown-fields":false}`:                                      "properties[spec].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
		`{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]}`:                  "",
		`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}}`:                           "properties[spec].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
		`{"type":"object","x-kubernetes-map-type":"some"}`:                                                    `properties[spec].x-kubernetes-map-type: Unsupported value: "some": supported values: "atomic", "granular"`,
		`{"type":"object","properties":{"m":{"type":"string"}},"not":{"properties":{"m":{"nullable":true}}}}`: "properties[spec].not.properties[m].nullable: Forbidden: must be false to be structural",
		`{"type":"object","patternProperties":{"a":{"type":"string"}}}`:                                       "properties[spec].patternProperties: Forbidden: patternProperties is not supported",
		`{"type":"array","items":[{"type":"string"}]}`:                                                        "properties[spec].items: Forbidden: items must be a schema object and not an array",
	} {
		got := ""
		if errs := Check(withStored(made(t, schema))); len(errs) > 0 {
			got = strings.ReplaceAll(errs.ToAggregate().Error(), "spec.validation.openAPIV3Schema.", "")
		}
		if got != want {
			t.Errorf("%.100s:\n  found %s\n want %s", schema, got, want)
		}
	}
}

func withStored(d *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	d.Status.StoredVersions = []string{"v1"}
	return d
}

// A definition ends in steps.
func TestADefinitionsEnd(t *testing.T) {
	d := made(t, `{"type":"object"}`)
	now := metav1.Now()
	if !Accept(d, nil, now) || !Establish(d, now) || Accept(d, nil, now) || Establish(d, now) {
		t.Error("a definition isn't accepted once")
	}
	of := &Definition{CustomResourceDefinition: d}
	if len(of.Served()) != 1 || of.Terminating() {
		t.Error(of.Served())
	}
	Terminate(d, now)
	if !of.Terminating() || !Progress(d, now) || Progress(d, now) {
		t.Error(d.Status.Conditions)
	}
	Finish(d, now)
	if len(d.Finalizers) > 0 || of.Terminating() {
		t.Error(d.Finalizers, d.Status.Conditions)
	}
}

// A definition whose schemas are so deep that reading them multiplies is refused, however it is shaped; what people have isn't.
func TestBound(t *testing.T) {
	nested := func(n int, leaf, key string) map[string]any {
		var of any = map[string]any{"type": "string", "description": leaf}
		for range n {
			of = map[string]any{"type": "array", key: of}
		}
		return map[string]any{"spec": map[string]any{"versions": []any{map[string]any{"schema": map[string]any{"openAPIV3Schema": of}}}}}
	}
	mega := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		name       string
		definition map[string]any
		refused    bool
	}{
		{"a big one, eight lists deep", nested(8, mega, "items"), false},
		{"a big one, twenty lists deep", nested(20, mega, "items"), true},
		{"a big one, twenty maps deep", nested(20, mega, "additionalProperties"), true},
		{"a small one, 200 lists deep", nested(200, "", "items"), false},
		{"a small one, 5,000 lists deep", nested(5000, "", "items"), true},
		{"properties alone, 5,000 deep", nested(5000, "", "properties"), false},
	} {
		if err := Bound(c.definition); (err != nil) != c.refused {
			t.Errorf("%s: found %v, want refused: %v", c.name, err, c.refused)
		}
	}
}
