package writes

import (
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/nodesim/nodesim/timeline"
)

var bindingKind = kind{builtIn: true, Resource: timeline.Resource{Version: "v1", Kind: "Binding", Resource: "bindings", Namespaced: true}}

// bind is BindingREST of kubernetes/pkg/registry/core/pod/storage/storage.go.
func (w *write) bind() (Answer, error) {
	u, err := w.decode(bindingKind)
	if err != nil {
		return Answer{}, err
	}
	if err := w.settle(&u); err != nil {
		return Answer{}, err
	}
	b, err := as[corev1.Binding](u)
	if err != nil {
		return Answer{}, err
	}
	if b.Name != w.Name {
		return Answer{}, apierrors.NewBadRequest("name in URL does not match name in Binding object")
	}
	if err := checkBinding(b); err != nil {
		return Answer{}, err
	}
	live, err := w.live()
	if err != nil {
		return Answer{}, err
	}
	if live != nil {
		if err := w.bindable(b, live); err != nil {
			return Answer{}, err
		}
		if err := w.assign(b, live); err != nil {
			return Answer{}, err
		}
	}
	return status(http.StatusCreated, metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated})
}

// checkBinding is ValidatePodBinding.
func checkBinding(b *corev1.Binding) error {
	var errs field.ErrorList
	if kind := b.Target.Kind; kind != "" && kind != "Node" {
		errs = append(errs, field.NotSupported(field.NewPath("target", "kind"), kind, []string{"Node", "<empty>"}))
	}
	if b.Target.Name == "" {
		errs = append(errs, field.Required(field.NewPath("target", "name"), ""))
	}
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	return nil
}

// bindable is assignPod.
func (w *write) bindable(b *corev1.Binding, live *object) error {
	if b.UID != "" && b.UID != live.GetUID() {
		return w.otherUID(b.UID, live.GetUID())
	}
	if v := b.ResourceVersion; v != "" {
		if was, err := live.wasAt(v); !was || err != nil {
			return w.otherVersion(v, live.GetResourceVersion())
		}
	}
	pod, err := as[corev1.Pod](live.Unstructured)
	if err != nil {
		return err
	}
	var why string
	switch {
	case pod.DeletionTimestamp != nil:
		why = fmt.Sprintf("pod %s is being deleted, cannot be assigned to a host", w.Name)
	case pod.Spec.NodeName != "":
		why = fmt.Sprintf("pod %s is already assigned to node %q", w.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		why = fmt.Sprintf("pod %s has non-empty .spec.schedulingGates", w.Name)
	default:
		return nil
	}
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods/binding"}, w.Name, errors.New(why))
}
