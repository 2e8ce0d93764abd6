//go:build controlplane

package apiserver_test

const (
	ownedMaps    = "/api/v1/namespaces/owners/configmaps"
	ownedDeploys = "/apis/apps/v1/namespaces/owners/deployments"
	cogs         = "/apis/example.com/v1/namespaces/owners/cogs"
)

func mapOf(name, more string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"}` + more + `}`
}

func deployOf(spec string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"b"}},"spec":{` + spec + `"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},` +
		`"spec":{"containers":[{"name":"main","image":"web:1","ports":[{"containerPort":80}],"env":[{"name":"A","value":"1"}]}]}}}}`
}

func cogOf(spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Cog","metadata":{"name":"c"},"spec":{` + spec + `}}`
}

// ownerSteps are about who owns which field.
var ownerSteps = []step{
	{"POST", ownedMaps, mapOf("a", `,"data":{"x":"1","y":"1"}`)},
	{"PATCH", ownedMaps + "/a", `{"data":{"y":"2"}}`},
	{"PATCH", ownedMaps + "/a?fieldManager=second", `{"data":{"y":"3","z":"3"}}`},
	{"PATCH", ownedMaps + "/a?fieldManager=second", `{"data":{"y":"3"}}`},
	{"PUT", ownedMaps + "/a?fieldManager=third", mapOf("a", `,"data":{"x":"1","z":"4"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=applier", mapOf("a", `,"data":{"x":"5"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=applier", mapOf("a", `,"data":{"x":"5","z":"5"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=applier&force=true", mapOf("a", `,"data":{"x":"5"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=applier", mapOf("a", `,"data":{"x":"5"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=other", mapOf("a", `,"data":{"x":"5","w":"1"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=other", mapOf("a", `,"data":{"x":"6","w":"1"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=applier", mapOf("a", ``)},
	{"APPLY", ownedMaps + "/a?fieldManager=other", mapOf("a", ``)},
	{"PATCH", ownedMaps + "/a", `{"metadata":{"managedFields":[{}]}}`},
	{"APPLY", ownedMaps + "/a?fieldManager=other", mapOf("a", `,"data":{"z":"9"}`)},
	{"APPLY", ownedMaps + "/a?fieldManager=other&force=true&dryRun=All", mapOf("a", `,"data":{"z":"9"}`)},
	{"APPLY", ownedMaps + "/a", mapOf("a", ``)},
	{"APPLY", ownedMaps + "/a?fieldManager=other", mapOf("b", ``)},
	{"APPLY", ownedMaps + "/a?fieldManager=other", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}`},
	{"APPLY", ownedMaps + "/a?fieldManager=other", mapOf("a", `,"more":1`)},
	{"APPLY", ownedMaps + "/a?fieldManager=other", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","managedFields":[{"manager":"x"}]}}`},
	{"APPLY", ownedMaps + "/n?fieldManager=applier", mapOf("n", `,"data":{"x":"1"}`)},
	{"PATCH", ownedMaps + "/n?fieldManager=second", `{"metadata":{"labels":{"l":"1"},"finalizers":["example.com/f"]}}`},
	{"PATCH", ownedMaps + "/n?fieldManager=second", `{"metadata":{"finalizers":null}}`},

	{"APPLY", ownedDeploys + "/d?fieldManager=applier", deployOf(`"replicas":2,`)},
	{"PATCH", ownedDeploys + "/d/scale?fieldManager=scaler", `{"spec":{"replicas":3}}`},
	{"APPLY", ownedDeploys + "/d?fieldManager=applier", deployOf(`"replicas":2,`)},
	{"APPLY", ownedDeploys + "/d?fieldManager=applier", deployOf(``)},
	{"PATCH", ownedDeploys + "/d/status?fieldManager=controller", `{"status":{"replicas":3,"conditions":[{"type":"Available","status":"True"}]}}`},
	{"APPLY", ownedDeploys + "/d/status?fieldManager=kubelet", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"status":{"readyReplicas":1}}`},
	{"APPLY", ownedDeploys + "/d?fieldManager=other", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"A","value":"2"},{"name":"B","value":"2"}]}]}}}}`},
	{"APPLY", ownedDeploys + "/d?fieldManager=other", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"template":{"spec":{"containers":[{"name":"main","env":[{"name":"B","value":"2"}]}]}}}}`},

	{"POST", crds, define("cogs", "Cog", "Namespaced", `"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"status":{"type":"object","properties":{"ready":{"type":"boolean"}}},"spec":{"type":"object","properties":{`+
		`"size":{"type":"integer","default":1},"teeth":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"length":{"type":"integer"}}}},`+
		`"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},"steps":{"type":"array","items":{"type":"string"}}}}}}}`)},
	{"AWAIT", cogs, "200"},
	{"APPLY", cogs + "/c?fieldManager=one", cogOf(`"size":2,"teeth":[{"name":"x","length":1}],"tags":["a"],"steps":["s"]`)},
	{"APPLY", cogs + "/c?fieldManager=two", cogOf(`"teeth":[{"name":"y","length":1}],"tags":["b"]`)},
	{"APPLY", cogs + "/c?fieldManager=two", cogOf(`"teeth":[{"name":"x","length":2}],"steps":["t"]`)},
	{"APPLY", cogs + "/c?fieldManager=two", cogOf(`"tags":["b"]`)},
	{"APPLY", cogs + "/c?fieldManager=two", cogOf(`"unknown":1`)},
	{"APPLY", cogs + "/c/status?fieldManager=three", `{"apiVersion":"example.com/v1","kind":"Cog","metadata":{"name":"c"},"status":{"ready":true}}`},
	{"PATCH", cogs + "/c/status?fieldManager=four", `{"status":{"ready":false}}`},
	{"PATCH", cogs + "/c?fieldManager=four", `{"spec":{"tags":["a","b","c"]}}`},
	{"POST", cogs + "?fieldManager=four", `{"apiVersion":"example.com/v1","kind":"Cog","metadata":{"name":"e"},"spec":{"size":3}}`},
	{"DELETE", crds + "/cogs.example.com", ``},
}
