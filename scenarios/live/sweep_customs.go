package live

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// release takes all finalizers of an object away, if it is still there.
func release(ctx context.Context, client dynamic.ResourceInterface, name string, uid types.UID) error {
	patch := fmt.Appendf(nil, `{"metadata":{"finalizers":null,"uid":%q}}`, uid)
	_, err := client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return replaced(err, uid, func() (*unstructured.Unstructured, error) { return client.Get(ctx, name, metav1.GetOptions{}) })
}

// optional deletes the labelled objects of kinds that a live run may have left out.
func (s *sweep) optional(ctx context.Context, r schema.GroupVersionResource) (left []string, err error) {
	left, err = s.labelled(ctx, r)
	if apierrors.IsNotFound(err) { // it isn't defined
		return nil, nil
	}
	return left, err
}

// theirs reports whether a definition that a live run has made was changed by another client since, which needs it:
// to install the provider itself, say.
func theirs(r schema.GroupVersionResource, o *unstructured.Unstructured) bool {
	return r == definitionsResource && o.GetGeneration() > 1 && o.GetDeletionTimestamp() == nil
}
