package writes

import (
	"errors"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nodesim/nodesim/internal/rawjson"
)

// unversioned is the version of what is written to a resource that the tape
// doesn't hold.
const unversioned = "1"

// create is createHandler of k8s.io/apiserver/pkg/endpoints/handlers/create.go.
func (w *write) create() (Answer, error) {
	u, err := w.decode(w.kind)
	if err != nil {
		return Answer{}, err
	}
	w.fill(w.kind, u)
	if err := w.settle(&u); err != nil {
		return Answer{}, err
	}
	w.dedup(u, false)
	return w.make(u)
}

// make is the way of a new object, however it came: Store.Create of
// k8s.io/apiserver/pkg/registry/generic/registry/store.go.
func (w *write) make(u unstructured.Unstructured) (Answer, error) {
	k := w.kind
	u, err := w.own(u, nil)
	if err != nil {
		return Answer{}, err
	}
	if d := k.definition; w.keeps() && d != nil && d.Terminating() {
		return Answer{}, apierrors.NewForbidden(k.groupResource(), u.GetName(), errors.New("create not allowed while custom resource definition is terminating"))
	}
	if err := w.checkNamespace(u.GetName()); err != nil {
		return Answer{}, err
	}
	wipe(&u)
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(w.generate(u.GetGenerateName()))
	}
	w.named = u.GetName()
	u.SetUID(w.uid(u.GetName()))
	u.SetCreationTimestamp(w.now())
	if err := k.begin(u); err != nil {
		return Answer{}, err
	}
	w.fill(k, u) // in what is new of it
	if w.keeps() {
		if err := w.admit(u); err != nil {
			return Answer{}, err
		}
	}
	if err := k.invalid(u.GetName(), unique(append(k.checkMeta(u, nil), k.check(u)...))); err != nil {
		return Answer{}, err
	}
	if w.keeps() {
		if err := w.allow(u, nil); err != nil {
			return Answer{}, err
		}
	}
	w.warnFinalizers(u, nil)
	// Of a status that has a default, and that begin has taken away, everybody reads the default: it is filled in again
	// where an object comes from the storage (unstructuredDefaulter of
	// k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go).
	k.version.Default(u.Object)
	return w.add(u)
}

// add returns what the storage says to a new object.
func (w *write) add(u unstructured.Unstructured) (Answer, error) {
	k, version := w.kind, unversioned
	versioned := u.GetResourceVersion() != ""
	if versioned && !w.dryRun() {
		return Answer{}, errors.New("resourceVersion should not be set on objects to be created")
	}
	if k.onTape {
		there, newest, _ := w.handler.cluster.GetUnfaulted(w.Resource, w.Namespace, u.GetName())
		if there != nil {
			return Answer{}, w.exists(u.GetName())
		}
		version = newest
	}
	if w.dryRun() {
		version = "" // nothing was stored
	} else if w.keeps() {
		if err := w.charge(); err != nil {
			return Answer{}, err
		}
		return w.keepNew(u)
	}
	u.SetResourceVersion(version)
	return w.answer(http.StatusCreated, u)
}

// exists is 409 for a name that is taken.
func (w *write) exists(name string) error {
	err := apierrors.NewAlreadyExists(w.kind.groupResource(), name)
	if o, lookErr := w.look(name); lookErr == nil && o.GetDeletionTimestamp() != nil {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// checkNamespace is 404 for a namespace that isn't there, where the tape holds
// namespaces (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func (w *write) checkNamespace(name string) error {
	if w.Namespace == "" || w.kind.is("namespaces") {
		return nil
	}
	if !w.holds(namespaces) {
		return nil
	}
	o, _, err := w.handler.cluster.GetUnfaulted(namespaces, "", w.Namespace)
	if err == nil && w.keeps() && rawjson.Text(o.Raw(), "status", "phase") == string(corev1.NamespaceTerminating) {
		return w.terminating(name)
	}
	return err
}
