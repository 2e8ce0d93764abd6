package workloads

import (
	"encoding/json"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

func textOf(api apiObject) ([]byte, error) {
	text, err := json.Marshal(api)
	if err != nil {
		return nil, err
	}
	return rawjson.Compact(nil, text)
}

// create adds an object as a controller does; false says that there is one of that name, or nil that there can't be any.
func (a *Actor) create(k *kind, api apiObject) (*object, bool) {
	return a.createWith(k, api, func() {})
}

// createWith has prepare complete a new object that has its UID.
func (a *Actor) createWith(k *kind, api apiObject, prepare func()) (*object, bool) {
	if old := a.byName[named{k.resource, api.GetNamespace(), api.GetName()}]; old != nil {
		return old, false
	}
	if a.Ending(api.GetNamespace()) {
		return nil, false
	}
	api.SetUID(types.UID(a.stream.UUID()))
	api.SetCreationTimestamp(a.stamp())
	if k.sync != nil {
		api.SetGeneration(1)
	}
	prepare()
	return a.add(k, api), true
}

// add is create without what the API server gives a new object.
func (a *Actor) add(k *kind, api apiObject) *object {
	api.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind)
	o := a.know(k, api)
	a.writes(func() { a.env.API.CreateDocument(o.doc, o.text) })
	return o
}

// writes has f write what the Actor needn't be told of.
func (a *Actor) writes(f func()) {
	a.writing = true
	f()
	a.writing = false
}

// write gives an object another state, where it differs. A status leaves the generation alone, as its subresource does.
func (a *Actor) write(o *object, next apiObject, generation bool) bool {
	if generation {
		next.SetGeneration(o.api.GetGeneration() + 1)
	}
	text, err := textOf(next)
	if err != nil {
		a.env.Fail(err)
		return false
	}
	patch, exact := rawjson.Diff(nil, o.text, text)
	if !exact || len(patch) <= len(`{}`) {
		return false
	}
	a.take(o, next)
	a.writes(func() { a.env.API.PatchDocument(o.doc, patch) })
	a.enqueueControllers(o)
	return true
}

// update changes an object; what the API server counts as a change of what is wanted counts up its generation.
func update[T apiObject](a *Actor, o *object, change func(T)) bool {
	was := o.api.(T)
	next := was.DeepCopyObject().(T)
	change(next)
	return a.write(o, next, wants(was, next))
}

// wants reports whether two states want something else. A Deployment's annotations count
// (deploymentStrategy.PrepareForUpdate of pkg/registry/apps/deployment/strategy.go).
func wants(was, next apiObject) bool {
	if d, is := was.(*appsv1.Deployment); is {
		n := next.(*appsv1.Deployment)
		return !equality.Semantic.DeepEqual(d.Spec, n.Spec) || !equality.Semantic.DeepEqual(d.Annotations, n.Annotations)
	}
	return !equality.Semantic.DeepEqual(specOf(was), specOf(next))
}

// updateStatus changes an object's status, and of its metadata what controllers write along with it.
func updateStatus[T apiObject](a *Actor, o *object, change func(T)) bool {
	next := o.api.DeepCopyObject().(T)
	change(next)
	return a.write(o, next, false)
}

// remove deletes an object as a controller does. What it owns goes after it, or before it where it asks for that.
func (a *Actor) remove(o *object, foreground bool) {
	if o.api.GetDeletionTimestamp() == nil && (foreground || len(o.api.GetFinalizers()) > 0) {
		next := o.api.DeepCopyObject().(apiObject)
		now := a.stamp()
		next.SetDeletionTimestamp(&now)
		none := int64(0)
		next.SetDeletionGracePeriodSeconds(&none)
		if foreground {
			next.SetFinalizers(append(next.GetFinalizers(), metav1.FinalizerDeleteDependents))
		}
		a.write(o, next, true)
		return
	}
	if len(o.api.GetFinalizers()) > 0 {
		return
	}
	a.writes(func() { a.env.API.DropDocument(o.doc) })
	a.gone(o)
}

// record reports an Event about an object.
func (a *Actor) record(o *object, kind, reason, message string) {
	a.env.API.Record(kube.Source{Component: o.component}, kube.Reference{
		APIVersion: o.owner.APIVersion, Kind: o.owner.Kind, Namespace: o.doc.Namespace, Name: o.doc.Name, UID: o.doc.UID,
		ResourceVersion: strconv.FormatUint(o.doc.Version(), 10),
	}, kind, reason, message)
}
