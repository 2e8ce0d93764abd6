package writes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// mostOperations is the number of operations a JSON patch may have.
const mostOperations = 10000

// mostCopied is what the copies in one JSON patch may add, in bytes: each could double
// the object. A server sets it the same way (JSONPatchMaxCopyBytes of
// k8s.io/apiserver/pkg/server/config.go), for the whole program.
const mostCopied = 3 << 20

func limitCopies() { atomic.CompareAndSwapInt64(&jsonpatch.AccumulatedCopySizeLimit, 0, mostCopied) }

// patch is PatchResource of k8s.io/apiserver/pkg/endpoints/handlers/patch.go.
func (w *write) patch(v view) (Answer, error) {
	live, err := w.live()
	absent := apierrors.IsNotFound(err)
	if absent && w.PatchType == types.ApplyYAMLPatchType && v.creates {
		live, err = w.bare(), nil
	}
	if err != nil {
		return Answer{}, err
	}
	blind := live == nil
	if blind {
		live = w.bare()
	}
	seen, err := v.shown(*live.DeepCopy())
	if err != nil {
		return Answer{}, err
	}
	sent, err := w.patched(v.kind, seen)
	if err != nil {
		return Answer{}, err
	}
	w.fill(v.kind, sent)
	if absent && sent.GetUID() != "" {
		return Answer{}, apierrors.NewConflict(w.kind.groupResource(), w.Name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", sent.GetUID()))
	}
	if err := w.settle(&sent); err != nil {
		return Answer{}, err
	}
	if err := w.match(&sent); err != nil {
		return Answer{}, err
	}
	w.dedup(sent, true)
	switch {
	case absent:
		return w.make(sent)
	case blind:
		return w.blind(v, sent)
	}
	return w.store(v, sent, live)
}

// bare returns what a patch starts from where nothing is known of the object.
func (w *write) bare() *object {
	u := unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(w.kind.gvk())
	u.SetName(w.Name)
	u.SetNamespace(w.Namespace)
	return &object{Unstructured: u}
}

// patched is the object that the patch makes of one, as a server reads it.
func (w *write) patched(k kind, u unstructured.Unstructured) (unstructured.Unstructured, error) {
	switch w.PatchType {
	case types.StrategicMergePatchType:
		return w.strategic(k, u)
	case types.ApplyYAMLPatchType:
		return w.apply(k, u)
	}
	doc, err := json.Marshal(u.Object)
	if err != nil {
		return u, err
	}
	strictErrs, doc, err := w.jsonPatched(doc)
	if err != nil {
		return u, err
	}
	return w.readPatched(k, doc, strictErrs)
}

// jsonPatched applies a JSON or a merge patch; strictErrs are the faults that a strict
// reader finds in the patch itself.
func (w *write) jsonPatched(doc []byte) (strictErrs []error, _ []byte, err error) {
	if w.PatchType == types.MergePatchType {
		if !w.lax() {
			if strictErrs, err = kjson.UnmarshalStrict(w.Body, &map[string]any{}); err != nil {
				return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
			}
		}
		doc, err = jsonpatch.MergePatch(doc, w.Body)
		if errors.Is(err, jsonpatch.ErrBadJSONPatch) {
			err = apierrors.NewBadRequest(err.Error())
		}
		return strictErrs, doc, err
	}
	if !w.lax() {
		if strictErrs, err = kjson.UnmarshalStrict(w.Body, &[]jsonPatchOp{}); err != nil {
			said := strings.ReplaceAll(err.Error(), "writes.jsonPatchOp", "handlers.jsonPatchOp") // the server's name of it
			return nil, nil, apierrors.NewBadRequest("error decoding patch: " + said)
		}
		for i, e := range strictErrs {
			strictErrs[i] = fmt.Errorf("json patch %w", e)
		}
	}
	p, err := jsonpatch.DecodePatch(w.Body)
	if err != nil {
		return nil, nil, apierrors.NewBadRequest(err.Error())
	}
	if len(p) > mostOperations {
		return nil, nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", mostOperations, len(p)))
	}
	for _, op := range p { // which the library doesn't survive (replace in its patch.go), and a server answers with its panic
		_, has := op["value"]
		if path, err := op.Path(); err == nil && path == "" && op.Kind() == "replace" && !has {
			return nil, nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", "replace operation without a value", 0, false)
		}
	}
	if doc, err = p.Apply(doc); err != nil {
		return nil, nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	return strictErrs, doc, nil
}

type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// readPatched reads what a patch has made.
func (w *write) readPatched(k kind, doc []byte, strictErrs []error) (unstructured.Unstructured, error) {
	refused := func(err error) error {
		return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), string(doc), inServer(err))})
	}
	if !k.builtIn {
		u := unstructured.Unstructured{}
		if err := json.Unmarshal(doc, &u.Object); err != nil {
			return u, refused(err)
		}
		if err := k.itself(u); err != nil {
			return u, err
		}
	}
	// It is read as the body of an update is, and reports in its own way.
	in := &write{Request: w.Request, handler: w.handler, kind: k}
	in.Body, in.Options.FieldValidation = doc, ""
	u, err := in.decode(k)
	if err != nil {
		return u, refused(errors.New(unwrapped(err)))
	}
	if w.lax() {
		return u, nil
	}
	for _, s := range in.warnings {
		strictErrs = append(strictErrs, errors.New(s))
	}
	if len(strictErrs) > 0 && w.firm() {
		return u, refused(runtime.NewStrictDecodingError(strictErrs))
	}
	w.warn(strictErrs)
	return u, nil
}
