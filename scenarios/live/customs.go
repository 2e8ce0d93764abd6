package live

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/scenarios"
)

// Customs are the provider's own objects, NodeClaims and their like, on the server:
// as far as their kinds are served, as ours are, and taken.
//
// A kind of which the server refuses an object is dropped: its definition differs from ours. That is said once.
type customs struct {
	label    string
	client   dynamic.Interface
	courier  *courier
	kubelets *kubelets

	mu    sync.Mutex
	kinds []scenarios.CustomKind // that are written
	known map[string]*custom     // by key
}

// A custom is an object that was written.
type custom struct {
	// made is closed once the object is on the server, or can't be.
	made chan struct{}
	uid  types.UID // "" where it won't
	over sync.Once
}

func (c *custom) done(uid types.UID) {
	c.over.Do(func() { c.uid = uid; close(c.made) })
}

// standing is the object's UID once it is on the server, else "".
func (c *custom) standing() types.UID {
	select {
	case <-c.made:
		return c.uid
	default:
		return ""
	}
}

func keyOf(kind scenarios.CustomKind, namespace, name string) string {
	return planned{kind.GroupVersionResource, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name}}}}.key()
}

func (c *customs) writes(kind scenarios.CustomKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.kinds, kind)
}

// written are the kinds that are.
func (c *customs) written() []scenarios.CustomKind {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.kinds)
}

func (c *customs) served() (all []schema.GroupVersionResource) {
	for _, kind := range c.written() {
		all = append(all, kind.GroupVersionResource)
	}
	return all
}

// knows reports whether an object was written by this process.
func (c *customs) knows(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key] != nil
}

// without drops a kind, and reports whether it was written so far.
func (c *customs) without(kind scenarios.CustomKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.kinds)
	c.kinds = slices.DeleteFunc(slices.Clone(c.kinds), func(k scenarios.CustomKind) bool { return k == kind })
	return len(c.kinds) < n
}

// find is the object that a reference means, nil where none of ours is meant.
func (c *customs) find(apiVersion, kind, namespace, name string) *custom {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kinds {
		if k.Kind != kind || k.GroupVersion().String() != apiVersion {
			continue
		}
		if !k.Namespaced {
			namespace = ""
		}
		return c.known[keyOf(k, namespace, name)]
	}
	return nil
}

// write implements [scenarios.World].WriteCustom.
func (c *customs) write(kind scenarios.CustomKind, old, is *unstructured.Unstructured) {
	if !c.writes(kind) {
		return
	}
	key := keyOf(kind, is.GetNamespace(), is.GetName())
	if old == nil {
		one := &custom{made: make(chan struct{})}
		c.mu.Lock()
		c.known[key] = one
		c.mu.Unlock()
		c.awaitOwners(key, is)
		c.errand(kind, key, "create", func(ctx context.Context) error { return c.create(ctx, kind, one, is) }, one)
		c.awaitNode(key, is)
		c.errand(kind, key, "patch status of", func(ctx context.Context) error { return c.status(ctx, kind, is) }, one)
		return
	}
	c.errand(kind, key, "patch", func(ctx context.Context) error { return c.patch(ctx, kind, old, is) }, nil)
	if !reflect.DeepEqual(old.Object["status"], is.Object["status"]) {
		c.awaitNode(key, is)
		c.errand(kind, key, "patch status of", func(ctx context.Context) error { return c.status(ctx, kind, is) }, nil)
	}
}

// drop implements [scenarios.World].DeleteCustom.
func (c *customs) drop(kind scenarios.CustomKind, name types.NamespacedName) {
	if !c.writes(kind) {
		return
	}
	key := keyOf(kind, name.Namespace, name.Name)
	c.errand(kind, key, "delete", func(ctx context.Context) error {
		return deleted(c.of(kind, name.Namespace).Delete(ctx, name.Name, onlyThis(c.uid(key), nil)))
	}, nil)
}

// errand queues a write, as long as its kind is written; where it no longer is, made is closed.
func (c *customs) errand(kind scenarios.CustomKind, key, verb string, do func(context.Context) error, made *custom) {
	var tries tries
	c.courier.send(key, verb+" "+key, func(ctx context.Context) error {
		var err error
		if c.writes(kind) {
			err = do(ctx)
		}
		if err != nil && tries.last(err) {
			if c.without(kind) {
				err = fmt.Errorf("%w: leaving out %s", err, kind.GroupResource())
			} else {
				err = nil // said before
			}
		}
		if made != nil && !c.writes(kind) {
			made.done("")
		}
		return err
	})
}

func (c *customs) of(kind scenarios.CustomKind, namespace string) dynamic.ResourceInterface {
	return (&ground{client: c.client}).of(kind.GroupVersionResource, namespace)
}

// uid returns the UID of an object that is on the server, else "".
func (c *customs) uid(key string) types.UID {
	c.mu.Lock()
	one := c.known[key]
	c.mu.Unlock()
	if one == nil {
		return ""
	}
	return one.standing()
}

// awaitOwners holds the writes of an object back until its owners are on the server, or can't be.
func (c *customs) awaitOwners(key string, o metav1.Object) {
	for _, ref := range o.GetOwnerReferences() {
		if owner := c.find(ref.APIVersion, ref.Kind, o.GetNamespace(), ref.Name); owner != nil {
			c.courier.hold(key, owner.made, nil)
		}
	}
}

// awaitNode does the same until the Node that its status refers to is registered.
func (c *customs) awaitNode(key string, o *unstructured.Unstructured) {
	name, _, _ := unstructured.NestedString(o.Object, "status", "nodeRef", "name")
	if k := c.kubelets.find(name); k != nil {
		c.courier.hold(key, k.created, k.ended)
	}
}

// told records an Event about one of the objects, once it is on the server: kubectl describe asks for the Events of
// its UID.
func (c *customs) told(r scenarios.Report, about *custom, record func(scenarios.Report)) {
	key := "event/" + r.About.Kind + "/" + r.About.Name
	c.courier.hold(key, about.made, nil)
	c.courier.send(key, "record "+r.Reason+" of "+r.About.Name, func(context.Context) error {
		if uid := about.standing(); uid != "" {
			r.About.UID = uid
		}
		record(r)
		return nil
	})
}

// release takes all finalizers of an object away, if it is still there.
func release(ctx context.Context, client dynamic.ResourceInterface, name string, uid types.UID) error {
	patch := fmt.Appendf(nil, `{"metadata":{"finalizers":null,"uid":%q}}`, uid)
	_, err := client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return replaced(err, uid, func() (*unstructured.Unstructured, error) { return client.Get(ctx, name, metav1.GetOptions{}) })
}

// optional deletes the labelled objects of kinds that a live run may have left out.
func (s *sweep) optional(ctx context.Context, r schema.GroupVersionResource) (left []string, err error) {
	left, err = s.labelled(ctx, r)
	if apierrors.IsNotFound(err) { // it isn't defined
		return nil, nil
	}
	return left, err
}

// theirs reports whether a definition that a live run has made was changed by another client since, which needs it:
// to install the provider itself, say.
func theirs(r schema.GroupVersionResource, o *unstructured.Unstructured) bool {
	return r == definitionsResource && o.GetGeneration() > 1 && o.GetDeletionTimestamp() == nil
}
