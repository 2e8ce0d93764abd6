package writes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// apiError makes a Status of what isn't one, as a server does: code 500 and no
// reason (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/status.go).
func apiError(err error) error {
	if s := apierrors.APIStatus(nil); errors.As(err, &s) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}

// invalid is 422 with what is wrong, or nil.
func (k kind) invalid(name string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(k.gvk().GroupKind(), name, errs)
}

// stale is the answer to a version that isn't the object's
// (OptimisticLockErrorMsg of k8s.io/apiserver/pkg/registry/generic/registry/store.go).
func (k kind) stale(name string) error {
	return apierrors.NewConflict(k.groupResource(), name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}

// otherUID is the answer to an update of an object that has been made again: the
// conflict that the storage reports, with its key in etcd
// (k8s.io/apiserver/pkg/storage/interfaces.go, Preconditions.Check).
func (w *write) otherUID(wanted, found types.UID) error {
	return w.failedPrecondition(fmt.Sprintf("UID in precondition: %v, UID in object meta: %v", wanted, found))
}

func (w *write) otherVersion(wanted, found string) error {
	return w.failedPrecondition(fmt.Sprintf("ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", wanted, found))
}

func (w *write) failedPrecondition(what string) error {
	key := w.kind.key(w.Namespace, w.Name)
	if w.dryRun() {
		key = strings.TrimPrefix(key, "/registry") // the storage itself isn't reached
	}
	return apierrors.NewConflict(w.kind.groupResource(), w.Name, fmt.Errorf(
		"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: %s", key, what))
}

// key is where a server keeps an object in etcd.
func (k kind) key(namespace, name string) string {
	at := "/registry/"
	if !k.builtIn {
		at += k.Group + "/"
	}
	switch k.Resource.String() {
	case "nodes":
		at += "minions"
	case "services":
		at += "services/specs"
	case "endpoints":
		at += "services/endpoints"
	case "ingresses.networking.k8s.io":
		at += "ingress"
	default:
		at += k.Resource.Resource
	}
	if k.Namespaced {
		at += "/" + namespace
	}
	return at + "/" + name
}

// unmet is the answer to a delete's precondition
// (k8s.io/apiserver/pkg/registry/rest/delete.go).
func (k kind) unmet(name, what, wanted, found, perhaps string) error {
	return apierrors.NewConflict(schema.GroupResource{Group: k.Group, Resource: k.Kind}, name, fmt.Errorf(
		"the %s in the precondition (%s) does not match the %s in record (%s). The object might have been %s", what, wanted, what, found, perhaps))
}
