package live

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// replaced drops the error of a patch where the object of that UID is gone, or
// another one has its name; get asks the server for the one that is there. A patch
// that names another UID is Invalid (k8s.io/apimachinery, pkg/api/validation/objectmeta.go,
// ValidateObjectMetaAccessorUpdate), one that names another version a conflict.
func replaced[T metav1.Object](err error, uid types.UID, get func() (T, error)) error {
	if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
		return gone(err)
	}
	live, failed := get()
	if apierrors.IsNotFound(failed) || failed == nil && other(live, uid) {
		return nil
	}
	return err
}

// A foreignError says that an object that no live run of the scenario has made has the name of ours. Its status is
// Forbidden, so that clients don't retry.
type foreignError struct{ *apierrors.StatusError }

// foreign is one.
func foreign(r schema.GroupResource, name, label string) error {
	return &foreignError{apierrors.NewForbidden(r, name, fmt.Errorf("found one that no live run of %s has made: want it gone", label))}
}

// other reports whether an object isn't the one of that UID.
func other(live metav1.Object, uid types.UID) bool { return uid != "" && live.GetUID() != uid }
