//go:build controlplane

package inbound_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	asJSON    = "application/json"
	asYAML    = "application/yaml"
	merge     = "application/merge-patch+json"
	jsonPatch = "application/json-patch+json"
	strategic = "application/strategic-merge-patch+json"
	apply     = "application/apply-patch+yaml"
)

// call is one write, as it goes over the wire.
type call struct {
	name                string
	method, path, query string
	media, body         string
}

func (c call) request(t testing.TB, host string) *http.Request {
	t.Helper()
	url := host + c.path
	if c.query != "" {
		url += "?" + c.query
	}
	req, err := http.NewRequestWithContext(t.Context(), c.method, url, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	if c.media != "-" {
		media := c.media
		if media == "" {
			media = asJSON
		}
		req.Header.Set("Content-Type", media)
	}
	req.Header.Set("User-Agent", "nodesim-test")
	return req
}

func (c call) String() string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s: %s %s?%s %s %.200s", c.name, c.method, c.path, c.query, c.media, c.body)), " ")
}

// subject is an object that writes of every kind are tried on.
type subject struct {
	kind, apiVersion, list, name string
	make                         string // its spec, for one that can be made
	change                       string // a merge patch that is allowed
}

var subjects = []subject{
	{"Node", "v1", "/api/v1/nodes", "old", `"spec":{}`, `{"spec":{"unschedulable":true}}`},
	{"Pod", "v1", "/api/v1/namespaces/team/pods", "web", `"spec":{"containers":[{"name":"main","image":"web:1"}]}`, `{"metadata":{"labels":{"seen":"yes"}}}`},
	{"ConfigMap", "v1", "/api/v1/namespaces/team/configmaps", "conf", `"data":{"b":"2"}`, `{"data":{"c":"3"}}`},
	{"PodDisruptionBudget", "policy/v1", "/apis/policy/v1/namespaces/team/poddisruptionbudgets", "guard", `"spec":{"maxUnavailable":1}`, `{"spec":{"minAvailable":2}}`},
	{"Deployment", "apps/v1", "/apis/apps/v1/namespaces/team/deployments", "web",
		`"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"main","image":"web:1"}]}}}`, `{"spec":{"replicas":3}}`},
	{"Lease", "coordination.k8s.io/v1", "/apis/coordination.k8s.io/v1/namespaces/team/leases", "lock", `"spec":{"holderIdentity":"you"}`, `{"spec":{"holderIdentity":"you"}}`},
	{"Widget", "example.com/v1", "/apis/example.com/v1/namespaces/team/widgets", "w", `"spec":{"size":2}`, `{"spec":{"size":2}}`},
}

func (s subject) plural() string { return s.list[strings.LastIndex(s.list, "/")+1:] }

func (s subject) object(name, meta, rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q%s}%s}`, s.apiVersion, s.kind, name, meta, rest)
}

// calls are the writes on one subject: each verb, done well and in the ways in
// which it is done badly. All of them are dry runs but for those named wet,
// which a server refuses.
func (s subject) calls() (all []call) {
	add := func(name, method, path, query, media, body string) {
		if name, wet := strings.CutPrefix(name, "wet "); wet {
			all = append(all, call{s.plural() + " " + name, method, path, query, media, body})
			return
		}
		all = append(all, call{s.plural() + " " + name, method, path, strings.Trim("dryRun=All&"+query, "&"), media, body})
	}
	one := s.list + "/" + s.name
	create := func(name, body string) { add(name, "POST", s.list, "", "", body) }
	create("create", s.object("made", "", s.make))
	create("create without kind", fmt.Sprintf(`{"metadata":{"name":"made"},%s}`, s.make))
	create("create what is there", s.object(s.name, "", s.make))
	create("create by a prefix and a name", s.object("made", `,"generateName":"other-"`, s.make))
	create("create by a prefix", fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"generateName":"made-"},%s}`, s.apiVersion, s.kind, s.make))
	create("create by a bad prefix", fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"generateName":"Bad_"},%s}`, s.apiVersion, s.kind, s.make))
	create("create with a status", s.object("made", "", s.make+`,"status":{"phase":"Running","replicas":7}`))
	create("create without a name", fmt.Sprintf(`{"apiVersion":%q,"kind":%q,%s}`, s.apiVersion, s.kind, s.make))
	create("create by a bad name", s.object("Bad_Name!", "", s.make))
	create("create with a bad label", s.object("made", `,"labels":{"a b":"c"}`, s.make))
	create("create with a bad label value", s.object("made", `,"labels":{"a":"-"}`, s.make))
	create("create with a bad annotation", s.object("made", `,"annotations":{"a b":"c"}`, s.make))
	create("create with a bad finalizer", s.object("made", `,"finalizers":["bad"]`, s.make))
	create("create with an owner without UID", s.object("made", `,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x"}]`, s.make))
	create("create with an owner twice", s.object("made", `,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"u"},{"apiVersion":"v1","kind":"Pod","name":"x","uid":"u"}]`, s.make))
	create("create in another namespace", s.object("made", `,"namespace":"elsewhere"`, s.make))
	create("create with another version", strings.Replace(s.object("made", "", s.make), s.apiVersion, "example.com/v9", 1))
	create("create garbage", `{"a`)
	create("create nothing", "")
	create("create what spoils a type", s.object("made", `,"labels":7`, s.make))
	create("create with metadata that isn't any", fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":"made",%s}`, s.apiVersion, s.kind, s.make))
	create("create a list", `[]`)
	create("create with an unknown field", s.object("made", "", s.make+`,"unheard":1`))
	add("create with an unknown field, strictly", "POST", s.list, "fieldValidation=Strict", "", s.object("made", "", s.make+`,"unheard":1`))
	add("create with a field twice, strictly", "POST", s.list, "fieldValidation=Strict", "", s.object("made", `,"name":"made"`, s.make))
	add("create with a bad validation", "POST", s.list, "fieldValidation=Sure", "", s.object("made", "", s.make))
	add("wet create with a bad dry run", "POST", s.list, "dryRun=Some", "", s.object("made", "", s.make))
	add("create with a bad manager", "POST", s.list, "fieldManager="+strings.Repeat("a", 129), "", s.object("made", "", s.make))
	add("wet create with a version", "POST", s.list, "", "", s.object("made", `,"resourceVersion":"5"`, s.make))
	add("create from YAML", "POST", s.list, "", asYAML, s.object("made", "", s.make))
	add("create from text", "POST", s.list, "", "text/plain", s.object("made", "", s.make))
	add("create by name", "POST", one, "", "", s.object(s.name, "", s.make))
	all = append(all, s.changes(one)...)
	return all
}

func (s subject) changes(one string) (all []call) {
	add := func(name, method, query, media, body string) {
		all = append(all, call{s.plural() + " " + name, method, one, strings.Trim("dryRun=All&"+query, "&"), media, body})
	}
	rv := fmt.Sprintf(`,"resourceVersion":"$RV(%s/%s)"`, s.plural(), s.name)
	put := func(name, body string) { add(name, "PUT", "", "", body) }
	put("update as it is", fmt.Sprintf("$AS(%s/%s)", s.plural(), s.name))
	put("update a label", fmt.Sprintf("$CHANGED(%s/%s)", s.plural(), s.name))
	add("update by apply", "PATCH", "fieldManager=test&force=true", apply, fmt.Sprintf("$CHANGED(%s/%s)", s.plural(), s.name))
	put("update by another name", s.object("other", rv, s.make))
	put("update an old version", s.object(s.name, `,"resourceVersion":"1"`, s.make))
	put("update a garbled version", s.object(s.name, `,"resourceVersion":"x1"`, s.make))
	put("update another UID", s.object(s.name, rv+`,"uid":"other"`, s.make))
	put("update with a bad label", s.object(s.name, rv+`,"labels":{"a b":"c"}`, s.make))
	put("update in another namespace", s.object(s.name, rv+`,"namespace":"elsewhere"`, s.make))
	put("update garbage", `{]`)
	if s.kind != "Pod" {
		put("update without a version", s.object(s.name, "", s.make))
	}
	all = append(all, call{s.plural() + " update what isn't there", "PUT", s.list + "/gone", "dryRun=All", "", s.object("gone", "", s.make)})

	add("merge", "PATCH", "", merge, s.change)
	add("strategic", "PATCH", "", strategic, s.change)
	add("merge nothing", "PATCH", "", merge, `{}`)
	add("merge a UID", "PATCH", "", merge, `{"metadata":{"uid":"other"}}`)
	add("merge a name", "PATCH", "", merge, `{"metadata":{"name":"other"}}`)
	add("merge an old version", "PATCH", "", merge, `{"metadata":{"resourceVersion":"1"}}`)
	add("merge the version", "PATCH", "", merge, fmt.Sprintf(`{"metadata":{"resourceVersion":"$RV(%s/%s)","labels":{"l":"1"}}}`, s.plural(), s.name))
	add("merge a bad label", "PATCH", "", merge, `{"metadata":{"labels":{"a b":"c"}}}`)
	add("merge garbage", "PATCH", "", merge, `{"`)
	add("merge a list", "PATCH", "", merge, `[]`)
	add("merge an unknown field", "PATCH", "", merge, `{"unheard":1}`)
	add("merge an unknown field, strictly", "PATCH", "fieldValidation=Strict", merge, `{"unheard":1}`)
	add("merge a field twice", "PATCH", "", merge, `{"metadata":{"labels":{"l":"1","l":"2"}}}`)
	add("strategic, unknown field, strictly", "PATCH", "fieldValidation=Strict", strategic, `{"unheard":1}`)
	add("strategic garbage", "PATCH", "", strategic, `nothing`)
	add("json", "PATCH", "", jsonPatch, `[{"op":"add","path":"/metadata/labels","value":{"l":"1"}}]`)
	add("json whose test fails", "PATCH", "", jsonPatch, `[{"op":"test","path":"/metadata/name","value":"other"}]`)
	add("json without a path", "PATCH", "", jsonPatch, `[{"op":"remove","path":"/spec/nowhere/at/all"}]`)
	add("json that isn't a list", "PATCH", "", jsonPatch, `{}`)
	add("json with an unknown word", "PATCH", "", jsonPatch, `[{"op":"jump","path":"/metadata/labels"}]`)
	add("json that spoils a type", "PATCH", "", jsonPatch, `[{"op":"add","path":"/metadata/labels","value":7}]`)
	add("json that drops the name", "PATCH", "", jsonPatch, `[{"op":"remove","path":"/metadata/name"}]`)
	add("json, unknown field, strictly", "PATCH", "fieldValidation=Strict", jsonPatch, `[{"op":"add","path":"/metadata/labels","value":{"l":"1"},"why":"so"}]`)
	add("json, unknown field, ignored", "PATCH", "fieldValidation=Ignore", jsonPatch, `[{"op":"add","path":"/unheard","value":1,"why":"so"}]`)
	add("merge that spoils a type", "PATCH", "", merge, `{"metadata":{"labels":7}}`)
	add("merge null", "PATCH", "", merge, `null`)
	add("merge a kind", "PATCH", "", merge, `{"kind":"Other"}`)
	add("merge a version of the kind", "PATCH", "", merge, `{"apiVersion":"other/v1"}`)
	add("merge garbage, ignored", "PATCH", "fieldValidation=Ignore", merge, `{"`)
	add("strategic that spoils a type", "PATCH", "", strategic, `{"metadata":{"labels":7}}`)
	add("strategic null", "PATCH", "", strategic, `null`)
	add("strategic of no directive", "PATCH", "", strategic, `{"metadata":{"$patch":"jump"}}`)
	add("strategic finalizers", "PATCH", "", strategic, `{"metadata":{"finalizers":["example.com/a"],"$setElementOrder/finalizers":["example.com/b"]}}`)
	add("strategic, field twice", "PATCH", "fieldValidation=Strict", strategic, `{"metadata":{"labels":{"l":"1","l":"2"}}}`)
	add("strategic, unknown field, ignored", "PATCH", "fieldValidation=Ignore", strategic, `{"unheard":1}`)
	add("apply a field twice", "PATCH", "fieldManager=test&force=true", apply, "apiVersion: "+s.apiVersion+"\nkind: "+s.kind+"\nmetadata: {name: "+s.name+"}\nmetadata: {name: "+s.name+"}\n")
	add("apply a field twice, strictly", "PATCH", "fieldManager=test&force=true&fieldValidation=Strict", apply, "apiVersion: "+s.apiVersion+"\nkind: "+s.kind+"\nmetadata: {name: "+s.name+"}\nmetadata: {name: "+s.name+"}\n")
	add("apply managed fields", "PATCH", "fieldManager=test", apply, s.object(s.name, `,"managedFields":[{"manager":"x"}]`, ""))
	add("apply a list", "PATCH", "fieldManager=test", apply, `[]`)
	add("apply what spoils a type", "PATCH", "fieldManager=test", apply, s.object(s.name, `,"labels":7`, ""))
	add("delete and orphan, as it was", "DELETE", "orphanDependents=true", "", "")
	add("delete, orphan none", "DELETE", "orphanDependents=false", "", "")
	add("delete in the background", "DELETE", "propagationPolicy=Background", "", "")
	add("delete the version", "DELETE", "", "", fmt.Sprintf(`{"preconditions":{"resourceVersion":"$RV(%s/%s)"},"dryRun":["All"]}`, s.plural(), s.name))
	add("patch of an unknown type", "PATCH", "", asJSON, `{}`)
	add("patch with force", "PATCH", "force=true", merge, `{}`)
	add("apply without a manager", "PATCH", "", apply, s.object(s.name, "", ""))
	add("apply", "PATCH", "fieldManager=test&force=true", apply, s.object(s.name, `,"labels":{"l":"1"}`, ""))
	add("apply an unknown field", "PATCH", "fieldManager=test&force=true", apply, s.object(s.name, "", `"unheard":1`))
	add("apply garbage", "PATCH", "fieldManager=test", apply, "a: b: c")
	add("apply another kind", "PATCH", "fieldManager=test", apply, `{"apiVersion":"v1","kind":"Other","metadata":{"name":"x"}}`)
	add("apply another name", "PATCH", "fieldManager=test", apply, s.object("other", "", ""))
	all = append(all,
		call{s.plural() + " apply what isn't there", "PATCH", s.list + "/made", "dryRun=All&fieldManager=test", apply, s.object("made", "", s.make)},
		call{s.plural() + " patch what isn't there", "PATCH", s.list + "/gone", "dryRun=All", merge, `{}`},
		call{s.plural() + " delete what isn't there", "DELETE", s.list + "/gone", "dryRun=All", "", ""},
	)
	add("delete", "DELETE", "", "", "")
	add("delete another UID", "DELETE", "", "", `{"preconditions":{"uid":"other"},"dryRun":["All"]}`)
	add("delete an old version", "DELETE", "", "", `{"preconditions":{"resourceVersion":"1"},"dryRun":["All"]}`)
	add("delete in the foreground", "DELETE", "propagationPolicy=Foreground", "", "")
	add("delete and orphan", "DELETE", "propagationPolicy=Orphan", "", "")
	add("delete by a bad policy", "DELETE", "propagationPolicy=Nicely", "", "")
	add("delete with both policies", "DELETE", "", "", `{"orphanDependents":true,"propagationPolicy":"Foreground","dryRun":["All"]}`)
	add("delete at once", "DELETE", "gracePeriodSeconds=0", "", "")
	add("delete with garbled options", "DELETE", "", "", `{"gracePeriodSeconds":"soon"}`)
	add("delete with options of another kind", "DELETE", "", "", `{"kind":"Pod","apiVersion":"v1"}`)
	all = append(all,
		call{s.plural() + " deletecollection of none", "DELETE", s.list, "dryRun=All&labelSelector=no%3Done", "", ""},
		call{s.plural() + " deletecollection by a garbled selector", "DELETE", s.list, "dryRun=All&labelSelector=a+in", "", ""},
		call{s.plural() + " status merge", "PATCH", one + "/status", "dryRun=All", merge, `{"metadata":{"labels":{"l":"1"}},"spec":{"unschedulable":true,"size":7}}`},
		call{s.plural() + " status update", "PUT", one + "/status", "dryRun=All", "", fmt.Sprintf("$CHANGED(%s/%s)", s.plural(), s.name)},
		call{s.plural() + " status strategic", "PATCH", one + "/status", "dryRun=All", strategic, `{"status":{"conditions":[{"type":"Odd","status":"True","reason":"r","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`},
		call{s.plural() + " status of what isn't there", "PATCH", s.list + "/gone/status", "dryRun=All", merge, `{}`},
		call{s.plural() + " status create", "POST", one + "/status", "dryRun=All", "", s.object(s.name, "", "")},
		call{s.plural() + " an unknown subresource", "PUT", one + "/unheard", "dryRun=All", "", s.object(s.name, "", "")},
	)
	return all
}

// stories are the writes that are about one kind alone.
func stories() []call {
	pods, old := "/api/v1/namespaces/team/pods/", "/api/v1/nodes/old"
	var all []call
	evict := func(name, pod, version, more string) {
		all = append(all, call{"evict " + name, "POST", pods + pod + "/eviction", "dryRun=All", "", fmt.Sprintf(`{"apiVersion":%q,"kind":"Eviction","metadata":{"name":%q}%s}`, version, pod, more)})
	}
	for _, pod := range []string{"web", "waits", "done", "sick", "guarded", "twice", "free", "behind", "dying", "always", "gone"} {
		evict(pod, pod, "policy/v1", "")
	}
	evict("by v1beta1", "web", "policy/v1beta1", "")
	evict("by v2", "web", "policy/v2", "")
	evict("another UID", "web", "policy/v1", `,"deleteOptions":{"preconditions":{"uid":"other"}}`)
	evict("an old version", "web", "policy/v1", `,"deleteOptions":{"preconditions":{"resourceVersion":"1"}}`)
	evict("with two minds about a dry run", "web", "policy/v1", `,"deleteOptions":{"dryRun":["Some"]}`)
	evict("with bad options", "web", "policy/v1", `,"deleteOptions":{"propagationPolicy":"Nicely"}`)
	evict("in another namespace", "web", "policy/v1", `,"metadata":{"name":"web","namespace":"elsewhere"}`)
	all = append(all,
		call{"evict by another name", "POST", pods + "web/eviction", "dryRun=All", "", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"other"}}`},
		call{"evict with a pod", "POST", pods + "web/eviction", "dryRun=All", "", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}`},
		call{"evict by update", "PUT", pods + "web/eviction", "dryRun=All", "", `{}`},
	)
	bind := func(name, pod, body string) {
		all = append(all, call{"bind " + name, "POST", pods + pod + "/binding", "dryRun=All", "", body})
	}
	bind("a waiting pod", "waits", `{"metadata":{"name":"waits"},"target":{"kind":"Node","name":"old"}}`)
	bind("a bound pod", "web", `{"metadata":{"name":"web"},"target":{"kind":"Node","name":"old"}}`)
	bind("a dying pod", "dying", `{"metadata":{"name":"dying"},"target":{"kind":"Node","name":"old"}}`)
	bind("no pod", "gone", `{"metadata":{"name":"gone"},"target":{"kind":"Node","name":"old"}}`)
	bind("to nothing", "waits", `{"metadata":{"name":"waits"},"target":{}}`)
	bind("to a pod", "waits", `{"metadata":{"name":"waits"},"target":{"kind":"Pod","name":"old"}}`)
	bind("another UID", "waits", `{"metadata":{"name":"waits","uid":"other"},"target":{"name":"old"}}`)
	bind("an old version", "waits", `{"metadata":{"name":"waits","resourceVersion":"1"},"target":{"name":"old"}}`)
	bind("the version", "waits", `{"metadata":{"name":"waits","resourceVersion":"$RV(pods/waits)"},"target":{"name":"old"}}`)
	bind("by another name", "waits", `{"metadata":{"name":"web"},"target":{"name":"old"}}`)

	node := func(name, body string) {
		all = append(all, call{"node " + name, "PATCH", old, "dryRun=All", merge, body})
	}
	node("taint", `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`)
	node("taint without effect", `{"spec":{"taints":[{"key":"a"}]}}`)
	node("taint of a bad effect", `{"spec":{"taints":[{"key":"a","effect":"Sometimes"}]}}`)
	node("taint of a bad key", `{"spec":{"taints":[{"key":"a b","effect":"NoExecute"}]}}`)
	node("taint of a bad value", `{"spec":{"taints":[{"key":"a","value":"b c","effect":"NoExecute"}]}}`)
	node("taint twice", `{"spec":{"taints":[{"key":"a","effect":"NoExecute"},{"key":"a","value":"b","effect":"NoExecute"}]}}`)
	node("another providerID", `{"spec":{"providerID":"aws:///other"}}`)
	node("another podCIDR", `{"spec":{"podCIDR":"10.1.0.0/24","podCIDRs":["10.1.0.0/24"]}}`)
	node("a status that doesn't count", `{"status":{"phase":"Running"}}`)
	all = append(all,
		call{"node strategic taint", "PATCH", old, "dryRun=All", strategic, `{"spec":{"taints":[{"key":"b","effect":"NoExecute"}]}}`},
		call{"node status", "PATCH", old + "/status", "dryRun=All", strategic, `{"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Cold","status":"True"}]}}`},
		call{"node status with an address twice", "PATCH", old + "/status", "dryRun=All", merge, `{"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"},{"type":"InternalIP","address":"10.0.0.1"}]}}`},
		call{"node that waits for a finalizer", "DELETE", "/api/v1/nodes/new", "dryRun=All", "", ""},
		call{"node that waits for a finalizer in the foreground", "DELETE", "/api/v1/nodes/new", "dryRun=All&propagationPolicy=Foreground", "", ""},
		call{"node that loses its finalizer", "PATCH", "/api/v1/nodes/new", "dryRun=All", merge, `{"metadata":{"finalizers":null}}`},
		call{"node with less than nothing", "PATCH", old + "/status", "dryRun=All", merge, `{"status":{"capacity":{"cpu":"-1"}}}`},
		call{"a pod in no namespace", "POST", "/api/v1/pods", "dryRun=All", "", `{"metadata":{"name":"a"}}`},
		call{"a named pod in no namespace", "PUT", "/api/v1/pods/web", "dryRun=All", "", `{"metadata":{"name":"web"}}`},
		call{"deletecollection of all pods", "DELETE", "/api/v1/pods", "dryRun=All", "", ""},
		call{"deletecollection of namespaces", "DELETE", "/api/v1/namespaces", "dryRun=All", "", ""},
		call{"namespace", "POST", "/api/v1/namespaces", "dryRun=All", "", `{"metadata":{"name":"made"}}`},
		call{"namespace by a bad name", "POST", "/api/v1/namespaces", "dryRun=All", "", `{"metadata":{"name":"a.b"}}`},
		call{"namespace change", "PATCH", "/api/v1/namespaces/team", "dryRun=All", merge, `{"metadata":{"labels":{"l":"1"}}}`},
	)
	pod := func(name, media, body string) {
		all = append(all, call{"pod " + name, "PATCH", pods + "web", "dryRun=All", media, body})
	}
	pod("image", strategic, `{"spec":{"containers":[{"name":"main","image":"web:2"}]}}`)
	pod("no image", strategic, `{"spec":{"containers":[{"name":"main","image":""}]}}`)
	pod("node", merge, `{"spec":{"nodeName":"new"}}`)
	pod("one container more", strategic, `{"spec":{"containers":[{"name":"more","image":"web:2"}]}}`)
	pod("deadline", merge, `{"spec":{"activeDeadlineSeconds":10}}`)
	pod("deadline below zero", merge, `{"spec":{"activeDeadlineSeconds":-1}}`)
	pod("toleration", jsonPatch, `[{"op":"add","path":"/spec/tolerations/-","value":{"key":"a","operator":"Exists"}}]`)
	pod("no tolerations", merge, `{"spec":{"tolerations":null}}`)
	pod("a scheduling gate", merge, `{"spec":{"schedulingGates":[{"name":"example.com/a"}]}}`)
	pod("status that can't change", merge, `{"status":{"phase":"Failed"}}`)
	all = append(all,
		call{"pod status of a bound pod", "PATCH", pods + "web/status", "dryRun=All", merge, `{"status":{"nominatedNodeName":"new"}}`},
		call{"pod status of another quality", "PATCH", pods + "web/status", "dryRun=All", merge, `{"status":{"qosClass":"Burstable"}}`},
		call{"pod status", "PATCH", pods + "web/status", "dryRun=All", strategic, `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`},
	)
	pod("restart policy", merge, `{"spec":{"restartPolicy":"Never"}}`)
	for _, p := range []string{"waits", "done", "dying", "web"} {
		for _, grace := range []string{"", "900", "0", "-3", "9000"} {
			all = append(all, call{"pod delete " + p + " in " + grace, "DELETE", pods + p, strings.Trim("dryRun=All&gracePeriodSeconds="+grace, "=&"), "", ""})
		}
	}
	make := func(name, spec string) {
		all = append(all, call{"pod create " + name, "POST", strings.TrimSuffix(pods, "/"), "dryRun=All", "", `{"metadata":{"name":"made"},"spec":{` + spec + `}}`})
	}
	make("without containers", ``)
	make("without an image", `"containers":[{"name":"a"}]`)
	make("without a name", `"containers":[{"image":"a"}]`)
	make("with a bad name", `"containers":[{"name":"A_","image":"a"}]`)
	make("with a name twice", `"containers":[{"name":"a","image":"a"},{"name":"a","image":"a"}]`)
	make("with a bad restart policy", `"restartPolicy":"Maybe","containers":[{"name":"a","image":"a"}]`)
	make("with requests", `"containers":[{"name":"a","image":"a","resources":{"requests":{"cpu":"0.5"}}}]`)
	make("with limits", `"containers":[{"name":"a","image":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]`)
	budgets := "/apis/policy/v1/namespaces/team/poddisruptionbudgets"
	budget := func(name, spec string) {
		all = append(all, call{"budget " + name, "POST", budgets, "dryRun=All", "", `{"metadata":{"name":"made"},"spec":{` + spec + `}}`})
	}
	budget("of both kinds", `"minAvailable":1,"maxUnavailable":1`)
	budget("below zero", `"minAvailable":-1`)
	budget("of too much", `"minAvailable":"120%"`)
	budget("of nonsense", `"minAvailable":"many"`)
	budget("of a bad selector", `"minAvailable":1,"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}`)
	budget("of a bad policy", `"minAvailable":1,"unhealthyPodEvictionPolicy":"Never"`)
	scale := "/apis/apps/v1/namespaces/team/deployments/web/scale"
	all = append(all,
		call{"budget status below zero", "PATCH", budgets + "/guard/status", "dryRun=All", merge, `{"status":{"disruptionsAllowed":-1}}`},
		call{"scale", "PATCH", scale, "dryRun=All", merge, `{"spec":{"replicas":5}}`},
		call{"scale below zero", "PATCH", scale, "dryRun=All", merge, `{"spec":{"replicas":-5}}`},
		call{"scale another UID", "PUT", scale, "dryRun=All", "", `{"metadata":{"name":"web","uid":"other"},"spec":{"replicas":5}}`},
		call{"scale an old version", "PUT", scale, "dryRun=All", "", `{"metadata":{"name":"web","resourceVersion":"1"},"spec":{"replicas":5}}`},
		call{"scale of none", "PATCH", "/apis/apps/v1/namespaces/team/deployments/gone/scale", "dryRun=All", merge, `{}`},
		call{"scale a pod", "PATCH", pods + "web/scale", "dryRun=All", merge, `{}`},
		call{"in no namespace", "POST", "/api/v1/namespaces/nowhere/configmaps", "dryRun=All", "", `{"metadata":{"name":"a"}}`},
		call{"a node in a pod's place", "POST", "/api/v1/nodes", "dryRun=All", "", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`},
		call{"a kind that isn't known", "POST", "/api/v1/nodes", "dryRun=All", "", `{"apiVersion":"v1","kind":"Foo","metadata":{"name":"a"}}`},
		call{"a number for a word", "POST", "/api/v1/nodes", "dryRun=All", "", `{"metadata":{"name":"a","labels":{"a":1}}}`},
		call{"a widget of another kind", "POST", "/apis/example.com/v1/namespaces/team/widgets", "dryRun=All", "", `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"}}`},
		call{"too much", "POST", "/api/v1/nodes", "dryRun=All", "", `{"metadata":{"name":"` + strings.Repeat("a", 3<<20) + `"}}`},
		call{"deletecollection of pods", "DELETE", strings.TrimSuffix(pods, "/"), "dryRun=All&labelSelector=app%3Dweb", "", ""},
	)
	return all
}
