package workloads

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/scenarios/internal/component"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/loop"
	"github.com/nodesim/nodesim/scenarios/internal/model"
	"github.com/nodesim/nodesim/timeline"
)

// Config configures an Actor.
type Config struct {
	Env *component.Env
	// Traits describe the program of a pod for the simulation.
	Traits func(*corev1.Pod) any
	// Admit fills in what the API server's admission does when a pod is created, or says why it refuses it.
	Admit func(*corev1.Pod) error
	// Admission counts the changes of what Admit looks at: until the next, pods of one template are admitted alike.
	Admission func() uint64
	// Bounded reports whether Charge has to be asked for each new pod of a namespace.
	Bounded func(namespace string) bool
	// Charge has the quotas of a namespace count a new pod, or says why the API server refuses it.
	Charge func(*corev1.Pod) error
	// ChargeClaim is Charge for a claim.
	ChargeClaim func(*corev1.PersistentVolumeClaim) error
	// Owners are the owner references that a pod has in the API.
	Owners func(*kube.Pod) []metav1.OwnerReference
	// Ending reports whether nothing can be created in a namespace any more.
	Ending func(namespace string) bool
}

// An Actor is the controllers of all workloads.
type Actor struct {
	Config
	env     *component.Env
	stream  model.Stream
	byUID   map[types.UID]*object
	byName  map[named]*object
	within  map[place][]*object    // in the order of their creation
	orphans map[string][]*kube.Pod // without a controller, by namespace
	daemons []*object              // DaemonSets
	order   []*kind
	writing bool         // what is written is the Actor's own
	born    kube.Instant // of what is held; 0 is now
}

type named struct{ resource, namespace, name string }

type place struct{ resource, namespace string }

// New returns the controllers, without workloads yet.
func New(c Config) *Actor {
	a := &Actor{
		Config: c, env: c.Env, stream: c.Env.Stream("workloads"),
		byUID: map[types.UID]*object{}, byName: map[named]*object{}, within: map[place][]*object{}, orphans: map[string][]*kube.Pod{}, order: order(),
	}
	c.Env.API.WatchPods(a.podChanged)
	c.Env.API.WatchNodes(a.nodeChanged)
	return a
}

// object is an object of a workload.
type object struct {
	*kind
	doc    *kube.Document
	api    apiObject // is replaced, and not changed
	text   []byte    // of api
	owner  *kube.Owner
	stream model.Stream

	selects  labels.Selector
	made     []*prototype
	queued   *loop.Timer
	batched  *loop.Timer
	later    *loop.Timer
	creating int          // how many pods the next batch has; 0 begins anew
	refused  int          // in how many syncs in a row a pod could not be created
	failed   bool         // whether this one is one of them
	backoff  backoff      // of a Job
	failures nodeBackoffs // of a DaemonSet
	fits     *daemonFit   // of a DaemonSet, nil before the first sync
}

// Put takes an object as somebody else has written it, or that it was deleted.
func (a *Actor) Put(ev *timeline.Event) error {
	k := kinds[ev.Resource]
	if k == nil || a.writing {
		return nil
	}
	o := a.byName[named{ev.Resource, ev.Namespace, ev.Name}]
	if ev.Type == timeline.Deleted {
		if o != nil {
			a.gone(o)
		}
		return nil
	}
	text := ev.Object
	if text == nil {
		if o == nil {
			return nil
		}
		text = rawjson.Apply(nil, o.text, ev.Patch)
	}
	api := k.empty()
	if err := json.Unmarshal(text, api); err != nil {
		return fmt.Errorf("%s %s: %w", ev.Resource, ev.Name, err)
	}
	api.SetNamespace(ev.Namespace)
	api.SetName(ev.Name)
	if api.GetUID() == "" {
		api.SetUID(types.UID(ev.UID))
	}
	if err := checkRequired(k, api); err != nil {
		return err
	}
	if o != nil && o.api.GetUID() != api.GetUID() {
		a.gone(o)
		o = nil
	}
	if o == nil {
		a.know(k, api)
		return nil
	}
	a.change(o, api)
	return nil
}

// checkRequired says what an object lacks that the API server requires (ValidateDeploymentSpec of pkg/apis/apps/validation, and
// those of the other kinds) or adds (a Job's selector). An object of a tape that was written by hand may lack it.
func checkRequired(k *kind, api apiObject) error {
	var s *metav1.LabelSelector
	switch o := api.(type) {
	case *appsv1.Deployment:
		s = o.Spec.Selector
	case *appsv1.ReplicaSet, *appsv1.StatefulSet, *appsv1.DaemonSet, *batchv1.Job:
		s = k.selector(api)
	default:
		return nil
	}
	if s == nil {
		return errors.New("found no spec.selector: want that of its pods")
	}
	if len(k.template(api).Spec.Containers) == 0 {
		return errors.New("found no containers in spec.template: want one at least")
	}
	return nil
}

// know begins to keep an object.
func (a *Actor) know(k *kind, api apiObject) *object {
	a.complete(api)
	o := &object{
		kind: k, stream: a.env.Stream("workload", api.GetNamespace(), k.Kind, api.GetName(), string(api.GetUID())),
		doc:   &kube.Document{Resource: k.resource, Meta: kube.Meta{Namespace: api.GetNamespace(), Name: api.GetName(), UID: string(api.GetUID())}},
		owner: &kube.Owner{APIVersion: k.GroupVersion().String(), Kind: k.Kind, Name: api.GetName(), UID: string(api.GetUID())},
	}
	a.byUID[api.GetUID()] = o
	a.byName[named{k.resource, api.GetNamespace(), api.GetName()}] = o
	in := place{k.resource, api.GetNamespace()}
	a.within[in] = append(a.within[in], o)
	if k.resource == "daemonsets" {
		a.daemons = append(a.daemons, o)
	}
	a.take(o, api)
	a.enqueueControllers(o)
	return o
}

// change has the controllers see another state of an object.
func (a *Actor) change(o *object, api apiObject) {
	was := o.api
	if was.GetGeneration() != api.GetGeneration() {
		a.complete(api)
	}
	a.take(o, api)
	a.enqueueControllers(o)
	if old := metav1.GetControllerOfNoCopy(was); old != nil {
		if now := metav1.GetControllerOfNoCopy(api); now == nil || now.UID != old.UID {
			a.enqueue(a.byUID[old.UID])
		}
	}
}

// take makes a state the object's.
func (a *Actor) take(o *object, api apiObject) {
	text, err := textOf(api)
	if err != nil {
		a.env.Fail(err)
		return
	}
	if o.api == nil || o.api.GetGeneration() != api.GetGeneration() {
		o.selects = selectorOf(o.kind, api)
	}
	o.api, o.text = api, text
	d := o.doc
	d.Generation, d.Finalizers, d.Owner = api.GetGeneration(), api.GetFinalizers(), nil
	if c := metav1.GetControllerOfNoCopy(api); c != nil {
		d.Owner = &kube.Owner{APIVersion: c.APIVersion, Kind: c.Kind, Name: c.Name, UID: string(c.UID)}
	}
	a.scale(o)
}

// enqueueControllers enqueues an object, and its owner or those that may adopt it.
func (a *Actor) enqueueControllers(o *object) {
	a.enqueue(o)
	if c := metav1.GetControllerOfNoCopy(o.api); c != nil {
		a.enqueue(a.byUID[c.UID])
		return
	}
	for _, parent := range parents[o.resource] {
		for _, d := range a.within[place{parent, o.api.GetNamespace()}] {
			a.enqueue(d)
		}
	}
}

// parents are the kinds that adopt objects of a kind.
var parents = map[string][]string{"replicasets": {"deployments"}, "controllerrevisions": {"statefulsets", "daemonsets"}}

// gone forgets an object that is no longer there.
func (a *Actor) gone(o *object) {
	api := o.api
	delete(a.byUID, api.GetUID())
	delete(a.byName, named{o.resource, api.GetNamespace(), api.GetName()})
	in := place{o.resource, api.GetNamespace()}
	a.within[in] = slices.DeleteFunc(a.within[in], func(p *object) bool { return p == o })
	a.daemons = slices.DeleteFunc(a.daemons, func(p *object) bool { return p == o })
	o.queued.Stop()
	o.later.Stop()
	o.batched.Stop()
	a.env.API.PutDocumentAway(o.doc)
	for _, p := range a.env.API.PodsOf(o.doc.UID) {
		a.untrack(p)
	}
	if c := metav1.GetControllerOfNoCopy(api); c != nil {
		a.enqueue(a.byUID[c.UID])
	}
}

// enqueue has the object's controller look at it after its reaction time, unless it is about to anyway.
func (a *Actor) enqueue(o *object) {
	if o != nil && o.sync != nil && !o.queued.Pending() {
		o.queued = a.env.Timer(a.env.Draw(&o.stream, a.env.Timings.ControllerReact), func() { a.look(o) })
	}
}

// enqueuePod is enqueue for a change of one of its pods.
func (a *Actor) enqueuePod(o *object) {
	switch {
	case o == nil || o.queued.Pending() || o.batched.Pending():
	case o.batch == 0:
		a.enqueue(o)
	default:
		o.batched = a.env.Timer(o.batch, func() { a.look(o) })
	}
}

// look has the object's controller answer.
func (a *Actor) look(o *object) {
	if a.byUID[o.api.GetUID()] != o {
		return
	}
	o.failed = false
	again := o.sync(a, o)
	if !o.failed {
		o.refused = 0
	}
	if again > 0 {
		o.later.Stop()
		o.later = a.env.Timer(again, func() { a.look(o) })
	}
}

// OwnerOf returns the Owner that the pods of a controller have, by its UID; nil where it isn't one.
func (a *Actor) OwnerOf(uid string) *kube.Owner {
	if o := a.byUID[types.UID(uid)]; o != nil {
		return o.owner
	}
	return nil
}

// selectorOf is a controller's selector of pods. One that can't be read selects nothing.
func selectorOf(k *kind, api apiObject) labels.Selector {
	if k.selector == nil {
		return labels.Nothing()
	}
	s, err := metav1.LabelSelectorAsSelector(k.selector(api))
	if err != nil || s.Empty() {
		return labels.Nothing()
	}
	return s
}

// now is the wall time; stamp is what an object says of it.
func (a *Actor) now() time.Time { return a.env.API.Now().Time() }

func (a *Actor) stamp() metav1.Time {
	if a.born != 0 {
		return metav1.NewTime(a.born.Second().Time())
	}
	return metav1.NewTime(a.now().Truncate(time.Second))
}
