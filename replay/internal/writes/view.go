package writes

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// view holds what a path lets a client see and change of an object: the object
// itself, its status, its scale.
type view struct {
	// kind is that of what is sent and answered.
	kind kind
	// shown holds what a client sees of an object.
	shown func(unstructured.Unstructured) (unstructured.Unstructured, error)
	// merged is the object that a client wants, by what it sent.
	merged func(sent unstructured.Unstructured, live *object) (unstructured.Unstructured, error)
	// prepare undoes what the path doesn't let a client change.
	prepare func(u unstructured.Unstructured, live *object)
	// check finds what is wrong with the change.
	check func(u unstructured.Unstructured, live *object) field.ErrorList
	// creates reports whether what isn't there may be made here.
	creates bool
}

func same(u unstructured.Unstructured) (unstructured.Unstructured, error) { return u, nil }

func sentOne(sent unstructured.Unstructured, _ *object) (unstructured.Unstructured, error) {
	return sent, nil
}

// main is the object, without its status.
func (w *write) main() view {
	return view{
		kind: w.kind, shown: same, merged: sentOne, creates: true,
		prepare: func(u unstructured.Unstructured, live *object) {
			if w.kind.hasStatus() {
				take(u, live.Unstructured, "status")
			}
			if w.keeps() && w.kind.is("namespaces") {
				take(u, live.Unstructured, "spec") // see finalize
			}
			if w.keeps() && w.kind.is("daemonsets.apps") {
				countTemplates(u, live)
			}
			if w.kind.isDefinition() {
				_ = storedIn(u) // its spec was read
			}
			counts := live.GetGeneration() > 0 || !w.kind.builtIn || w.kind.is("csidrivers.storage.k8s.io") // whose first change counts from 0
			if counts && w.kind.differs(u, live) {
				u.SetGeneration(live.GetGeneration() + 1)
			}
		},
		check: w.kind.checkUpdate,
	}
}

// status is the status, and of some kinds the metadata.
func (w *write) status() view {
	return view{
		kind: w.kind, shown: same, merged: sentOne,
		prepare: func(u unstructured.Unstructured, live *object) {
			for name := range live.Object {
				if name != "status" && name != "metadata" {
					take(u, live.Unstructured, name)
				}
			}
			for name := range u.Object {
				if _, was := live.Object[name]; !was && name != "status" && name != "metadata" {
					delete(u.Object, name)
				}
			}
			w.kind.keepMeta(u, live)
		},
		check: w.kind.checkStatus,
	}
}

// keepMeta undoes what a status update may not do to metadata: pods lose no
// owners, Deployments keep their labels, and some kinds keep all of it
// (PrepareForUpdate of the kinds' status strategies in kubernetes/pkg/registry),
// as custom resources do.
func (k kind) keepMeta(u unstructured.Unstructured, live *object) {
	switch {
	case k.isPod():
		u.SetOwnerReferences(live.GetOwnerReferences())
		u.SetDeletionTimestamp(nil)
	case k.is("deployments.apps"):
		u.SetLabels(live.GetLabels())
	case !k.builtIn || k.Group == "resource.k8s.io" || k.Group == "flowcontrol.apiserver.k8s.io" || k.among([]string{
		"servicecidrs.networking.k8s.io", "validatingadmissionpolicies.admissionregistration.k8s.io", "volumeattachments.storage.k8s.io",
		"podcertificaterequests.certificates.k8s.io", "apiservices.apiregistration.k8s.io",
	}):
		managed := u.GetManagedFields()
		take(u, live.Unstructured, "metadata")
		u.SetManagedFields(managed)
	}
}

// differs reports whether what is wanted of an object has changed: its spec, or
// what stands for one in its kind, of a Deployment its annotations as well, of an
// EndpointSlice its labels (PrepareForUpdate of the strategies in
// kubernetes/pkg/registry), or of a custom resource anything but metadata and status.
func (k kind) differs(u unstructured.Unstructured, live *object) bool {
	if k.is("deployments.apps") && !equality.Semantic.DeepEqual(u.GetAnnotations(), live.GetAnnotations()) {
		return true
	}
	part := "spec"
	switch {
	case k.is("podtemplates"):
		part = "template"
	case k.Group == "admissionregistration.k8s.io" && strings.HasSuffix(k.Resource.Resource, "webhookconfigurations"):
		part = "webhooks"
	case k.is("endpointslices.discovery.k8s.io"):
		is, was := maps.Clone(u.Object), maps.Clone(live.Object)
		delete(is, "metadata")
		delete(was, "metadata")
		return !equality.Semantic.DeepEqual(is, was) || !equality.Semantic.DeepEqual(u.GetLabels(), live.GetLabels())
	}
	if k.builtIn {
		return !equality.Semantic.DeepEqual(u.Object[part], live.Object[part])
	}
	for _, of := range []map[string]any{u.Object, live.Object} {
		for name := range of {
			if name != "metadata" && (name != "status" || !k.hasStatus()) && !equality.Semantic.DeepEqual(u.Object[name], live.Object[name]) {
				return true
			}
		}
	}
	return false
}
