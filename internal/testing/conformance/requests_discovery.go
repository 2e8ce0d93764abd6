package conformance

import "slices"

// discoveryRequests ask what there is: versions, health, groups, resources, schemas.
func discoveryRequests(w *Inventory) (all []Request) {
	const topic = "discovery"
	for _, path := range []string{
		"/version", "/version/", "/healthz", "/livez", "/readyz", "/healthz/ping", "/livez/ping", "/readyz/ping", "/healthz?verbose",
		"/livez?verbose=1", "/readyz?verbose", "/livez?exclude=ping", "/livez/no-such-check", "/healthz/", "/", "/index.html",
		"/api", "/api/", "/apis", "/apis/", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis", "/openapi/v3/version", "/openapi",
		"/openapi/v3/apis/no.such.group/v1", "/api/v2", "/apis/no.such.group", "/apis/no.such.group/v1", "/apis/apps/v9", "/apis/apps/v1/",
		"/api/v1/", "/apis/apps/", "/swaggerapi", "/swagger.json", "/api/v1?timeout=32s", "/apis?timeout=32s",
	} {
		all = append(all, get(topic, path))
	}
	roots := []string{}
	for i := range w.Resources {
		r := &w.Resources[i]
		if root := r.Root(); !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
		if group := "/apis/" + r.Group; r.Group != "" && !slices.Contains(roots, group) {
			roots = append(roots, group)
		}
	}
	for _, root := range roots {
		all = append(all, get(topic, root), get(topic, root).accept(asYAML), get(topic, root).accept(asProto), get(topic, "/openapi/v3"+root))
	}
	const aggregated = ";g=apidiscovery.k8s.io;as=APIGroupDiscoveryList;v="
	for _, root := range []string{"/api", "/apis"} {
		for _, form := range []string{
			asJSON, asYAML, asProto, asTyped, "*/*", "text/html", "application/json;q=0.5,application/yaml",
			asJSON + aggregated + "v2", asJSON + aggregated + "v2beta1", asProto + aggregated + "v2", asYAML + aggregated + "v2",
			asJSON + aggregated + "v2," + asJSON + aggregated + "v2beta1," + asJSON, // what client-go sends
			asJSON + aggregated + "v9", asJSON + ";g=no.such;as=APIGroupDiscoveryList;v=v2", asJSON + ";profile=nopeer" + aggregated + "v2",
		} {
			all = append(all, get(topic, root).accept(form))
		}
		all = append(all, get(topic, root).accept(asJSON).header("Accept-Encoding", "gzip"))
	}
	for _, form := range []string{
		asJSON, "*/*", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
		"application/com.github.proto-openapi.spec.v3@v1.0+protobuf", "text/plain", asYAML,
	} {
		all = append(all, get(topic, "/openapi/v2").accept(form), get(topic, "/openapi/v3").accept(form), get(topic, "/openapi/v3/api/v1").accept(form))
	}
	for _, form := range []string{asJSON, asYAML, asProto, "text/plain"} {
		all = append(all, get(topic, "/version").accept(form), get(topic, "/livez").accept(form))
	}
	return all
}
