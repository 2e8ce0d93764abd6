package tables

// definitionObject defines a resource with columns of every type.
var definitionObject = []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
"additionalPrinterColumns":[
 {"name":"Text","type":"string","jsonPath":".spec.text"},
 {"name":"Count","type":"integer","format":"int32","description":"How many.","priority":1,"jsonPath":".spec.count"},
 {"name":"Ratio","type":"number","format":"double","jsonPath":".spec.ratio"},
 {"name":"On","type":"boolean","jsonPath":".spec.on"},
 {"name":"Since","type":"date","jsonPath":".spec.since"},
 {"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"},
 {"name":"First","type":"string","jsonPath":".spec.list[0]"},
 {"name":"All","type":"string","jsonPath":".spec.list"},
 {"name":"Label","type":"string","jsonPath":".metadata.labels.example\\.com/team"},
 {"name":"Nothing","type":"string","jsonPath":".nothing.at.all"},
 {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}]},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)

// widgetObjects are widgets whose fields are as their columns have them, and otherwise.
var widgetObjects = [][]byte{
	widget("full", `"spec":{"text":"words","count":3,"ratio":1.5,"on":true,"since":"2026-11-20T11:30:00Z","list":["x",{"y":1}]},
		"status":{"conditions":[{"type":"Other","status":"False"},{"type":"Ready","status":"True"}]}`),
	widget("empty", `"spec":{}`),
	widget("other-types", `"spec":{"text":7,"count":2.9,"ratio":4,"on":"yes","since":"yesterday","list":[]},"status":{"conditions":7}`),
	widget("nulls", `"spec":{"text":null,"count":null,"ratio":"1","on":null,"since":"","list":[null]}`),
	widget("shapes", `"spec":{"text":{"a":[1,2.5,true]},"count":"3","since":3,"list":[[1,2]]}`),
}

func widget(name, rest string) []byte {
	return []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"` + name +
		`","creationTimestamp":"2026-11-20T11:00:00Z","labels":{"example.com/team":"a"}},` + rest + `}`)
}
