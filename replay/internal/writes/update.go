package writes

import (
	"net/http"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// update is UpdateResource of k8s.io/apiserver/pkg/endpoints/handlers/update.go.
func (w *write) update(v view) (Answer, error) {
	sent, err := w.decode(v.kind)
	if err != nil {
		return Answer{}, err
	}
	w.fill(v.kind, sent)
	if err := w.settle(&sent); err != nil {
		return Answer{}, err
	}
	if err := w.match(&sent); err != nil {
		return Answer{}, err
	}
	w.dedup(sent, false)
	live, err := w.live()
	if err != nil {
		if !apierrors.IsNotFound(err) || !v.creates || !w.kind.createdByUpdate() {
			return Answer{}, err
		}
		if sent.GetUID() != "" {
			return Answer{}, w.otherUID(sent.GetUID(), "")
		}
		return w.make(sent)
	}
	if live == nil {
		return w.blind(v, sent)
	}
	if uid := sent.GetUID(); uid != "" && uid != live.GetUID() {
		return Answer{}, w.otherUID(uid, live.GetUID())
	}
	return w.store(v, sent, live)
}

// store is the way of a changed object: Store.Update of
// k8s.io/apiserver/pkg/registry/generic/registry/store.go, and what
// k8s.io/apiserver/pkg/registry/rest/update.go does before.
func (w *write) store(v view, sent unstructured.Unstructured, live *object) (Answer, error) {
	u, err := v.merged(sent, live)
	if err != nil {
		return Answer{}, err
	}
	if err := w.checkVersion(u.GetResourceVersion(), live); err != nil {
		return Answer{}, err
	}
	u.SetGeneration(live.GetGeneration())
	if w.keeps() {
		if err := w.readmit(v, u, live); err != nil {
			return Answer{}, err
		}
	}
	v.prepare(u, live)
	if u, err = w.own(u, live); err != nil {
		return Answer{}, err
	}
	if u.GetUID() == "" {
		u.SetUID(live.GetUID())
	}
	if at := live.GetCreationTimestamp(); !at.IsZero() {
		u.SetCreationTimestamp(at)
	}
	if at := live.GetDeletionTimestamp(); at != nil {
		u.SetDeletionTimestamp(at)
		if grace := live.GetDeletionGracePeriodSeconds(); grace != nil && u.GetDeletionGracePeriodSeconds() == nil {
			u.SetDeletionGracePeriodSeconds(grace)
		}
	}
	u.SetResourceVersion(live.GetResourceVersion())
	if err := w.kind.invalid(w.Name, w.wrong(v, u, live)); err != nil {
		return Answer{}, err
	}
	if !w.keeps() {
		u.SetManagedFields(nil)
	}
	w.warnFinalizers(u, live.GetFinalizers())
	if w.keeps() {
		if v.creates {
			err = w.allow(u, live)
		}
		if err == nil && !w.dryRun() {
			err = w.charge()
		}
		if err != nil {
			return Answer{}, err
		}
		return w.keepChange(v, u, live)
	}
	if !equality.Semantic.DeepEqual(u.Object, live.Object) {
		u.SetResourceVersion(live.newest)
	}
	u, err = v.shown(u)
	if err != nil {
		return Answer{}, err
	}
	return w.answer(http.StatusOK, u)
}

// wrong finds what is wrong with a change. A tape may hold objects that no
// server would: what is wrong with one already isn't held against who changes
// something else.
func (w *write) wrong(v view, u unstructured.Unstructured, live *object) field.ErrorList {
	check := func(u unstructured.Unstructured) field.ErrorList {
		return unique(append(w.kind.checkMeta(u, live), v.check(u, live)...))
	}
	errs := check(u)
	if len(errs) == 0 {
		return nil
	}
	before := sets.New[string]()
	for _, e := range check(live.Unstructured) {
		before.Insert(e.Error())
	}
	return slices.DeleteFunc(errs, func(e *field.Error) bool { return before.Has(e.Error()) })
}

// checkVersion checks the version that a client changed against the object. Any
// version at which the object was as it is will do, not only the one at which
// it became so: the one in an answer of this Handler is such a version.
func (w *write) checkVersion(v string, live *object) error {
	if v == "" || v == "0" {
		if w.kind.overwritable() {
			return nil
		}
		return apierrors.NewInvalid(schema.GroupKind{Group: w.kind.Group, Kind: w.kind.Resource.Resource}, w.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	}
	was, err := live.wasAt(v)
	if err != nil {
		return err
	}
	if !was {
		return w.kind.stale(w.Name)
	}
	return nil
}

// wasAt reports whether the object was at this version what it is now.
func (o *object) wasAt(v string) (bool, error) {
	since, err := resourceversion.CompareResourceVersion(v, o.GetResourceVersion())
	if err != nil {
		if _, why := strconv.ParseUint(v, 10, 64); why != nil {
			return false, why // the server's words
		}
		return false, err
	}
	until, err := resourceversion.CompareResourceVersion(v, o.newest)
	return since == 0 || since > 0 && until <= 0 && err == nil, nil
}

// blind answers a change to a resource that the tape doesn't hold: whatever it
// is about is taken to be as it was sent.
func (w *write) blind(v view, u unstructured.Unstructured) (Answer, error) {
	if err := w.kind.invalid(w.Name, w.kind.checkMeta(u, nil)); err != nil {
		return Answer{}, err
	}
	if u.GetUID() == "" {
		u.SetUID(w.uid(w.Name))
	}
	if u.GetResourceVersion() == "" {
		u.SetResourceVersion(unversioned)
	}
	if at := u.GetCreationTimestamp(); at.IsZero() {
		u.SetCreationTimestamp(w.now())
	}
	return w.answer(http.StatusOK, u)
}
