package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// listRequests ask for every object, in each place where they can be.
func listRequests(r *Resource) (all []Request) {
	for _, place := range r.places() {
		all = append(all, get("list", place), get("list", place).accept(asKubectl))
		if r.deep() {
			all = append(all,
				get("list", place).with("limit", "500").accept(asKubectl),
				get("list", place).with("resourceVersion", "0").accept(asTyped),
				get("list", place).accept(asJSON).header("Accept-Encoding", "gzip"),
				get("list", place).with("pretty", "true"),
			)
		}
	}
	return all
}

// places are the paths of the resource's collections: of the cluster, of namespaces with and without objects, and of
// one that doesn't exist.
func (r *Resource) places() []string {
	places := []string{r.Path("")}
	if !r.Namespaced {
		return places
	}
	if !r.deep() {
		return append(places, r.Path("default"))
	}
	return append(places, r.Path("default"), r.Path("shop"), r.Path("no-such-namespace"))
}

// selectorRequests ask for a part of the objects, by labels and by fields.
func selectorRequests(r *Resource) (all []Request) {
	for _, s := range r.labelSelectors() {
		all = append(all, get("labels", r.Path("")).with("labelSelector", s))
	}
	for _, s := range r.fieldSelectors() {
		all = append(all, get("fields", r.Path("")).with("fieldSelector", s))
	}
	o := r.example()
	all = append(all,
		get("fields", r.Path("")).with("fieldSelector", "metadata.name="+o.Name).with("labelSelector", "!no-such-label"),
		get("fields", r.Path("")).with("fieldSelector", "metadata.name="+o.Name).with("labelSelector", "no-such-label"),
		get("fields", r.Path("")).with("fieldSelector", "metadata.name="+o.Name).accept(asKubectl),
		get("fields", r.Path("")).with("fieldSelector", "metadata.name!="+o.Name).with("limit", "1"),
		get("fields", r.Path("")+"?fieldSelector=%zz"),
		get("labels", r.Path("")+"?labelSelector=a&labelSelector=b"),
		get("labels", r.Path("")+"?labelselector=team"),
	)
	if r.Namespaced {
		all = append(all, get("fields", r.Path(o.Namespace)).with("fieldSelector", "metadata.namespace="+o.Namespace),
			get("fields", r.Path(o.Namespace)).with("fieldSelector", "metadata.namespace=shop,metadata.name="+o.Name))
	}
	return all
}

func (r *Resource) labelSelectors() []string {
	key, value := "team", "checkout"
	for _, o := range r.Live {
		if len(o.Labels) > 0 {
			key, value = o.Labels[0][0], o.Labels[0][1]
			break
		}
	}
	var all []string
	for _, form := range []string{
		"K=V", "K==V", "K!=V", "K in (V)", "K in (V,other)", "K notin (V)", "K notin (V, other)", "K", "!K", " K = V ", "K=V,!no-such-label",
		"K=", "K!=", "K in ()", "K in (,V)", "K=other", "no-such-label", "!no-such-label", "no-such-label!=V", "K=V,K!=V", "K,K=V",
		"K in (", "K in V", "=V", "K=V=V", "K>1", "K<1", "K>a", "!", ",", "!K=V", "K V", "a/b/c=V", "-bad=1", "K=bad value!", "K=a:b", "ä=1",
		"K=" + strings.Repeat("x", 64), strings.Repeat("x", 300) + "=1", "K=V,", "(", "K in (V))", "K not in (V)",
	} {
		all = append(all, strings.NewReplacer("K", key, "V", value).Replace(form))
	}
	return all
}

func (r *Resource) fieldSelectors() []string {
	o := r.example()
	all := []string{
		"metadata.name=" + o.Name, "metadata.name==" + o.Name, "metadata.name!=" + o.Name, "metadata.name=none", "metadata.name=",
		"metadata.name", "!metadata.name", "metadata.name in (a)", "metadata.name>a", "metadata.uid=a", "metadata.labels.team=checkout",
		"metadata.namespace=default", "metadata.namespace!=default", "metadata.namespace=", "spec.no=1", "no-such-field=1", ",", "=", "=a", "a=b=c",
		`metadata.name=a\,b`, `metadata.name=a\`, `metadata.name=a\x`, "metadata.name=" + o.Name + ",metadata.name!=none", "metadata.name=a,,metadata.name=b",
		" metadata.name=" + o.Name, "METADATA.NAME=a", "metadata.name=" + o.Name + ",spec.no=1", "kind=Node", "status=1",
	}
	for _, f := range known[r.String()] {
		all = append(all, f, strings.Replace(f, "=", "!=", 1))
	}
	return all
}

// known are the fields that a kind can be selected by, each with a value that some objects have: what
// AddFieldLabelConversionFunc registers in pkg/apis/*/v1/conversion.go of kubernetes, and a definition's
// selectableFields.
var known = map[string][]string{
	"nodes": {"spec.unschedulable=true", "spec.unschedulable=false", "spec.unschedulable="},
	"pods": {
		"spec.nodeName=ip-10-0-2-10", "spec.nodeName=", "spec.restartPolicy=Always", "spec.schedulerName=default-scheduler",
		"spec.serviceAccountName=default", "spec.hostNetwork=false", "status.phase=Running", "status.podIP=10.0.0.1", "status.podIPs=",
		"status.nominatedNodeName=", "spec.host=ip-10-0-2-10", "spec.restartPolicy=Never", "spec.nodeName=ip-10-0-2-10,status.phase=Running",
	},
	"events": {
		"involvedObject.kind=Node", "involvedObject.namespace=default", "involvedObject.name=ip-10-0-2-10", "involvedObject.uid=", "involvedObject.apiVersion=v1",
		"involvedObject.resourceVersion=", "involvedObject.fieldPath=", "reason=Scheduled", "reportingComponent=default-scheduler", "source=default-scheduler",
		"source=node-controller", "type=Normal", "type=Warning,involvedObject.kind=Pod", "regarding.kind=Node",
	},
	"events.events.k8s.io": {
		"regarding.kind=Node", "regarding.namespace=default", "regarding.name=ip-10-0-2-10", "regarding.uid=", "regarding.apiVersion=v1",
		"regarding.resourceVersion=", "regarding.fieldPath=", "reason=Scheduled", "reportingController=default-scheduler", "type=Normal", "involvedObject.kind=Node",
	},
	"namespaces":                {"status.phase=Active", "status.phase=Terminating", "metadata.name=shop,status.phase=Active", "name=shop"},
	"services":                  {"spec.clusterIP=10.0.0.1", "spec.type=ClusterIP"},
	"replicasets.apps":          {"status.replicas=4"},
	"deployments.apps":          {"status.replicas=4"},
	"noderolls.ops.example.com": {"spec.strategy=surge", "spec.paused=true", "spec.paused=", "spec.strategy=surge,spec.paused=false", "spec.weight=2"},
}

// versionRequests ask for lists at versions, in every combination of the three parameters.
func versionRequests(r *Resource) (all []Request) {
	middle := r.Listed
	if n := len(r.Versions); n > 0 {
		middle = r.Versions[n/2]
	}
	versions := []string{"", "0", fmt.Sprint(middle), fmt.Sprint(r.Last()), "1", "-1", "a", "007", "1.5", "18446744073709551615", "99999999999999999999"}
	if r.String() == "nodes" || r.String() == "pods" || r.String() == "noderolls.ops.example.com" {
		versions = append(versions, fmt.Sprint(r.Listed), "1000000000")
	}
	for _, version := range slices.Compact(versions) {
		for _, match := range []string{"", "Exact", "NotOlderThan", "Sometimes"} {
			for _, limit := range []string{"", "1", "-1"} {
				if limit == "-1" && match != "" {
					continue
				}
				q := get("versions", r.Path(""))
				for _, p := range [][2]string{{"resourceVersion", version}, {"resourceVersionMatch", match}, {"limit", limit}} {
					if p[1] != "" {
						q = q.with(p[0], p[1])
					}
				}
				all = append(all, q)
			}
		}
	}
	return all
}

// pageRequests ask for lists in pages, and with tokens that no server has made.
func pageRequests(r *Resource) (all []Request) {
	chain := func(q Request) { q.Chain = true; all = append(all, q) }
	for _, limit := range []string{"1", "2", "3"} {
		chain(get("pages", r.Path("")).with("limit", limit))
		chain(get("pages", r.Path("")).with("limit", limit).accept(asKubectl))
		chain(get("pages", r.Path("")).with("limit", limit).with("labelSelector", r.labelSelectors()[0]))
		chain(get("pages", r.Path("")).with("limit", limit).with("resourceVersion", fmt.Sprint(r.Last())))
		chain(get("pages", r.Path("")).with("limit", limit).with("resourceVersion", fmt.Sprint(r.Last())).with("resourceVersionMatch", "Exact"))
		if r.Namespaced {
			chain(get("pages", r.Path(r.example().Namespace)).with("limit", limit))
		}
	}
	for _, limit := range []string{"0", "a", "-1", "1.5", "99999999999999999999", "9223372036854775807"} {
		all = append(all, get("pages", r.Path("")).with("limit", limit))
	}
	// A version 1 token is {"v":"meta.k8s.io/v1","rv":…,"start":…} (k8s.io/apiserver, pkg/storage/continue.go).
	now := fmt.Sprint(r.Last())
	for _, token := range []string{
		"garbage", "e30", "bm90IGpzb24", "%", " ", asToken(`{"v":"meta.k8s.io/v1","rv":` + now + `,"start":""}`), asToken(`{"v":"meta.k8s.io/v2","rv":` + now + `,"start":"a"}`),
		asToken(`{"v":"meta.k8s.io/v1","rv":` + now + `,"start":"a\u0000"}`), asToken(`{"v":"meta.k8s.io/v1","rv":-1,"start":"a\u0000"}`),
		asToken(`{"v":"meta.k8s.io/v1","rv":0,"start":"a\u0000"}`), asToken(`{"v":"meta.k8s.io/v1","rv":"1","start":"a\u0000"}`),
		asToken(`{"v":"meta.k8s.io/v1","rv":` + now + `,"start":"../../../a"}`), asToken(`{"v":"meta.k8s.io/v1","rv":-2,"start":"a\u0000"}`),
		asToken(`{"v":"meta.k8s.io/v1","rv":` + now + `,"start":"zzz\u0000"}`),
	} {
		q := get("pages", r.Path("")).with("continue", token)
		all = append(all, q.with("limit", "2"), q, q.with("resourceVersion", now), q.with("resourceVersion", "0"), q.with("resourceVersionMatch", "Exact"))
	}
	return all
}
