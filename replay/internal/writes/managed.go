package writes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/replay/internal/crd"
)

// own keeps track of which client set which field of an object that is written, as
// k8s.io/apiserver/pkg/endpoints/handlers does before anything else changes the object; live is nil
// where it is new. What actors write is nobody's.
func (w *write) own(u unstructured.Unstructured, live *object) (unstructured.Unstructured, error) {
	if !w.keeps() {
		return u, nil
	}
	var before []metav1.ManagedFieldsEntry
	was := &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.kind.APIVersion(), "kind": w.kind.Kind}}
	if live != nil {
		was, before = live.DeepCopy(), live.GetManagedFields()
	}
	if w.Verb != Patch || w.PatchType != types.ApplyYAMLPatchType || w.Subresource == "scale" {
		if err := wide(u.Object); err != nil {
			return u, err
		}
		m, err := w.manager()
		if err != nil {
			return u, err
		}
		u = unstructured.Unstructured{Object: maps.Clone(u.Object)}
		if of, is := u.Object["metadata"].(map[string]any); is {
			u.Object["metadata"] = maps.Clone(of)
		}
		if _, err := m.Update(was, &u, w.clientName()); err != nil {
			u.SetManagedFields(before) // the object isn't of its schema: what it is validated by says so
		}
	}
	u.SetManagedFields(w.stamped(u.GetManagedFields(), before))
	return u, nil
}

// mostMembers bounds the members of a map whose owners are kept: structured-merge-diff sorts them by insertion. An object with more can't be
// stored with its owners in 1.5 MiB.
const mostMembers = 50_000

// wide refuses an object with a map of more members than mostMembers.
func wide(object map[string]any) error {
	if n := widest(object); n > mostMembers {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The object has a map of %d members, and their owners are kept of %d at most", n, mostMembers))
	}
	return nil
}

// widest is how many members the largest map in a value has.
func widest(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		n = len(v)
		for _, of := range v {
			n = max(n, widest(of))
		}
	case []any:
		for _, of := range v {
			n = max(n, widest(of))
		}
	}
	return n
}

// stamped has the entries that a write has changed say the cluster's time, in a server's order
// (k8s.io/apimachinery/pkg/util/managedfields/internal/managedfields.go).
func (w *write) stamped(entries, before []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	now := w.now()
	for i := range entries {
		e := &entries[i]
		same := slices.ContainsFunc(before, func(b metav1.ManagedFieldsEntry) bool { return compareManagers(*e, b) == 0 && e.Time.Equal(b.Time) })
		switch {
		case same:
		case e.Subresource == "scale":
			e.Time = nil // as a server has it
		default:
			e.Time = &now
		}
	}
	second := func(e metav1.ManagedFieldsEntry) int64 {
		if e.Time == nil {
			return 0
		}
		return e.Time.Unix()
	}
	slices.SortFunc(entries, func(a, b metav1.ManagedFieldsEntry) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(second(a), second(b)), compareManagers(a, b))
	})
	return entries
}

func compareManagers(a, b metav1.ManagedFieldsEntry) int {
	return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
}

// sameOwners reports whether the same managers own the same fields, whenever that was
// (k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager/equality.go).
func sameOwners(a, b []metav1.ManagedFieldsEntry) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.ManagedFieldsEntry) bool {
		return compareManagers(a, b) == 0 && (a.FieldsV1 == nil) == (b.FieldsV1 == nil) && (a.FieldsV1 == nil || a.FieldsV1.String() == b.FieldsV1.String())
	})
}

// clientName is the manager of a write that names none (prefixFromUserAgent of
// k8s.io/apiserver/pkg/endpoints/handlers/create.go).
func (w *write) clientName() string {
	if w.Options.FieldManager != "" {
		return w.Options.FieldManager
	}
	first, _, _ := strings.Cut(w.UserAgent, "/")
	var name strings.Builder
	for _, r := range first {
		if !unicode.IsPrint(r) {
			continue
		}
		if name.Len()+utf8.RuneLen(r) > validation.FieldManagerMaxLength {
			break
		}
		name.WriteRune(r)
	}
	return name.String()
}

// manager makes what works out the owners of fields of the write's kind, as its path sees them.
func (w *write) manager() (*managedfields.FieldManager, error) {
	k := w.kind
	reset := fieldpath.NewSet()
	switch {
	case w.Subresource == "status":
		reset.Insert(fieldpath.MakePathOrDie("spec"))
		if !k.builtIn {
			reset.Insert(fieldpath.MakePathOrDie("metadata"))
		} else if k.Group == "apps" {
			reset.Insert(fieldpath.MakePathOrDie("metadata", "labels"))
		}
	case k.hasStatus():
		reset.Insert(fieldpath.MakePathOrDie("status"))
	}
	var filters map[fieldpath.APIVersion]fieldpath.Filter
	if !reset.Empty() {
		filters = fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(k.APIVersion()): reset})
	}
	converter, err := w.handler.types(k)
	if err != nil {
		return nil, err
	}
	if k.builtIn {
		return managedfields.NewDefaultFieldManager(converter, versions{k}, versions{k}, versions{k}, k.gvk(), k.gvk().GroupVersion(), w.Subresource, filters)
	}
	return managedfields.NewDefaultCRDFieldManager(converter, versions{k}, versions{k}, versions{k}, k.gvk(), k.gvk().GroupVersion(), w.Subresource, filters)
}

// versions converts objects of a kind between its versions, which show the same fields, and fills in nothing: objects come with
// their defaults.
type versions struct{ kind }

func (v versions) Default(runtime.Object) {}

func (v versions) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (v versions) Convert(any, any, any) error { return errors.New("one object isn't made of another") }

func (v versions) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", errors.New("fields aren't selected here")
}

func (v versions) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	is := in.GetObjectKind().GroupVersionKind()
	wanted, ok := to.KindForGroupVersionKinds([]schema.GroupVersionKind{is})
	switch {
	case ok && wanted == is:
		return in, nil
	case !ok || v.builtIn && !apischeme.Scheme().Recognizes(wanted) || v.definition != nil && v.definition.Version(wanted.Version) == nil:
		return nil, runtime.NewNotRegisteredErrForTarget("", nil, to)
	}
	out := in.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(wanted)
	return out, nil
}

// types knows the lists and maps of a kind: of built-in ones client-go's schemas, of custom ones those of their
// definition. What has none, a definition itself among them, shows by itself what it is, and its lists are replaced whole.
func (d *Handler) types(k kind) (managedfields.TypeConverter, error) {
	switch {
	case k.builtIn && !k.isDefinition():
		return schemas(), nil
	case k.definition == nil:
		return deduced(), nil
	}
	if known := d.converters[k.definition]; known != nil {
		return known, nil
	}
	made, err := typesOf(k.definition)
	if err != nil {
		return nil, err
	}
	if d.converters == nil {
		d.converters = map[*crd.Definition]managedfields.TypeConverter{}
	}
	d.converters[k.definition] = made
	return made, nil
}

// objectMeta is the schema of metadata (io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta of a server's OpenAPI).
const objectMeta = `{"type":"object","properties":{"name":{"type":"string"},"generateName":{"type":"string"},"namespace":{"type":"string"},
"selfLink":{"type":"string"},"uid":{"type":"string"},"resourceVersion":{"type":"string"},"generation":{"type":"integer"},
"creationTimestamp":{"type":"string"},"deletionTimestamp":{"type":"string"},"deletionGracePeriodSeconds":{"type":"integer"},
"labels":{"type":"object","additionalProperties":{"type":"string"}},"annotations":{"type":"object","additionalProperties":{"type":"string"}},
"finalizers":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
"managedFields":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},
"ownerReferences":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["uid"],"items":{"type":"object","x-kubernetes-map-type":"atomic",
"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"name":{"type":"string"},"uid":{"type":"string"},"controller":{"type":"boolean"},
"blockOwnerDeletion":{"type":"boolean"}}}}}}`

// metaModel names that schema. It is referred to, since what is within a schema that keeps unknown fields keeps them too.
const metaModel = "ObjectMeta"

// described adds to the schema of a resource what every object has, and to those of the resources that are in it
// (k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder).
func described(s *spec.Schema, whole bool) {
	embedded, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource")
	for name, of := range s.Properties {
		described(&of, false)
		s.Properties[name] = of
	}
	if s.Items != nil && s.Items.Schema != nil {
		described(s.Items.Schema, false)
	}
	if more := s.AdditionalProperties; more != nil && more.Schema != nil {
		described(more.Schema, false)
	}
	if !whole && !embedded {
		return
	}
	if s.Properties == nil {
		s.Properties = map[string]spec.Schema{}
	}
	text := spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"string"}}}
	meta := spec.Schema{SchemaProps: spec.SchemaProps{Ref: spec.MustCreateRef("#/components/schemas/" + metaModel)}}
	s.Properties["apiVersion"], s.Properties["kind"], s.Properties["metadata"] = text, text, meta
}

// typesOf makes the schemas of a definition's versions.
func typesOf(d *crd.Definition) (managedfields.TypeConverter, error) {
	meta := &spec.Schema{}
	if err := json.Unmarshal([]byte(objectMeta), meta); err != nil {
		return nil, err
	}
	models := map[string]*spec.Schema{metaModel: meta}
	for _, v := range d.Spec.Versions {
		s := &spec.Schema{}
		s.Type = spec.StringOrArray{"object"}
		if v.Schema != nil {
			raw, err := json.Marshal(v.Schema.OpenAPIV3Schema)
			if err == nil {
				err = json.Unmarshal(raw, s)
			}
			if err != nil {
				return nil, err
			}
		}
		described(s, true)
		s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": d.Spec.Group, "version": v.Name, "kind": d.Spec.Names.Kind}})
		models[v.Name] = s
	}
	return managedfields.NewTypeConverter(models, d.Spec.PreserveUnknownFields)
}
