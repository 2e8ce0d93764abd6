//go:build controlplane

package apiserver_test

import (
	"fmt"
	"strings"
)

const (
	crds    = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgets = "/apis/example.com/v1/namespaces/crds/widgets"
	gauges  = "/apis/example.com/v1/gauges"
	dials   = "/apis/example.com/v1/dials"
)

// define is a CustomResourceDefinition of example.com with one version, in which part is what stands beside its name.
func define(plural, kind, scope, part string) string {
	return strings.NewReplacer("PLURAL", plural, "KIND", kind, "SCOPE", scope, "PART", part).Replace(
		`{"metadata":{"name":"PLURAL.example.com"},"spec":{"group":"example.com","scope":"SCOPE","names":{"plural":"PLURAL","kind":"KIND"},` +
			`"versions":[{"name":"v1","served":true,"storage":true,PART}]}}`)
}

// schema is a version's schema with these properties of spec.
func schema(spec string) string {
	return `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",` + spec + `}}}}`
}

// widget is a definition of all that a schema can say.
var widget = define("widgets", "Widget", "Namespaced", `"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}},`+
	`"additionalPrinterColumns":[{"name":"Size","type":"string","jsonPath":".spec.size"}],"schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{`+
	`"status":{"type":"object","properties":{"replicas":{"type":"integer"},"selector":{"type":"string"},"phase":{"type":"string","enum":["A","B"]}}},`+
	`"spec":{"type":"object","properties":{
"size":{"type":"string","enum":["S","M"],"default":"S"},"replicas":{"type":"integer","minimum":0,"maximum":10,"default":1},
"name":{"type":"string","pattern":"^[a-z]+$","minLength":2,"maxLength":5},"ratio":{"type":"number","multipleOf":0.5,"exclusiveMinimum":true,"minimum":0},
"small":{"type":"integer","format":"int32"},"at":{"type":"string","format":"date-time"},"ip":{"type":"string","format":"ipv4"},"nothing":{"type":"string","nullable":true},
"port":{"x-kubernetes-int-or-string":true},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
"template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
"tags":{"type":"array","x-kubernetes-list-type":"set","maxItems":3,"items":{"type":"string"}},
"ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"number":{"type":"integer","default":80}}}},
"labels":{"type":"object","maxProperties":2,"additionalProperties":{"type":"string"}},
"one":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]},
"any":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]},
"no":{"type":"integer","not":{"enum":[3]}}
}}}}}`)

// twoVersions are v1 and v2, of which v2 is stored.
const twoVersions = `{"metadata":{"name":"gauges.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"gauges","kind":"Gauge","shortNames":["gg"],"categories":["all"]},"versions":[
{"name":"v1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"value":{"type":"integer"}}}}},
{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"value":{"type":"integer"},"unit":{"type":"string","default":"m"}}}}}]}}`

// dial is a definition whose status has a default, as that of Karpenter's KWOKNodeClass has.
var dial = define("dials", "Dial", "Cluster", `"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","properties":{"size":{"type":"integer"}}},
"status":{"type":"object","default":{"phase":"A"},"properties":{"phase":{"type":"string"},"count":{"type":"integer","default":0}}}}}}`)

func made(name, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"%s"},"spec":{%s}}`, name, spec)
}

// definitionSteps are about custom resources and what defines them. A kube-apiserver serves a definition once its names
// are accepted, and writes that it is established a moment later: the steps wait for both, so that events keep their order
// (https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go).
var definitionSteps = []step{
	{"POST", crds, define("Bad", "Bad", "Namespaced", schema(`"properties":{}`))},
	{"POST", crds, define("bads", "bads list", "Namespaced", schema(`"properties":{}`))},
	{"POST", crds, define("bads", "Bad", "Everywhere", schema(`"properties":{}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", `"deprecated":false`)},
	{"POST", crds, `{"metadata":{"name":"others.example.com"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"bads","kind":"Bad"},"versions":[{"name":"v1","served":true,"storage":true,` + schema(`"properties":{}`) + `}]}}`},
	{"POST", crds, `{"metadata":{"name":"bads.k8s.io"},"spec":{"group":"k8s.io","scope":"Cluster","names":{"plural":"bads","kind":"Bad"},"versions":[{"name":"v1","served":true,"storage":true,` + schema(`"properties":{}`) + `}]}}`},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"array"}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"text"}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"$ref":"#/definitions/y"}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"string","pattern":"("}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"string","default":3}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"array","x-kubernetes-list-type":"map","items":{"type":"object","properties":{"a":{"type":"string"}}}}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","properties":{"a":{"type":"string"}}}}}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"string"}},"anyOf":[{"properties":{"x":{"type":"string"}}}]`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", schema(`"properties":{"x":{"type":"string"}},"additionalProperties":{"type":"string"}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", `"schema":{"openAPIV3Schema":{"type":"string"}}`)},
	{"POST", crds, define("bads", "Bad", "Namespaced", `"schema":{"openAPIV3Schema":{"type":"object","properties":{"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}}}`)},
	{"POST", crds, define("bads", "Bad", "Namespaced", `"subresources":{"scale":{"specReplicasPath":".replicas","statusReplicasPath":".status.replicas"}},`+schema(`"properties":{}`))},
	{"POST", crds, define("bads", "Bad", "Namespaced", `"additionalPrinterColumns":[{"name":"A","type":"text","jsonPath":".spec"}],`+schema(`"properties":{}`))},
	{"POST", crds + "?dryRun=All", widget},
	{"POST", crds, widget},
	{"POST", crds, widget},
	{"AWAIT", crds + "/widgets.example.com", "200 InitialNamesAccepted"},
	{"AWAIT", widgets, "200"},
	{"POST", crds, twoVersions},
	{"AWAIT", crds + "/gauges.example.com", "200 InitialNamesAccepted"},
	{"AWAIT", gauges, "200"},
	{"PATCH", crds + "/widgets.example.com", `{"spec":{"scope":"Cluster"}}`},
	{"PATCH", crds + "/widgets.example.com", `{"spec":{"names":{"kind":"Other","listKind":"OtherList"}}}`},

	{"POST", widgets, made("a", `"unknown":1,"replicas":null,"nothing":null,"ports":[{"name":"x"}],"free":{"any":{"thing":[1]}}`)},
	{"POST", widgets + "?fieldValidation=Strict", made("b", `"unknown":1`)},
	{"POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b"}}`},
	{"POST", widgets, `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"b"},"spec":{}}`},
	{"POST", widgets, `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"b"},"spec":{}}`},
	{"POST", widgets, made("b", `"size":"XL"`)},
	{"POST", widgets, made("b", `"replicas":"three"`)},
	{"POST", widgets, made("b", `"replicas":1.5`)},
	{"POST", widgets, made("b", `"replicas":-1`)},
	{"POST", widgets, made("b", `"replicas":11`)},
	{"POST", widgets, made("b", `"name":"A1"`)},
	{"POST", widgets, made("b", `"name":"a"`)},
	{"POST", widgets, made("b", `"name":"abcdef"`)},
	{"POST", widgets, made("b", `"ratio":0.7`)},
	{"POST", widgets, made("b", `"ratio":0`)},
	{"POST", widgets, made("b", `"small":4294967296`)},
	{"POST", widgets, made("b", `"at":"yesterday"`)},
	{"POST", widgets, made("b", `"ip":"1.2.3"`)},
	{"POST", widgets, made("b", `"port":1.5`)},
	{"POST", widgets, made("b", `"tags":["x","y","x"]`)},
	{"POST", widgets, made("b", `"tags":["x","y","z","u"]`)},
	{"POST", widgets, made("b", `"ports":[{"name":"x"},{"name":"x"}]`)},
	{"POST", widgets, made("b", `"ports":[{"number":1}]`)},
	{"POST", widgets, made("b", `"labels":{"a":"1","b":"2","c":"3"}`)},
	{"POST", widgets, made("b", `"labels":{"a":1}`)},
	{"POST", widgets, made("b", `"one":{"a":"1","b":"2"}`)},
	{"POST", widgets, made("b", `"one":{}`)},
	{"POST", widgets, made("b", `"any":{}`)},
	{"POST", widgets, made("b", `"no":3`)},
	{"POST", widgets, made("b", `"template":{"kind":"Pod","metadata":{"name":"_"}}`)},
	{"POST", widgets, made("b", `"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","more":1},"spec":{"x":1}},"port":"http","tags":["x"],"labels":{"a":"1"},"one":{"a":"1"}`)},
	{"PATCH", widgets + "/a", `{"spec":{"size":"M","other":1},"status":{"phase":"A"}}`},
	{"PATCH", widgets + "/a", `{"spec":{"size":"M"}}`},
	{"PATCH", widgets + "/a", `{"spec":{"size":"L"}}`},
	{"PATCH", widgets + "/a/status", `{"status":{"phase":"C"}}`},
	{"PATCH", widgets + "/a/status", `{"spec":{"size":"S"},"status":{"phase":"B","replicas":2,"selector":"a=b","more":1}}`},
	{"GET", widgets + "/a/scale", ``},
	{"PATCH", widgets + "/a/scale", `{"spec":{"replicas":4}}`},
	{"PATCH", widgets + "/a/scale", `{"spec":{"replicas":40}}`},
	{"PUT", widgets + "/a", made("a", `"size":"S"`)},
	{"PATCH", widgets + "/a", `{"metadata":{"finalizers":["example.com/f"]}}`},

	{"POST", crds, define("sprockets", "Gauge", "Cluster", schema(`"properties":{}`))},
	{"AWAIT", crds + "/sprockets.example.com", "200 ListKindConflict"},
	{"DELETE", crds + "/sprockets.example.com", ``},
	{"AWAIT", crds + "/sprockets.example.com", "404"},
	{"POST", gauges, `{"apiVersion":"example.com/v1","kind":"Gauge","metadata":{"name":"g"},"value":1,"unit":"km"}`},
	{"GET", "/apis/example.com/v2/gauges/g", ``},
	{"PATCH", "/apis/example.com/v2/gauges/g", `{"value":2,"unit":"km"}`},
	{"GET", gauges + "/g", ``},
	{"PATCH", gauges + "/g/status", `{"status":{}}`},
	{"PATCH", crds + "/gauges.example.com", `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,` + schema(`"properties":{}`) + `}]}}`},

	{"POST", crds, dial},
	{"AWAIT", crds + "/dials.example.com", "200 InitialNamesAccepted"},
	{"AWAIT", dials, "200"},
	{"POST", dials + "?dryRun=All", `{"apiVersion":"example.com/v1","kind":"Dial","metadata":{"name":"d"}}`},
	{"POST", dials, `{"apiVersion":"example.com/v1","kind":"Dial","metadata":{"name":"d"},"status":{"phase":"B"}}`},
	{"GET", dials + "/d", ``},
	{"PATCH", dials + "/d", `{"spec":{"size":2}}`},
	{"PATCH", dials + "/d/status", `{"status":{"phase":"C"}}`},
	{"PATCH", dials + "/d/status", `{"status":null}`},
	{"DELETE", dials + "/d", ``},
	{"DELETE", crds + "/dials.example.com", ``},
	{"AWAIT", crds + "/dials.example.com", "404"},

	{"AWAIT", "/apis/example.com", "200"},
	{"GET", "/apis/example.com", ``},
	{"GET", "/apis/example.com/v2", ``},
	{"DELETE", widgets + "/a", ``},
	{"DELETE", crds + "/widgets.example.com?dryRun=All", ``},
	{"DELETE", crds + "/widgets.example.com", ``},
	{"PATCH", widgets + "/a", `{"metadata":{"finalizers":null}}`},
	{"AWAIT", crds + "/widgets.example.com", "404"},
	{"AWAIT", widgets, "404"},
	{"DELETE", gauges + "/g", ``},
	{"PATCH", crds + "/gauges.example.com", `{"metadata":{"labels":{"last":"yes"}}}`},
	{"DELETE", crds + "/gauges.example.com", ``},
}

var definitionPaths = []string{crds + "?labelSelector=!kept"}
