package writes

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/replay/internal/crd"
	"github.com/nodesim/nodesim/timeline"
)

// kind holds what a resource holds, and how a server treats it.
type kind struct {
	timeline.Resource
	onTape  bool
	builtIn bool // apischeme has the type
	// definition and version say what a custom resource is; they are nil where nothing does.
	definition *crd.Definition
	version    *crd.Version
}

// kind finds what a request is about: on the tape, or else among the kinds that
// are built into Kubernetes.
func (d *Handler) kind(r Request) (kind, error) {
	if res, ok := d.cluster.Resource(r.Resource); ok {
		k := kind{Resource: res, onTape: true, builtIn: isBuiltIn(res)}
		if d := d.definition(res); d != nil {
			k.definition, k.version = d, d.Version(res.Version)
		}
		switch {
		case res.Namespaced && r.Namespace == "" && r.Name == "":
			return kind{}, notAllowed() // of all namespaces there are only lists
		case res.Namespaced != (r.Namespace != ""):
			return kind{}, notFound()
		}
		return k, nil
	}
	name, ok := builtIns()[r.Resource]
	if !ok {
		return kind{}, notFound()
	}
	return kind{builtIn: true, Resource: timeline.Resource{
		Group: r.Resource.Group, Version: r.Resource.Version, Resource: r.Resource.Resource,
		Kind: name, Namespaced: r.Namespace != "",
	}}, nil
}

// builtIns are the kinds of Kubernetes that can be listed, by the
// name of their resource.
var builtIns = sync.OnceValue(func() map[schema.GroupVersionResource]string {
	all := map[schema.GroupVersionResource]string{}
	for gvk, t := range apischeme.Scheme().AllKnownTypes() {
		_, described := reflect.New(t).Interface().(metav1.ObjectMetaAccessor)
		if !described || !apischeme.Scheme().Recognizes(gvk.GroupVersion().WithKind(gvk.Kind+"List")) {
			continue
		}
		gvr, _ := meta.UnsafeGuessKindToResource(gvk)
		all[gvr] = gvk.Kind
	}
	return all
})

func (k kind) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

func (k kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource.Resource}
}

func (k kind) isPod() bool  { return k.is("pods") }
func (k kind) isNode() bool { return k.is("nodes") }
func (k kind) isDefinition() bool {
	return k.is("customresourcedefinitions.apiextensions.k8s.io")
}
func (k kind) isBudget() bool { return k.is("poddisruptionbudgets.policy") }

func (k kind) is(name string) bool { return k.Resource.String() == name }

func (k kind) among(names []string) bool { return slices.Contains(names, k.Resource.String()) }

// hasStatus reports whether the kind keeps a status apart. Of a custom resource
// without a definition nothing says it, and most do.
func (k kind) hasStatus() bool {
	if !k.builtIn {
		return k.version == nil || k.version.Status
	}
	obj, err := apischeme.Scheme().New(k.gvk())
	if err != nil {
		return false
	}
	_, ok := reflect.TypeOf(obj).Elem().FieldByName("Status")
	return ok
}

// scales reports whether there is a scale subresource
// (kubernetes/pkg/registry/{apps,core}/rest). Cluster API's kinds have one by their definitions, which are missing where a
// scenario has Machines of its own.
func (k kind) scales() bool {
	return k.version != nil && k.version.Scale != nil || k.among([]string{
		"deployments.apps", "replicasets.apps", "statefulsets.apps", "replicationcontrollers",
	}) || k.version == nil && k.among([]string{"machinedeployments.cluster.x-k8s.io", "machinesets.cluster.x-k8s.io"})
}

// overwritable reports whether an update needs no resourceVersion
// (AllowUnconditionalUpdate of the strategies in kubernetes/pkg/registry).
func (k kind) overwritable() bool {
	return k.builtIn && !k.among([]string{
		"poddisruptionbudgets.policy", "leases.coordination.k8s.io",
		"clustertrustbundles.certificates.k8s.io", "podcertificaterequests.certificates.k8s.io",
		"runtimeclasses.node.k8s.io", "storageversionmigrations.storagemigration.k8s.io",
		"csidrivers.storage.k8s.io",
		"customresourcedefinitions.apiextensions.k8s.io", "csistoragecapacities.storage.k8s.io", "volumeattachments.storage.k8s.io", "csinodes.storage.k8s.io",
	}) && k.Group != "admissionregistration.k8s.io"
}

// createdByUpdate reports whether an update of what isn't there creates it
// (AllowCreateOnUpdate).
func (k kind) createdByUpdate() bool {
	return k.among([]string{
		"runtimeclasses.node.k8s.io", "leases.coordination.k8s.io", "leasecandidates.coordination.k8s.io",
		"limitranges", "events", "events.events.k8s.io", "services", "endpoints",
	}) || k.Group == "rbac.authorization.k8s.io"
}

// counted reports whether a new object begins with generation 1, which each
// change of what is wanted counts up (PrepareForCreate of the strategies in kubernetes/pkg/registry).
func (k kind) counted() bool {
	return !k.builtIn || k.isPod() || k.isBudget() || k.among([]string{
		"jobs.batch", "cronjobs.batch", "ingresses.networking.k8s.io", "ingressclasses.networking.k8s.io", "networkpolicies.networking.k8s.io",
		"replicationcontrollers", "podtemplates", "endpointslices.discovery.k8s.io",
		"priorityclasses.scheduling.k8s.io", "deviceclasses.resource.k8s.io", "resourceslices.resource.k8s.io", "devicetaintrules.resource.k8s.io",
		"customresourcedefinitions.apiextensions.k8s.io",
	}) || slices.Contains([]string{"apps", "admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io"}, k.Group) && !k.is("controllerrevisions.apps")
}

// returned reports whether a delete is answered with the object
// (ReturnDeletedObject of the stores).
func (k kind) returned() bool {
	return k.among([]string{
		"pods", "services", "namespaces", "persistentvolumes", "persistentvolumeclaims", "serviceaccounts",
		"resourcequotas", "podtemplates", "storageclasses.storage.k8s.io", "csidrivers.storage.k8s.io",
		"csinodes.storage.k8s.io", "volumeattachments.storage.k8s.io", "volumeattributesclasses.storage.k8s.io",
	}) || k.Group == "resource.k8s.io"
}

// inner is the server's own type of the kind, as its messages print it.
func (k kind) inner() string {
	group, _, _ := strings.Cut(k.Group, ".")
	if group == "" {
		group = "core"
	}
	return group + "." + k.Kind
}
