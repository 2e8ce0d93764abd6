package conformance

import "slices"

// The forms of an answer that a client can ask for.
const (
	asJSON    = "application/json"
	asYAML    = "application/yaml"
	asProto   = "application/vnd.kubernetes.protobuf"
	asTable   = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asOne     = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	asMany    = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	asKubectl = asTable + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
	asTyped   = asProto + "," + asJSON // what client-go's typed clients send
)

// inDepth names the resources whose every parameter is tried; of the others each verb and form is.
var inDepth = []string{
	"nodes", "pods", "events", "events.events.k8s.io", "poddisruptionbudgets.policy", "deployments.apps", "namespaces",
	"noderolls.ops.example.com", "pools.ops.example.com",
}

func (r *Resource) deep() bool { return slices.Contains(inDepth, r.String()) }

// Requests generates everything that is asked about a world, in a fixed order. None of it writes.
func Requests(w *Inventory) []Request {
	var all []Request
	all = append(all, discoveryRequests(w)...)
	for i := range w.Resources {
		r := &w.Resources[i]
		all = append(all, listRequests(r)...)
		all = append(all, getRequests(r)...)
		all = append(all, formRequests(r)...)
		if len(known[r.String()]) > 0 && !r.deep() {
			all = append(all, selectorRequests(r)...)
		}
		if r.deep() {
			all = append(all, selectorRequests(r)...)
			all = append(all, versionRequests(r)...)
			all = append(all, pageRequests(r)...)
			all = append(all, watchRequests(r)...)
			all = append(all, watchListRequests(r)...)
		}
	}
	return append(all, wrongRequests(w)...)
}

// example returns an object to ask for; the zero Object where none is alive.
func (r *Resource) example() Object {
	if len(r.Live) == 0 {
		return Object{Namespace: r.somewhere(), Name: "none"}
	}
	return r.Live[0]
}

// somewhere is a namespace that the resource may be asked for in.
func (r *Resource) somewhere() string {
	if r.Namespaced {
		return "default"
	}
	return ""
}

// object is the path of one object.
func (r *Resource) object(o Object) string { return r.Path(o.Namespace) + "/" + o.Name }

// find returns a resource by the name that kubectl takes; nil where the tape doesn't hold it.
func (w *Inventory) find(name string) *Resource {
	i := slices.IndexFunc(w.Resources, func(r Resource) bool { return r.String() == name })
	if i < 0 {
		return nil
	}
	return &w.Resources[i]
}
