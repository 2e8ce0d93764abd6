package conformance

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
)

func asToken(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// getRequests ask for single objects: those that live, have gone, never were, and can't be.
func getRequests(r *Resource) (all []Request) {
	const topic = "get"
	few := r.Live
	if !r.deep() {
		few = few[:min(len(few), 2)]
	}
	for _, o := range few {
		all = append(all, get(topic, r.object(o)))
	}
	for _, o := range r.Gone[:min(len(r.Gone), 3)] {
		all = append(all, get(topic, r.object(o)))
	}
	o := r.example()
	at := r.object(o)
	if !r.deep() {
		return append(all, get(topic, at).accept(asKubectl), get(topic, r.Path(o.Namespace)+"/none"))
	}
	for _, version := range []string{"0", fmt.Sprint(r.Last()), fmt.Sprint(r.Listed), "1", "1000000000", "a", "-1", ""} {
		all = append(all, get(topic, at).with("resourceVersion", version))
	}
	for _, name := range []string{"none", "UPPER", "a_b", "a%20b", "a%2Fb", "..%2F..", strings.Repeat("x", 300), "%C3%A4", "a:b", "-", "status"} {
		all = append(all, get(topic, r.Path(o.Namespace)+"/"+name))
	}
	for _, rest := range []string{"/", "/status", "/scale", "/log", "/no-such-subresource", "/status/more", "//", "?pretty=true", "?pretty=false", "?pretty=maybe", "?fieldSelector=metadata.name=a", "?watch=true", "?dryRun=All", "?no-such-parameter=1", "?export=true", "?exact=true"} {
		q := get(topic, at+rest)
		if strings.Contains(rest, "watch") {
			q = q.with("timeoutSeconds", "1")
			q.Stream = true
		}
		all = append(all, q)
	}
	if r.Namespaced {
		all = append(all, get(topic, r.Path("shop")+"/"+o.Name), get(topic, r.Path("no-such-namespace")+"/"+o.Name), get(topic, r.Path("")+"/"+o.Name), get(topic, r.Path("Not_A_Namespace")+"/"+o.Name))
	} else {
		all = append(all, get(topic, r.Root()+"/namespaces/default/"+r.Resource.Resource), get(topic, r.Root()+"/namespaces/default/"+r.Resource.Resource+"/"+o.Name))
	}
	return all
}

// formRequests ask for objects, lists, watches and errors in every form that there is.
func formRequests(r *Resource) (all []Request) {
	const topic = "forms"
	o := r.example()
	one, many := get(topic, r.object(o)), get(topic, r.Path(""))
	for _, form := range []string{asJSON, asYAML, asTyped} {
		all = append(all, one.accept(form), many.accept(form))
	}
	if !r.deep() {
		return all
	}
	forms := []string{
		asProto, asTable, asOne, asMany, strings.Replace(asTable, "v1", "v1beta1", 1), strings.Replace(asOne, "v1", "v1beta1", 1), strings.Replace(asMany, "v1", "v1beta1", 1),
		strings.Replace(asTable, "json", "yaml", 1), strings.Replace(asTable, asJSON, asProto, 1), strings.Replace(asOne, asJSON, asProto, 1), strings.Replace(asMany, asJSON, asProto, 1),
		asJSON + ";as=Table;v=v2;g=meta.k8s.io", asJSON + ";as=Chair;v=v1;g=meta.k8s.io", asJSON + ";as=Table;v=v1;g=other", asJSON + ";as=Table", asTable + ";q=0.1," + asJSON,
		asJSON + ";as=Chair;v=v1;g=meta.k8s.io," + asJSON, "", "*/*", "application/*", "text/*", "text/plain", "application/xml", "garbage", "application/", ";;;", ",", "application/json;q=0,application/yaml",
		"application/json; charset=utf-8", "APPLICATION/JSON", "application/json;stream=watch", asProto + ";stream=watch", "application/yaml;q=0.9,application/json;q=0.1", "application/cbor", "application/json;pretty=1", "application/json;as=",
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", asProto + ";type=collection", asJSON + ";indent=2", strings.Repeat("a/b,", 200) + asJSON,
	}
	gone := get(topic, r.Path(o.Namespace)+"/none")
	for _, form := range forms {
		all = append(all, one.accept(form), many.accept(form), gone.accept(form))
		if slices.Contains([]string{"pods", "nodes", "noderolls.ops.example.com"}, r.String()) {
			all = append(all, many.watch().accept(form), get(topic, r.Path("")).with("labelSelector", "K in (").accept(form))
		}
	}
	for _, include := range []string{"None", "Metadata", "Object", "Everything", ""} {
		all = append(all, one.with("includeObject", include).accept(asTable), many.with("includeObject", include).accept(asTable), many.with("includeObject", include).accept(asJSON))
	}
	for _, agent := range []string{"Mozilla/5.0", "curl/8", "kubectl/v1.36.3"} {
		all = append(all, one.header("User-Agent", agent), one.accept("*/*").header("User-Agent", agent))
	}
	for _, coding := range []string{"gzip", "gzip, deflate, br", "identity", "gzip;q=0", "*", "br"} {
		all = append(all, many.header("Accept-Encoding", coding))
	}
	return all
}
