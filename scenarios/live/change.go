package live

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/nodesim/nodesim/scenarios/virtualnode/controller"
)

// patchNode is the strategic merge patch of what a controller changes of a node's
// metadata and spec. Maps, finalizers and the cordon go without a look at the
// server. Taints are a list that a patch replaces as a whole (k8s.io/api/core/v1,
// NodeSpec has no patchStrategy for it), so that they are worked out against live,
// and the patch names live's version. live may be nil where the taints don't
// change. No patch is nil.
func patchNode(old, new, live *corev1.Node) ([]byte, error) {
	was, is := old.DeepCopy(), new.DeepCopy()
	was.Status, is.Status = corev1.NodeStatus{}, corev1.NodeStatus{}
	version := ""
	if taintsDiffer(old, new) {
		if live == nil {
			return nil, fmt.Errorf("node %s: taints change: want the node as it is", new.Name)
		}
		was.Spec.Taints, is.Spec.Taints = live.Spec.Taints, mergeTaints(old.Spec.Taints, new.Spec.Taints, live.Spec.Taints)
		version = live.ResourceVersion
	} else {
		was.Spec.Taints, is.Spec.Taints = nil, nil
	}
	return twoWay(was, is, &corev1.Node{}, new.UID, version)
}

// patchPod is the same of a pod's metadata.
func patchPod(old, new *corev1.Pod) ([]byte, error) {
	was, is := &corev1.Pod{ObjectMeta: *old.ObjectMeta.DeepCopy()}, &corev1.Pod{ObjectMeta: *new.ObjectMeta.DeepCopy()}
	was.OwnerReferences, is.OwnerReferences = nil, nil
	return twoWay(was, is, &corev1.Pod{}, new.UID, "")
}

// twoWay returns the patch between both, bound to the object's UID and version; nil where they are equal.
func twoWay(was, is metav1.Object, kind any, uid types.UID, version string) ([]byte, error) {
	for _, o := range []metav1.Object{was, is} {
		o.SetUID("")
		o.SetResourceVersion("")
		o.SetGeneration(0)
		o.SetManagedFields(nil)
		o.SetCreationTimestamp(metav1.Time{})
		o.SetDeletionTimestamp(nil)
		o.SetDeletionGracePeriodSeconds(nil)
	}
	a, err := json.Marshal(was)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(is)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(a, b, kind)
	if err != nil || string(patch) == "{}" {
		return nil, err
	}
	if uid == "" && version == "" {
		return patch, nil
	}
	var body map[string]any
	if err := json.Unmarshal(patch, &body); err != nil {
		return nil, err
	}
	meta, ok := body["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		body["metadata"] = meta
	}
	if uid != "" {
		meta["uid"] = string(uid)
	}
	if version != "" {
		meta["resourceVersion"] = version
	}
	return json.Marshal(body)
}

func taintsDiffer(old, new *corev1.Node) bool {
	return !slices.EqualFunc(old.Spec.Taints, new.Spec.Taints, func(a, b corev1.Taint) bool {
		return a.MatchTaint(&b) && a.Value == b.Value
	})
}

// mergeTaints does to live what leads from old to new, and leaves alone what is the
// same in both.
func mergeTaints(old, new, live []corev1.Taint) []corev1.Taint {
	merged, _ := controller.MergeTaints(live, lacking(new, old, true), lacking(old, new, false))
	return merged
}

// lacking are the taints that others don't have; where values count, not with the
// same value either.
func lacking(taints, others []corev1.Taint, values bool) (out []corev1.Taint) {
	for _, t := range taints {
		if !slices.ContainsFunc(others, func(o corev1.Taint) bool { return o.MatchTaint(&t) && (!values || o.Value == t.Value) }) {
			out = append(out, t)
		}
	}
	return out
}

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
