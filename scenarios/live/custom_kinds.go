package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/scenarios"
)

// findCustomKinds finds out which of the provider's kinds can be written: those whose definition is there, and those that we
// may define. The others are left out, with a warning that says why. It writes nothing.
func (r *run) findCustomKinds(ctx context.Context) error {
	r.apiServer.customResources.kinds, r.undefined = nil, nil
	for _, kind := range r.kinds {
		name := kind.GroupResource().String()
		var have *unstructured.Unstructured
		err := r.again(ctx, func(ctx context.Context) (err error) {
			have, err = r.clients.dynamic.Resource(definitionsResource).Get(ctx, name, metav1.GetOptions{})
			return err
		})
		ours, needed := false, rightsToCustom(kind)
		switch {
		case apierrors.IsNotFound(err):
			ours, have = true, nil
			needed = append(needed, rightsToDefine()...)
		case apierrors.IsForbidden(err):
			needed = append(needed, right{"get", definitionsResource.Group, definitionsResource.Resource, ""})
		case err != nil:
			return fmt.Errorf("look for the definition of %s: %w", name, err)
		case have.GetDeletionTimestamp() != nil: // which is waited for
			ours, have = true, nil
			needed = append(needed, rightsToDefine()...)
		default:
			ours = have.GetLabels()[Label] == r.label
		}
		if missing, err := r.missing(ctx, r.clients.kube, needed); err != nil {
			return err
		} else if len(missing) > 0 {
			r.warn(fmt.Errorf("leaving out %s: the user may not %s", name, strings.Join(missing, ", ")))
			continue
		}
		switch {
		case have != nil && !ours && r.known:
			// Its author may have a controller in this cluster, and machines.
			r.warn(fmt.Errorf("leaving out %s: found their definition in a cluster with nodes of others, where a real %s would act on them", name, kind.Group))
			continue
		case have != nil && !serves(have, kind.Version):
			r.warn(fmt.Errorf("leaving out %s: found a definition that doesn't serve %s", name, kind.Version))
			continue
		case have == nil:
			r.undefined = append(r.undefined, kind)
		}
		r.apiServer.customResources.kinds = append(r.apiServer.customResources.kinds, kind)
	}
	return nil
}

func rightsToCustom(kind scenarios.CustomKind) []right {
	return slices.Concat(
		rightsOf(kind.Group, kind.Resource, "", "list", "watch", "get", "create", "patch", "delete"),
		rightsOf(kind.Group, kind.Resource, "status", "patch"),
	)
}

func rightsToDefine() []right {
	return rightsOf(definitionsResource.Group, definitionsResource.Resource, "", "list", "get", "create", "delete")
}

// serves reports whether a definition offers a version.
func serves(definition *unstructured.Unstructured, version string) bool {
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	return slices.ContainsFunc(versions, func(v any) bool {
		is, _ := v.(map[string]any)
		return is["name"] == version && is["served"] == true
	})
}

// serveMost bounds the time until the kind of a new definition is served: a second or two, unless another definition
// has its names.
const serveMost = time.Minute

// define has the server serve the kinds that it doesn't know, and waits until it does. A kind that it can't be made
// to serve is left out.
func (r *run) define(ctx context.Context) error {
	var made []scenarios.CustomKind
	for _, kind := range r.undefined {
		definition := planned{definitionsResource, definitionOf(kind, r.label)}
		err := r.again(ctx, func(ctx context.Context) error {
			_, err := r.apiServer.prerequisites.create(ctx, definition)
			return err
		})
		if err == nil {
			made = append(made, kind)
		} else if err := r.warnWithout(ctx, kind, err); err != nil {
			return err
		}
	}
	for _, kind := range made {
		if err := r.awaitServed(ctx, kind); err != nil {
			if err := r.warnWithout(ctx, kind, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// warnWithout says why a kind isn't written, unless that is the end of ctx.
func (r *run) warnWithout(ctx context.Context, kind scenarios.CustomKind, why error) error {
	if ctx.Err() != nil {
		return why
	}
	r.apiServer.customResources.without(kind)
	r.warn(fmt.Errorf("leaving out %s: %w", kind.GroupResource(), why))
	return nil
}

// awaitServed waits until a kind that was just defined is served.
func (r *run) awaitServed(ctx context.Context, kind scenarios.CustomKind) error {
	for since := r.clock.Now(); ; {
		err := r.again(ctx, func(ctx context.Context) error {
			_, err := r.clients.dynamic.Resource(kind.GroupVersionResource).List(ctx, metav1.ListOptions{Limit: 1})
			return err
		})
		switch {
		case err == nil:
			return nil
		case !apierrors.IsNotFound(err):
			return fmt.Errorf("wait until they are served: %w", err)
		case r.clock.Since(since) >= serveMost:
			return fmt.Errorf("their definition was made %s ago, and they aren't served: want no other definition with their names in group %s", serveMost, kind.Group)
		}
		if err := retry.Pause(ctx, r.clock, passFirst); err != nil {
			return err
		}
	}
}

// followCustoms reports changes of the provider's objects by other clients to the event loop; unfollow waits for the
// watches, which end with ctx.
func (r *run) followCustoms(ctx context.Context) (err error) {
	kinds := r.apiServer.customResources.written()
	if len(kinds) == 0 {
		return nil
	}
	r.unfollow, err = followCustoms(ctx, r.clients.dynamic, r.label, kinds, r.eventLoop, r.sim, func() { r.lastEvent = r.clock.Now() })
	return err
}

// dropStray removes the provider's objects that an earlier live run has left and that have no machine any more: those
// of machines whose nodes had not come, or were on their way out.
func (r *run) dropStray(ctx context.Context) error {
	c := r.apiServer.customResources
	for _, kind := range c.written() {
		list, err := r.clients.dynamic.Resource(kind.GroupVersionResource).List(ctx, metav1.ListOptions{LabelSelector: Label + "=" + r.label})
		if err != nil {
			return fmt.Errorf("look for %s of an earlier live run: %w", kind.GroupResource(), err)
		}
		for _, o := range list.Items {
			key := keyOf(kind, o.GetNamespace(), o.GetName())
			if c.knows(key) {
				continue
			}
			client := c.of(kind, o.GetNamespace())
			c.enqueue(kind, key, "remove", func(ctx context.Context) error {
				if err := release(ctx, client, o.GetName(), o.GetUID()); err != nil {
					return err
				}
				return deleted(client.Delete(ctx, o.GetName(), onlyThis(o.GetUID(), nil)))
			}, nil)
		}
	}
	return nil
}

// CustomKinds are the provider's own kinds whose objects the live run writes, such as nodeclaims.karpenter.sh. They are
// known when [BeforeBegin] is called.
func (p *Runner) CustomKinds() []schema.GroupVersionResource { return slices.Clone(p.served) }
