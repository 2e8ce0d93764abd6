package writes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// beginNamespace is PrepareForCreate and Canonicalize of
// kubernetes/pkg/registry/core/namespace/strategy.go.
func beginNamespace(u unstructured.Unstructured) {
	has, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "finalizers")
	if !slices.Contains(has, string(corev1.FinalizerKubernetes)) {
		_ = unstructured.SetNestedStringSlice(u.Object, append(has, string(corev1.FinalizerKubernetes)), "spec", "finalizers")
	}
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[corev1.LabelMetadataName] = u.GetName()
	u.SetLabels(labels)
}

// immortal reports whether it is a namespace that is never deleted
// (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func (k kind) immortal(name string) bool {
	return k.is("namespaces") && slices.Contains([]string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic}, name)
}

// inhabited reports whether a namespace has to be emptied before it can go.
func inhabited(u unstructured.Unstructured) bool {
	has, _, _ := unstructured.NestedSlice(u.Object, "spec", "finalizers")
	return len(has) > 0
}

// endNamespace marks a namespace as terminating. It goes with the last of its
// finalizers (Delete of kubernetes/pkg/registry/core/namespace/storage/storage.go).
func (w *write) endNamespace(o *object, opts metav1.DeleteOptions) (pending bool, err error) {
	if err := w.precede(o, opts.Preconditions); err != nil {
		return false, err
	}
	if o.GetDeletionTimestamp() != nil {
		return inhabited(o.Unstructured) || len(o.GetFinalizers()) > 0, nil
	}
	now := w.now()
	o.SetDeletionTimestamp(&now)
	o.SetFinalizers(w.kind.finalizers(o, opts))
	return true, unstructured.SetNestedField(o.Object, string(corev1.NamespaceTerminating), "status", "phase")
}

// precede checks the preconditions of what ends in steps of its own: namespaces and definitions.
func (w *write) precede(o *object, p *metav1.Preconditions) error {
	unmet := func(what, wanted, found string) error {
		return apierrors.NewConflict(w.kind.groupResource(), w.Name,
			fmt.Errorf("Precondition failed: %s in precondition: %s, %s in object meta: %s", what, wanted, what, found))
	}
	switch {
	case p == nil:
		return nil
	case p.UID != nil && *p.UID != o.GetUID():
		return unmet("UID", string(*p.UID), string(o.GetUID()))
	case p.ResourceVersion != nil && *p.ResourceVersion != o.GetResourceVersion():
		return unmet("ResourceVersion", *p.ResourceVersion, o.GetResourceVersion())
	}
	return nil
}

// finalize is what may be changed of a namespace at its end: its own finalizers,
// those in its spec (namespaceFinalizeStrategy).
func (w *write) finalize() view {
	return view{
		kind: w.kind, shown: same, merged: sentOne,
		prepare: func(u unstructured.Unstructured, live *object) { take(u, live.Unstructured, "status") },
		check:   func(unstructured.Unstructured, *object) field.ErrorList { return nil },
	}
}

// terminating is 403 for what is created in a namespace that is at its end
// (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func (w *write) terminating(name string) error {
	err := apierrors.NewForbidden(schema.GroupResource{Group: w.kind.Group, Resource: w.kind.Resource.Resource}, name,
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", w.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", w.Namespace), Field: "metadata.namespace",
	})
	return err
}
