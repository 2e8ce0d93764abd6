package writes

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/replay"
)

// object is an object as a write sees it: decoded, as the kind's own type would
// hold it. The one on the tape knows since which version it is as it is.
type object struct {
	unstructured.Unstructured
	newest string // version of its resource, not older than its own
}

// parse reads an object of the tape. It is the caller's own.
func (k kind) parse(o *replay.Object, newest string) (*object, error) {
	content := map[string]any{}
	if err := utiljson.Unmarshal(o.Raw(), &content); err != nil {
		return nil, fmt.Errorf("object %s/%s on the tape: %w", o.Namespace(), o.Name(), err)
	}
	u := unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(k.gvk())
	if k.definition != nil && !k.definition.Plain() {
		k.definition.View(content, k.Version)
	}
	u, err := k.normal(u)
	if err != nil {
		return nil, fmt.Errorf("object %s/%s on the tape: %w", o.Namespace(), o.Name(), err)
	}
	return &object{u, newest}, nil
}

// normal is an object as its Go type holds it: what the type doesn't know is
// dropped, quantities and times are spelt as the server spells them.
func (k kind) normal(u unstructured.Unstructured) (unstructured.Unstructured, error) {
	if !k.builtIn {
		return u, nil
	}
	obj, err := k.typed(u)
	if err != nil {
		return u, err
	}
	return k.untyped(obj)
}

// typedObject is an object as its Go type, or an error where apischeme has none.
func (k kind) typedObject(obj runtime.Object) (runtime.Object, error) {
	if !k.builtIn {
		return nil, runtime.NewNotRegisteredErrForKind("", k.gvk())
	}
	u, err := k.untyped(obj)
	if err != nil {
		return nil, err
	}
	return k.typed(u)
}

// typed is the object as its Go type, for rules that are about fields.
func (k kind) typed(u unstructured.Unstructured) (runtime.Object, error) {
	obj, err := apischeme.Scheme().New(k.gvk())
	if err != nil {
		return nil, err
	}
	return obj, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj)
}

func (k kind) untyped(obj runtime.Object) (unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	u := unstructured.Unstructured{Object: content}
	if err == nil {
		u.SetGroupVersionKind(k.gvk())
	}
	return u, err
}

// as is the object as a Go type that the caller knows.
func as[T any](u unstructured.Unstructured) (*T, error) {
	t := new(T)
	return t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, t)
}

// answer makes the answer that shows an object. Where nothing is kept no manager owns
// fields, so it names no managers.
func (w *write) answer(code int, u unstructured.Unstructured) (Answer, error) {
	if !w.keeps() {
		u.SetManagedFields(nil)
	}
	raw, err := json.Marshal(u.Object)
	return Answer{Code: code, Object: raw}, err
}

// status makes the answer that is a Status.
func status(code int, s metav1.Status) (Answer, error) {
	s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	raw, err := json.Marshal(s)
	return Answer{Code: code, Object: raw}, err
}

// part is one top-level member, such as "spec".
func part(u unstructured.Unstructured, name string) (any, bool) {
	v, ok := u.Object[name]
	return v, ok
}

// take gives one object a member of another, or removes it where that has none.
func take(to, from unstructured.Unstructured, name string) {
	if v, ok := part(from, name); ok {
		to.Object[name] = runtime.DeepCopyJSONValue(v)
	} else {
		delete(to.Object, name)
	}
}
