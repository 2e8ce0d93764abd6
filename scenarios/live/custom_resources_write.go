package live

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/scenarios"
)

// create makes an object, or adopts the one that an earlier live run has left. What the server would prune, it
// refuses.
func (c *customResources) create(ctx context.Context, kind scenarios.CustomKind, one *customResource, is *unstructured.Unstructured) error {
	o := is.DeepCopy()
	delete(o.Object, "status")
	o.SetLabels(withLabel(o.GetLabels(), c.label))
	o.SetOwnerReferences(c.owners(o))
	have, err := c.of(kind, o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict})
	if apierrors.IsAlreadyExists(err) {
		have, err = c.takeOver(ctx, kind, o)
	}
	if err == nil {
		one.done(have.GetUID())
	}
	return err
}

// takeOver makes the object that is there what it is to be.
func (c *customResources) takeOver(ctx context.Context, kind scenarios.CustomKind, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client := c.of(kind, o.GetNamespace())
	have, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) { // it has just gone
			return nil, apierrors.NewServiceUnavailable(err.Error())
		}
		return nil, err
	}
	if have.GetLabels()[Label] != c.label {
		return nil, foreign(kind.GroupResource(), o.GetName(), c.label)
	}
	if have.GetDeletionTimestamp() != nil && len(have.GetFinalizers()) == 0 {
		return nil, apierrors.NewServiceUnavailable(o.GetName() + " is still being deleted")
	}
	meta := map[string]any{"uid": string(have.GetUID()), "labels": o.GetLabels(), "annotations": o.GetAnnotations(), "ownerReferences": o.GetOwnerReferences()}
	if have.GetDeletionTimestamp() == nil { // which forbids new finalizers
		meta["finalizers"] = o.GetFinalizers()
	}
	took, err := c.merge(ctx, kind, o, map[string]any{"metadata": meta})
	if err != nil && c.replaced(ctx, kind, o, have.GetUID(), err) == nil { // it goes just now
		return nil, apierrors.NewServiceUnavailable(err.Error())
	}
	return took, err
}

// status writes the whole status, by its subresource.
func (c *customResources) status(ctx context.Context, kind scenarios.CustomKind, is *unstructured.Unstructured) error {
	uid := c.uid(keyOf(kind, is.GetNamespace(), is.GetName()))
	fields, _ := is.DeepCopy().Object["status"].(map[string]any)
	if len(fields) == 0 {
		return nil
	}
	if ref, ok := fields["nodeRef"].(map[string]any); ok {
		name, _ := ref["name"].(string)
		node, err := c.kubelets.standing(ctx, name)
		if err != nil {
			return err
		}
		if ref["uid"] = string(node); node == "" {
			delete(ref, "uid")
		}
	}
	body := map[string]any{"status": fields}
	if uid != "" {
		body["metadata"] = map[string]any{"uid": string(uid)}
	}
	_, err := c.merge(ctx, kind, is, body, "status")
	return c.replaced(ctx, kind, is, uid, err)
}

// patch writes what of the metadata and of the spec has changed. Finalizers of
// others stay.
func (c *customResources) patch(ctx context.Context, kind scenarios.CustomKind, old, is *unstructured.Unstructured) error {
	meta := map[string]any{}
	if d := changed(old.GetLabels(), is.GetLabels()); len(d) > 0 {
		meta["labels"] = d
	}
	if d := changed(old.GetAnnotations(), is.GetAnnotations()); len(d) > 0 {
		meta["annotations"] = d
	}
	if !slices.Equal(old.GetFinalizers(), is.GetFinalizers()) {
		have, err := c.of(kind, is.GetNamespace()).Get(ctx, is.GetName(), metav1.GetOptions{})
		if err != nil {
			return gone(err)
		}
		meta["finalizers"] = append(slices.DeleteFunc(have.GetFinalizers(), func(f string) bool {
			return slices.Contains(old.GetFinalizers(), f)
		}), is.GetFinalizers()...)
		meta["resourceVersion"] = have.GetResourceVersion()
	}
	body := map[string]any{}
	if !reflect.DeepEqual(old.Object["spec"], is.Object["spec"]) {
		body["spec"] = is.Object["spec"]
	}
	if len(meta)+len(body) == 0 {
		return nil
	}
	uid := c.uid(keyOf(kind, is.GetNamespace(), is.GetName()))
	if uid != "" {
		meta["uid"] = string(uid)
	}
	body["metadata"] = meta
	_, err := c.merge(ctx, kind, is, body)
	return c.replaced(ctx, kind, is, uid, err)
}

func (c *customResources) merge(ctx context.Context, kind scenarios.CustomKind, o *unstructured.Unstructured, body map[string]any, sub ...string) (*unstructured.Unstructured, error) {
	patch, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.of(kind, o.GetNamespace()).Patch(ctx, o.GetName(), types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict}, sub...)
}

// replaced drops the error of a patch for the object of that UID, which is gone, or
// another one by now.
func (c *customResources) replaced(ctx context.Context, kind scenarios.CustomKind, o *unstructured.Unstructured, uid types.UID, err error) error {
	return replaced(err, uid, func() (*unstructured.Unstructured, error) {
		return c.of(kind, o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
	})
}

// owners are the owner references of an object with the UIDs of the server. Owners that aren't on the server are left
// out: the garbage collector removes what has one that isn't there. See [customResources.awaitOwners].
func (c *customResources) owners(o metav1.Object) (out []metav1.OwnerReference) {
	for _, ref := range o.GetOwnerReferences() {
		owner := c.find(ref.APIVersion, ref.Kind, o.GetNamespace(), ref.Name)
		if owner == nil {
			continue
		}
		if uid := owner.standing(); uid != "" {
			ref.UID = uid
			out = append(out, ref)
		}
	}
	return out
}

// changed returns the merge patch that leads from one map to another.
func changed(old, is map[string]string) map[string]any {
	d := map[string]any{}
	for k, v := range is {
		if was, had := old[k]; !had || was != v {
			d[k] = v
		}
	}
	for k := range old {
		if _, has := is[k]; !has {
			d[k] = nil
		}
	}
	return d
}
