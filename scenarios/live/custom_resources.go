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

// customResources are the provider's own objects, NodeClaims and their like, on the server:
// as far as their kinds are served, as ours are, and taken.
//
// A kind of which the server refuses an object is dropped: its definition differs from ours. That is said once.
type customResources struct {
	label      string
	client     dynamic.Interface
	writeQueue *writeQueue
	kubelets   *kubelets

	mu    sync.Mutex
	kinds []scenarios.CustomKind     // that are written
	known map[string]*customResource // by key
}

// A customResource is an object that was written.
type customResource struct {
	// made is closed once the object is on the server, or can't be.
	made chan struct{}
	uid  types.UID // "" where it won't
	over sync.Once
}

func (c *customResource) done(uid types.UID) {
	c.over.Do(func() { c.uid = uid; close(c.made) })
}

// standing is the object's UID once it is on the server, else "".
func (c *customResource) standing() types.UID {
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

func (c *customResources) writes(kind scenarios.CustomKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.kinds, kind)
}

// written are the kinds that are.
func (c *customResources) written() []scenarios.CustomKind {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.kinds)
}

func (c *customResources) served() (all []schema.GroupVersionResource) {
	for _, kind := range c.written() {
		all = append(all, kind.GroupVersionResource)
	}
	return all
}

// knows reports whether an object was written by this process.
func (c *customResources) knows(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[key] != nil
}

// without drops a kind, and reports whether it was written so far.
func (c *customResources) without(kind scenarios.CustomKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.kinds)
	c.kinds = slices.DeleteFunc(slices.Clone(c.kinds), func(k scenarios.CustomKind) bool { return k == kind })
	return len(c.kinds) < n
}

// find is the object that a reference means, nil where none of ours is meant.
func (c *customResources) find(apiVersion, kind, namespace, name string) *customResource {
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

// write implements [scenarios.APIServer].WriteCustom.
func (c *customResources) write(kind scenarios.CustomKind, old, is *unstructured.Unstructured) {
	if !c.writes(kind) {
		return
	}
	key := keyOf(kind, is.GetNamespace(), is.GetName())
	if old == nil {
		one := &customResource{made: make(chan struct{})}
		c.mu.Lock()
		c.known[key] = one
		c.mu.Unlock()
		c.awaitOwners(key, is)
		c.enqueue(kind, key, "create", func(ctx context.Context) error { return c.create(ctx, kind, one, is) }, one)
		c.awaitNode(key, is)
		c.enqueue(kind, key, "patch status of", func(ctx context.Context) error { return c.status(ctx, kind, is) }, one)
		return
	}
	c.enqueue(kind, key, "patch", func(ctx context.Context) error { return c.patch(ctx, kind, old, is) }, nil)
	if !reflect.DeepEqual(old.Object["status"], is.Object["status"]) {
		c.awaitNode(key, is)
		c.enqueue(kind, key, "patch status of", func(ctx context.Context) error { return c.status(ctx, kind, is) }, nil)
	}
}

// drop implements [scenarios.APIServer].DeleteCustom.
func (c *customResources) drop(kind scenarios.CustomKind, name types.NamespacedName) {
	if !c.writes(kind) {
		return
	}
	key := keyOf(kind, name.Namespace, name.Name)
	c.enqueue(kind, key, "delete", func(ctx context.Context) error {
		return deleted(c.of(kind, name.Namespace).Delete(ctx, name.Name, onlyThis(c.uid(key), nil)))
	}, nil)
}

// enqueue queues a write, as long as its kind is written; where it no longer is, made is closed.
func (c *customResources) enqueue(kind scenarios.CustomKind, key, verb string, do func(context.Context) error, made *customResource) {
	var tries tries
	c.writeQueue.send(key, verb+" "+key, func(ctx context.Context) error {
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

func (c *customResources) of(kind scenarios.CustomKind, namespace string) dynamic.ResourceInterface {
	return (&prerequisites{client: c.client}).of(kind.GroupVersionResource, namespace)
}

// uid returns the UID of an object that is on the server, else "".
func (c *customResources) uid(key string) types.UID {
	c.mu.Lock()
	one := c.known[key]
	c.mu.Unlock()
	if one == nil {
		return ""
	}
	return one.standing()
}

// awaitOwners holds the writes of an object back until its owners are on the server, or can't be.
func (c *customResources) awaitOwners(key string, o metav1.Object) {
	for _, ref := range o.GetOwnerReferences() {
		if owner := c.find(ref.APIVersion, ref.Kind, o.GetNamespace(), ref.Name); owner != nil {
			c.writeQueue.hold(key, owner.made, nil)
		}
	}
}

// awaitNode does the same until the Node that its status refers to is registered.
func (c *customResources) awaitNode(key string, o *unstructured.Unstructured) {
	name, _, _ := unstructured.NestedString(o.Object, "status", "nodeRef", "name")
	if k := c.kubelets.find(name); k != nil {
		c.writeQueue.hold(key, k.created, k.ended)
	}
}

// recordEvent records an Event about one of the objects, once it is on the server: kubectl describe asks for the Events of
// its UID.
func (c *customResources) recordEvent(r scenarios.Report, about *customResource, record func(scenarios.Report)) {
	key := "event/" + r.About.Kind + "/" + r.About.Name
	c.writeQueue.hold(key, about.made, nil)
	c.writeQueue.send(key, "record "+r.Reason+" of "+r.About.Name, func(context.Context) error {
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
