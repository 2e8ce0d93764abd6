package conformance

import "net/http"

// wrongRequests ask for what isn't there, in ways that no client should.
func wrongRequests(w *Inventory) (all []Request) {
	const topic = "wrong"
	for _, path := range []string{
		"/no-such-path", "/api/v1/no-such-resource", "/api/v1/no-such-resource/a", "/api/v1/namespaces/default/no-such-resource", "/apis/apps/v1/no-such-resource",
		"/apis/apps/v9/deployments", "/apis/no.such.group/v1/things", "/api/v2/pods", "/api/v1/pods/a/b/c/d", "//api/v1/nodes", "/api//v1/nodes", "/api/v1//nodes", "/API/v1/nodes", "/api/v1/Nodes",
		"/api/v1/nodes/../pods", "/api/v1/./nodes", "/api/v1/nodes%2f", "/api/v1/nodes/%00", "/api/v1/nodes/", "/api/v1/namespaces/", "/api/v1/namespaces/default/", "/api/v1/namespaces/default", "/api/v1/namespaces/none",
		"/api/v1/namespaces/default/namespaces", "/api/v1/namespaces//pods", "/api/v1/namespaces/default/pods/", "/api/v1/namespaces/default/nodes", "/api/v1/watch", "/api/v1/watch/", "/api/v1/watch/no-such-resource", "/api/v1/proxy/nodes/a",
		"/api/v1/nodes/none/proxy", "/apis/ops.example.com", "/apis/ops.example.com/v1/", "/apis/ops.example.com/v2/noderolls", "/apis/ops.example.com/v1/nothing", "/apis/ops.example.com/v1/namespaces/shop/noderolls/first/status",
		"/apis/ops.example.com/v1/namespaces/shop/noderolls/first/scale", "/apis/ops.example.com/v1/namespaces/shop/pools", "/apis/extensions/v1beta1/deployments", "/apis/policy/v1beta1/poddisruptionbudgets", "/api/v1/componentstatuses",
		"/api/v1/pods?limit=1&limit=2", "/api/v1/pods?%zz", "/api/v1/pods?limit", "/api/v1/pods?;", "/api/v1/pods?&&&", "/api/v1/pods?timeoutSeconds=1", "/api/v1/pods?timeoutSeconds=a", "/api/v1/pods?timeout=1s", "/favicon.ico",
	} {
		all = append(all, get(topic, path))
	}
	for _, name := range []string{"nodes", "pods", "noderolls.ops.example.com"} {
		r := w.find(name)
		if r == nil {
			continue
		}
		o := r.example()
		for _, path := range []string{r.Path(""), r.object(o), r.object(o) + "/status", r.Root() + "/watch/" + r.Resource.Resource + "?timeoutSeconds=1"} {
			for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodTrace, "PROPFIND", "get", "WATCH", "LIST"} {
				q := get(topic, path)
				q.Method = method
				all = append(all, q)
			}
		}
	}
	for _, path := range []string{"/", "/api", "/apis", "/api/v1", "/version", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/no-such-path"} {
		for _, method := range []string{http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, "PROPFIND"} {
			all = append(all, Request{Topic: topic, Method: method, Path: path})
		}
	}
	for _, path := range []string{"/api/v1/nodes", "/api/v1/namespaces/default/pods", "/apis", "/version", "/livez", "/no-such-path", "/api/v1/no-such-resource"} {
		q := get("strangers", path)
		all = append(all, q.header("Authorization", "Bearer wrong"), q.header("Authorization", "Basic d3Jvbmc6d3Jvbmc="), q.header("Authorization", "Bearer"), q)
	}
	for i := range all {
		all[i].Stranger = all[i].Topic == "strangers"
	}
	return all
}
