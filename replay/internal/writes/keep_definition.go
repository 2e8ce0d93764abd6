package writes

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/apischeme"
	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/internal/crd"
	"github.com/nodesim/nodesim/timeline"
)

var definitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// definition is that of a custom resource in a cluster that keeps writes; nil where there is none. Of a tape's
// resources nothing is asked: their objects are as they were recorded.
func (d *Handler) definition(r timeline.Resource) *crd.Definition {
	if d.player == nil || r.Group == "" || isBuiltIn(r) {
		return nil
	}
	o, _, err := d.cluster.GetUnfaulted(definitions, "", r.String())
	if err != nil {
		return nil
	}
	return d.read(o)
}

// isBuiltIn reports whether a resource is one of Kubernetes' own, which no definition changes.
func isBuiltIn(r timeline.Resource) bool {
	return apischeme.Scheme().Recognizes(schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind})
}

// read reads a definition; nil where it can't be read, which a server wouldn't have taken.
func (d *Handler) read(o *replay.Object) *crd.Definition {
	known := d.definitions[o.Name()]
	if known.of == o {
		return known.is
	}
	is, err := crd.Read(o.Raw())
	if err != nil {
		return nil
	}
	if d.definitions == nil {
		d.definitions = map[string]readDefinition{}
	}
	d.definitions[o.Name()] = readDefinition{o, is}
	delete(d.converters, known.is)
	return is
}

// readDefinition is a definition and what it was read from.
type readDefinition struct {
	of *replay.Object
	is *crd.Definition
}

// key is the word by which events name a kind's resource.
func (d *Handler) key(k kind) string {
	if slices.Contains(d.header.Resources, k.Resource) {
		return d.header.Key(k.Resource)
	}
	return k.Resource.String()
}

// inStorage is an object in the version that is stored, and inRequest in that of the request.
func (k kind) inStorage(u unstructured.Unstructured) unstructured.Unstructured {
	if k.definition == nil || k.definition.Stored() == k.Version {
		return u
	}
	u.Object = maps.Clone(u.Object)
	u.SetAPIVersion(schema.GroupVersion{Group: k.Group, Version: k.definition.Stored()}.String())
	return u
}

func (k kind) inRequest(raw []byte) []byte {
	if k.definition == nil || k.definition.Stored() == k.Version {
		return raw
	}
	patch := rawjson.AppendString([]byte(`{"apiVersion":`), k.APIVersion())
	return rawjson.Apply(nil, raw, append(patch, '}'))
}

// fillIn is what a server fills in of a new definition.
func fillIn(obj runtime.Object) {
	if d, is := obj.(*apiextensionsv1.CustomResourceDefinition); is {
		apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(d)
	}
}

// bounded refuses a definition that takes too much to read.
func (k kind) bounded(content map[string]any) error {
	if !k.isDefinition() {
		return nil
	}
	if err := crd.Bound(content); err != nil {
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	return nil
}

// storedIn adds the storage version to those in which objects may be stored
// (k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go).
func storedIn(u unstructured.Unstructured) error {
	d, err := as[apiextensionsv1.CustomResourceDefinition](u)
	if err != nil {
		return err
	}
	stored := d.Status.StoredVersions
	if v := (&crd.Definition{CustomResourceDefinition: d}).Stored(); v != "" && !slices.Contains(stored, v) {
		stored = append(stored, v)
	}
	if len(stored) == 0 {
		return nil
	}
	return unstructured.SetNestedStringSlice(u.Object, stored, "status", "storedVersions")
}

// endDefinition marks a definition as terminating: its objects go first.
func (w *write) endDefinition(o *object, opts metav1.DeleteOptions) error {
	if err := w.precede(o, opts.Preconditions); err != nil {
		return err
	}
	d, err := as[apiextensionsv1.CustomResourceDefinition](o.Unstructured)
	if err != nil {
		return err
	}
	crd.Terminate(d, w.now())
	o.Unstructured, err = w.kind.untyped(d)
	return err
}

// conclude does what follows from a write of a definition, or from the end of an object of one that ends itself: a
// server's own controllers do it, after a moment.
func (w *write) conclude() error {
	ends := w.kind.definition != nil && w.kind.definition.DeletionTimestamp != nil
	if !w.stored || !w.kind.isDefinition() && !ends {
		return nil
	}
	l, err := w.handler.cluster.ListUnfaulted(definitions, "", metav1.ListOptions{})
	if err != nil {
		return err
	}
	in := *w
	if in.kind, err = w.handler.kind(Request{Resource: definitions, Name: "any"}); err != nil {
		return err
	}
	var all []*crd.Definition
	for _, o := range l.Items {
		if d := w.handler.read(o); d != nil {
			all = append(all, d)
		}
	}
	for i, d := range all {
		written := w.kind.isDefinition() && d.Name == w.newest.Name()
		if !written && d.AtRest() {
			continue
		}
		stored := in.newest
		next := &crd.Definition{CustomResourceDefinition: d.DeepCopy()}
		gone, err := in.advance(next.CustomResourceDefinition, all)
		if err != nil {
			return err
		}
		all[i] = next // with the names that it has now
		if written || in.newest != stored {
			in.serve(next, gone)
		}
	}
	w.handler.forget(l.Items)
	return nil
}

// forget forgets the definitions that aren't there any more.
func (d *Handler) forget(there []*replay.Object) {
	if len(d.definitions) <= len(there) {
		return
	}
	names := map[string]bool{}
	for _, o := range there {
		names[o.Name()] = true
	}
	maps.DeleteFunc(d.definitions, func(name string, known readDefinition) bool {
		if names[name] {
			return false
		}
		delete(d.converters, known.is)
		d.cluster.Define(schema.GroupResource{Group: known.is.Spec.Group, Resource: known.is.Spec.Names.Plural})
		return true
	})
}

// advance takes a definition's next steps, and reports whether the last one was its end.
func (w *write) advance(d *apiextensionsv1.CustomResourceDefinition, all []*crd.Definition) (gone bool, err error) {
	put := func(what timeline.Type) {
		if err != nil {
			return
		}
		var u unstructured.Unstructured
		if u, err = w.kind.untyped(d); err == nil {
			_, err = w.put(what, u)
		}
	}
	if crd.Accept(d, all, w.now()) {
		put(timeline.Modified)
	}
	if crd.Establish(d, w.now()) {
		put(timeline.Modified)
	}
	if d.DeletionTimestamp == nil || !slices.Contains(d.Finalizers, crd.Cleanup) || err != nil {
		return false, err
	}
	if crd.Progress(d, w.now()) {
		put(timeline.Modified)
	}
	left, failed := w.empty(d)
	if failed != nil || left > 0 {
		return false, failed
	}
	crd.Finish(d, w.now())
	if len(d.Finalizers) > 0 {
		put(timeline.Modified)
		return false, err
	}
	put(timeline.Deleted)
	return true, err
}

// empty deletes the objects of a definition, and counts those that wait for their finalizers.
func (w *write) empty(d *apiextensionsv1.CustomResourceDefinition) (left int, err error) {
	served := (&crd.Definition{CustomResourceDefinition: d}).Served()
	if len(served) == 0 {
		return 0, nil
	}
	gvr := schema.GroupVersionResource{Group: served[0].Group, Version: served[0].Version, Resource: served[0].Resource}
	if r, ok := w.handler.cluster.Resource(gvr); ok && isBuiltIn(r) {
		return 0, nil // whose objects are Kubernetes' own
	}
	l, err := w.handler.cluster.ListUnfaulted(gvr, "", metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for _, o := range l.Items {
		if at := rawjson.Get(o.Raw(), "metadata", "deletionTimestamp"); at != nil && string(at) != "null" {
			left++
			continue
		}
		in := *w
		in.Request = Request{Verb: Delete, Resource: gvr, Namespace: o.Namespace(), Name: o.Name()}
		if in.kind, err = w.handler.kind(in.Request); err != nil {
			return 0, err
		}
		one, err := in.kind.parse(o, o.ResourceVersion())
		if err != nil {
			return 0, err
		}
		pending, err := in.finish(one, metav1.DeleteOptions{})
		if err != nil {
			return 0, err
		}
		if pending {
			left++
		}
	}
	return left, nil
}

// serve has the cluster serve what a definition says.
func (w *write) serve(d *crd.Definition, gone bool) {
	gr := schema.GroupResource{Group: d.Spec.Group, Resource: d.Spec.Names.Plural}
	if gone {
		w.handler.cluster.Define(gr)
	} else {
		w.handler.cluster.Define(gr, d.Served()...)
	}
}
