package writes

import (
	"encoding/hex"
	stdjson "encoding/json"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/nodesim/nodesim/internal/apischeme"
)

// The two ways in which a server reads JSON: with an eye on unknown and
// repeated fields, and without.
var (
	strict  = sync.OnceValue(func() *json.Serializer { return reads(true) })
	lenient = sync.OnceValue(func() *json.Serializer { return reads(false) })
)

func reads(strictly bool) *json.Serializer {
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, apischeme.Scheme(), apischeme.Scheme(), json.SerializerOptions{Strict: strictly})
}

// lax reports whether unknown fields don't matter, and firm whether they are an
// error; by default a server warns.
func (w *write) lax() bool  { return w.Options.FieldValidation == metav1.FieldValidationIgnore }
func (w *write) firm() bool { return w.Options.FieldValidation == metav1.FieldValidationStrict }

func (w *write) warn(errs []error) {
	for _, err := range errs {
		w.warnings = append(w.warnings, err.Error())
	}
}

// decode reads the object in the body of a create or update
// (k8s.io/apiserver/pkg/endpoints/handlers/create.go and update.go).
func (w *write) decode(k kind) (unstructured.Unstructured, error) {
	if !k.builtIn {
		return w.decodeCustom(k)
	}
	if k.isDefinition() {
		sent := map[string]any{}
		if kjson.UnmarshalCaseSensitivePreserveInts(w.Body, &sent) == nil { // what can't be read is refused below
			if err := k.bounded(sent); err != nil {
				return unstructured.Unstructured{}, err
			}
		}
	}
	s := strict
	if w.lax() {
		s = lenient
	}
	wanted := k.gvk()
	obj, gvk, err := s().Decode(w.Body, &wanted, nil)
	if err != nil {
		strictErr, isStrict := runtime.AsStrictDecodingError(err)
		if !isStrict || obj == nil || w.firm() {
			return unstructured.Unstructured{}, w.undecodable(k, gvk, err)
		}
		w.warn(strictErr.Errors())
	}
	if *gvk != wanted {
		if gvk.Kind != wanted.Kind {
			return unstructured.Unstructured{}, w.undecodable(k, gvk,
				fmt.Errorf("converting (%s.%s) to (%s): unknown conversion", gvk.Version, gvk.Kind, k.inner()))
		}
		return unstructured.Unstructured{}, wrongVersion(gvk.GroupVersion(), wanted.GroupVersion())
	}
	fillIn(obj)
	return k.untyped(obj)
}

// decodeCustom reads a custom resource, of whose fields its definition knows.
func (w *write) decodeCustom(k kind) (unstructured.Unstructured, error) {
	u := unstructured.Unstructured{}
	said, err := json.DefaultMetaFactory.Interpret(w.Body)
	if err != nil {
		return u, w.undecodable(k, nil, err)
	}
	if said.Kind == "" {
		return u, w.undecodable(k, nil, runtime.NewMissingKindErr(string(w.Body)))
	}
	strictErrs, err := kjson.UnmarshalStrict(w.Body, &u.Object)
	if err != nil || u.Object == nil {
		if err == nil {
			err = fmt.Errorf("an object is wanted")
		}
		return u, w.undecodable(k, nil, err)
	}
	gvk := u.GroupVersionKind()
	if gvk == k.gvk() {
		strictErrs = append(strictErrs, k.known(u)...)
	}
	if len(strictErrs) > 0 && !w.lax() {
		if w.firm() {
			return u, w.undecodable(k, &gvk, runtime.NewStrictDecodingError(strictErrs))
		}
		w.warn(strictErrs)
	}
	if gvk.GroupVersion() != k.gvk().GroupVersion() {
		return u, wrongVersion(gvk.GroupVersion(), k.gvk().GroupVersion())
	}
	if err := k.itself(u); err != nil {
		return u, err
	}
	if err := readable(u); err != nil {
		return u, w.undecodable(k, &gvk, err)
	}
	return u, nil
}

// known drops what a custom resource's schema doesn't know, and returns what that was.
func (k kind) known(u unstructured.Unstructured) (strictErrs []error) {
	if k.version == nil {
		return nil
	}
	for _, path := range k.version.Prune(u.Object) {
		strictErrs = append(strictErrs, fmt.Errorf("unknown field %q", path))
	}
	k.version.Default(u.Object)
	return strictErrs
}

// itself reports whether a custom resource is of its own kind.
func (k kind) itself(u unstructured.Unstructured) error {
	var errs field.ErrorList
	gvk := u.GroupVersionKind()
	if gvk.GroupVersion() != k.gvk().GroupVersion() {
		errs = append(errs, field.Invalid(field.NewPath("apiVersion"), u.GetAPIVersion(), "must be "+k.APIVersion()))
	}
	if gvk.Kind != k.Kind {
		errs = append(errs, field.Invalid(field.NewPath("kind"), gvk.Kind, "must be "+k.Kind))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(gvk.GroupKind(), u.GetName(), errs)
}

// readable reports whether the metadata can be read as what it is.
func readable(u unstructured.Unstructured) error {
	m, err := stdjson.Marshal(u.Object["metadata"])
	if err != nil {
		return err
	}
	return stdjson.Unmarshal(m, &metav1.ObjectMeta{})
}

func wrongVersion(got, want schema.GroupVersion) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", got, want))
}

// undecodable is transformDecodeError of handlers/rest.go.
func (w *write) undecodable(k kind, gvk *schema.GroupVersionKind, err error) error {
	if gvk != nil && gvk.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, k.Kind, inServer(err)))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", k.Kind, inServer(err), summary(w.Body, 30)))
}

// inServer spells a message as a server does, whose scheme has another name.
func inServer(err error) string {
	return strings.ReplaceAll(err.Error(), fmt.Sprintf("in scheme %q", apischeme.Scheme().Name()), `in scheme "pkg/api/legacyscheme/scheme.go:30"`)
}

// summary is summarizeData of handlers/rest.go.
func summary(data []byte, longest int) string {
	var s string
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{':
		s = string(data[:min(longest, len(data))])
	default:
		s = hex.EncodeToString(data[:min(longest, len(data))])
	}
	if len(data) > longest {
		s += " ..."
	}
	return s
}
