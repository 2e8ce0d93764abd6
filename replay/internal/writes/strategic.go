package writes

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/nodesim/nodesim/internal/apischeme"
)

// mostMerged bounds how many list items of a strategic merge patch are compared with
// those of the object and with each other: apimachinery looks for each one in the
// whole list. 2,000 × 2,000 take about a second.
const mostMerged = 4_000_000

// items counts the items of all lists in a value.
func items(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, of := range v {
			n += items(of)
		}
	case []any:
		for _, of := range v {
			n += 1 + items(of)
		}
	}
	return n
}

// strategic applies a strategic merge patch (strategicPatchObject and
// applyPatchToObject of k8s.io/apiserver/pkg/endpoints/handlers/patch.go).
func (w *write) strategic(k kind, u unstructured.Unstructured) (unstructured.Unstructured, error) {
	obj, err := apischeme.Scheme().New(k.gvk())
	if err != nil {
		return u, err
	}
	patch := map[string]any{}
	strictErrs, err := kjson.UnmarshalStrict(w.Body, &patch)
	if err != nil {
		return u, apierrors.NewBadRequest(err.Error())
	}
	if sent, has := items(patch), items(u.Object); sent > mostMerged/max(1, sent+has) {
		return u, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The strategic merge patch has %d list items, and the object %d: they are compared with each other, at most %d times", sent, has, mostMerged))
	}
	content, err := strategicpatch.StrategicMergeMapPatch(u.Object, patch, obj)
	if err != nil {
		return u, unmerged(err)
	}
	if err := k.bounded(content); err != nil {
		return u, err
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, obj, true)
	unknownErr, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && !isStrict {
		return u, w.badPatch(patch, err)
	}
	if isStrict {
		strictErrs = append(strictErrs, unknownErr.Errors()...)
	}
	switch {
	case len(strictErrs) == 0 || w.lax():
	case w.firm():
		return u, w.badPatch(patch, runtime.NewStrictDecodingError(strictErrs))
	default:
		w.warn(strictErrs)
	}
	fillIn(obj)
	return k.untyped(obj)
}

func (w *write) badPatch(patch map[string]any, err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), fmt.Sprintf("%+v", patch), err.Error())})
}

// unmerged is interpretStrategicMergePatchError.
func unmerged(err error) error {
	for _, e := range []error{
		mergepatch.ErrBadJSONDoc, mergepatch.ErrBadPatchFormatForPrimitiveList, mergepatch.ErrBadPatchFormatForRetainKeys,
		mergepatch.ErrBadPatchFormatForSetElementOrderList, mergepatch.ErrUnsupportedStrategicMergePatchFormat,
	} {
		if errors.Is(err, e) {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	if errors.Is(err, mergepatch.ErrNoListOfLists) || errors.Is(err, mergepatch.ErrPatchContentNotMatchRetainKeys) {
		return apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return err
}

// unwrapped returns what the decoder said, without what a server puts before it
// where an object is sent whole.
func unwrapped(err error) string {
	_, said, found := strings.Cut(err.Error(), "cannot be handled as a ")
	if !found {
		return err.Error()
	}
	_, said, _ = strings.Cut(said, ": ")
	return said
}
