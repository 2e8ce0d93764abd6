package writes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// longestPrefix bounds how much of a generateName is used
// (k8s.io/apiserver/pkg/storage/names/generate.go).
const longestPrefix = 58

// settle gives the object the namespace of the request, or says that it has
// another (EnsureObjectNamespaceMatchesRequestNamespace of
// k8s.io/apiserver/pkg/registry/rest/meta.go).
func (w *write) settle(m metav1.Object) error {
	wanted := w.Namespace
	if w.kind.is("namespaces") {
		wanted = ""
	}
	switch has := m.GetNamespace(); {
	case has == wanted:
	case has == "" || wanted == "":
		m.SetNamespace(wanted)
	default:
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// match reports whether object and URL have one name (checkName of
// k8s.io/apiserver/pkg/endpoints/handlers/rest.go).
func (w *write) match(m metav1.Object) error {
	if m.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", w.Name))
	}
	if m.GetName() != w.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", m.GetName(), w.Name))
	}
	return nil
}

// wipe clears what a client doesn't decide.
func wipe(m metav1.Object) {
	m.SetCreationTimestamp(metav1.Time{})
	m.SetUID("")
	m.SetDeletionTimestamp(nil)
	m.SetDeletionGracePeriodSeconds(nil)
	m.SetSelfLink("")
}

// generate makes a name from a prefix: the number of names made so far, in five
// digits, where a server takes five random letters. What is alive
// is stepped over.
func (w *write) generate(prefix string) string {
	prefix = prefix[:min(len(prefix), longestPrefix)]
	for {
		w.handler.named++
		name := fmt.Sprintf("%s%05d", prefix, w.handler.named)
		if !w.kind.onTape {
			return name
		}
		if o, _, _ := w.handler.cluster.GetUnfaulted(w.Resource, w.Namespace, name); o == nil {
			return name
		}
	}
}

// uid makes a UID of what the object is called and of how many were made
// before: version 5 of RFC 9562, where a server takes a random one.
func (w *write) uid(name string) types.UID {
	w.handler.created++
	what := fmt.Sprintf("%s/%s/%s/%s#%d", w.handler.header.Metadata.Name, w.kind.Resource, w.Namespace, name, w.handler.created)
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(what)).String())
}

// dedup drops owner references that are there twice, with a warning
// (dedupOwnerReferencesAndAddWarning of handlers/rest.go). after is when it is
// noticed after admission, as it is of a patch.
func (w *write) dedup(u unstructured.Unstructured, after bool) {
	var kept []metav1.OwnerReference
	var twice []string
	seen := map[ownerReference]bool{}
	for _, ref := range u.GetOwnerReferences() {
		if is := valueOf(ref); seen[is] {
			twice = append(twice, string(ref.UID))
		} else {
			seen[is] = true
			kept = append(kept, ref)
		}
	}
	if len(twice) == 0 {
		return
	}
	u.SetOwnerReferences(kept)
	when := "duplicate entries"
	if after {
		when = "duplicate entries after mutating admission happens"
	}
	w.warnings = append(w.warnings, fmt.Sprintf(".metadata.ownerReferences contains %s; API server dedups owner references in 1.20+, "+
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %v", when, strings.Join(twice, ", ")))
}

// ownerReference is an owner reference whose optional members are values, so that
// two of them are equal where equality.Semantic.DeepEqual says so.
type ownerReference struct {
	metav1.OwnerReference
	controller, blocks optional
}

type optional struct{ set, value bool }

func valueOf(ref metav1.OwnerReference) ownerReference {
	of := func(b *bool) optional { return optional{b != nil, b != nil && *b} }
	v := ownerReference{ref, of(ref.Controller), of(ref.BlockOwnerDeletion)}
	v.Controller, v.BlockOwnerDeletion = nil, nil
	return v
}

// standardFinalizers need no domain (validateKubeFinalizerName of
// kubernetes/pkg/apis/core/validation/validation.go).
var standardFinalizers = []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}

// warnFinalizers warns of new finalizers without a domain, as a server does of
// custom resources; those of other kinds are refused.
func (w *write) warnFinalizers(u unstructured.Unstructured, old []string) {
	known := sets.New(old...)
	for _, f := range u.GetFinalizers() {
		if !w.kind.builtIn && !strings.Contains(f, "/") && !slices.Contains(standardFinalizers, f) && !known.Has(f) {
			w.warnings = append(w.warnings, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers", f))
		}
	}
}

// checkMeta validates metadata; old is nil for a new object.
func (k kind) checkMeta(u unstructured.Unstructured, old *object) field.ErrorList {
	p := field.NewPath("metadata")
	name := apivalidation.NameIsDNSSubdomain
	if k.isBudget() || k.Group == "rbac.authorization.k8s.io" || old != nil {
		name = path.ValidatePathSegmentName // it only has to fit into a path
	}
	if k.is("services") && old == nil {
		name = apivalidation.NameIsDNS1035Label
	}
	if k.is("namespaces") && old == nil {
		name = apivalidation.ValidateNamespaceName
	}
	errs := apivalidation.ValidateObjectMetaAccessor(&u, k.Namespaced, name, p)
	if k.builtIn && (old == nil || k.isPod() || k.isNode()) && !k.isBudget() && k.Group != "coordination.k8s.io" {
		for i, f := range u.GetFinalizers() {
			if !strings.Contains(f, "/") && !slices.Contains(standardFinalizers, f) {
				errs = append(errs, field.Invalid(p.Child("finalizers").Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
			}
		}
	}
	if old != nil {
		errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(&u, old, p)...)
	}
	return unique(errs)
}

// unique drops the errors that say the same again, as api/errors.NewInvalid's
// readers would otherwise see them: kinds validate their metadata twice.
func unique(errs field.ErrorList) field.ErrorList {
	seen := sets.New[string]()
	var kept field.ErrorList
	for _, e := range errs {
		if !seen.Has(e.Error()) {
			seen.Insert(e.Error())
			kept = append(kept, e)
		}
	}
	return kept
}
