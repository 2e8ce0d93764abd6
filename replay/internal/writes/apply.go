package writes

import (
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/nodesim/nodesim/replay/internal/applyschema"
)

// The schemas by which objects are merged: client-go's for built-in kinds, and
// for custom resources what an object itself shows, which replaces lists whole.
var (
	schemas = sync.OnceValue(applyschema.TypeConverter)
	deduced = sync.OnceValue(managedfields.NewDeducedTypeConverter)
)

// apply merges a server-side apply patch as structured-merge-diff does. Where nothing is
// kept nobody knows who owns a field, so that there are no conflicts, and what a
// manager no longer names stays.
func (w *write) apply(k kind, u unstructured.Unstructured) (unstructured.Unstructured, error) {
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(w.Body, &patch.Object); err != nil {
		return u, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if gvk := patch.GroupVersionKind(); gvk != k.gvk() {
		return u, apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %v", gvk))
	}
	if patch.GetManagedFields() != nil {
		return u, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	converter, err := w.handler.types(k)
	if err != nil {
		return u, err
	}
	wanted, err := converter.ObjectToTyped(patch)
	if err != nil {
		return u, fmt.Errorf("failed to create typed patch object (%v/%v; %v): %w", patch.GetNamespace(), patch.GetName(), k.gvk(), err)
	}
	if err := readable(*patch); err != nil {
		return u, apierrors.NewBadRequest(err.Error())
	}
	if w.keeps() && k.Resource == w.kind.Resource {
		return w.applyOwned(k, u, patch)
	}
	live, err := converter.ObjectToTyped(&u, typed.AllowDuplicates)
	if err != nil {
		return u, fmt.Errorf("failed to create typed live object (%v/%v; %v): %w", u.GetNamespace(), u.GetName(), k.gvk(), err)
	}
	merged, err := live.Merge(wanted)
	if err != nil {
		return u, err
	}
	obj, err := converter.TypedToObject(merged)
	if err != nil {
		return u, fmt.Errorf("failed to convert new typed object (%v/%v; %v) to object: %w", patch.GetNamespace(), patch.GetName(), k.gvk(), err)
	}
	return w.applied(k, obj)
}

// applyOwned applies a patch where it is known who owns which field: others' fields are conflicts, unless
// the patch is forced, and what a manager no longer names goes.
func (w *write) applyOwned(k kind, u unstructured.Unstructured, patch *unstructured.Unstructured) (unstructured.Unstructured, error) {
	if err := wide(patch.Object); err != nil {
		return u, err
	}
	m, err := w.manager()
	if err != nil {
		return u, err
	}
	force := w.Options.Force
	obj, err := m.Apply(u.DeepCopy(), patch, w.Options.FieldManager, force != nil && *force)
	if err != nil {
		return u, err
	}
	return w.applied(k, obj)
}

// applied is the object that an apply patch has made.
func (w *write) applied(k kind, obj runtime.Object) (u unstructured.Unstructured, err error) {
	if err := w.repeated(); err != nil {
		return u, err
	}
	if u, is := obj.(*unstructured.Unstructured); is {
		if err := k.bounded(u.Object); err != nil {
			return *u, err
		}
	}
	if made, err := k.typedObject(obj); err == nil {
		fillIn(made)
		return k.untyped(made)
	}
	u, err = k.untyped(obj)
	k.version.Default(u.Object)
	return u, err
}

// repeated says which fields an apply patch has twice.
func (w *write) repeated() error {
	if w.lax() {
		return nil
	}
	err := yaml.UnmarshalStrict(w.Body, &map[string]any{})
	if err != nil && w.firm() {
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding YAML: %v", err))
	}
	if err != nil {
		_, lines, _ := strings.Cut(err.Error(), "yaml: unmarshal errors:\n")
		for line := range strings.Lines(lines) { // parseYAMLWarnings of handlers/rest.go
			w.warnings = append(w.warnings, strings.TrimSpace(line))
		}
	}
	return nil
}
