package objects

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// Writes to objects of any kind. The Store has types for some, which it changes; of the others it is given patches.

// document is an object for the Store's writes of those that it has no type for.
func (x *Object) document() *kube.Document {
	return &kube.Document{Meta: kube.Meta{Namespace: x.Namespace, Name: x.Name, UID: x.UID}, Resource: x.key}
}

// patch writes a merge patch of an object without a type.
func (s *Objects) patch(x *Object, patch []byte) { s.Env.API.PatchDocument(x.document(), patch) }

// drop removes an object without a type.
func (s *Objects) drop(x *Object) {
	s.Env.API.DropDocument(x.document())
}

// stamp is a time as the API has it.
func stamp(i kube.Instant) string { return i.Time().UTC().Format(time.RFC3339) }

func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	return text
}

// Delete deletes an object as the API server does for a client that asks for it: pods have their own time, finalizers
// hold what they are on (rest.BeforeDelete of apiserver/pkg/registry).
func (s *Objects) Delete(x *Object, policy metav1.DeletionPropagation) {
	if x.gone {
		return
	}
	api, final := s.Env.API, kubedefaults.Finalizers(x.Finalizers, &metav1.DeleteOptions{PropagationPolicy: &policy}, false)
	switch x.resource {
	case "pods":
		if p := api.Pod(x.Namespace, x.Name); p != nil {
			if !slices.Equal(p.Finalizers, final) {
				api.UpdatePod(p, func(p *kube.Pod) { p.Finalizers = final })
			}
			api.DeletePod(p, kube.OwnGrace)
		}
		return
	case "nodes":
		if n := api.Node(x.Name); n != nil {
			if !slices.Equal(n.Finalizers, final) {
				api.UpdateNode(n, func(n *kube.Node) { n.Finalizers = final })
			}
			api.DeleteNode(n)
		}
		return
	case "poddisruptionbudgets.policy":
		if b := api.Budget(x.Namespace, x.Name); b != nil && len(final) == 0 {
			api.DeleteBudget(b)
		} else if b != nil && !b.Terminating() {
			api.UpdateBudget(b, func(b *kube.Budget) { b.Deleting, b.Finalizers = api.Now(), final })
		}
		return
	}
	if c := api.Custom(x.Resource.Resource, x.Namespace, x.Name); c != nil {
		if !slices.Equal(c.Finalizers, final) {
			api.UpdateCustom(c, func(c *kube.Custom) { c.Finalizers = final })
		}
		api.DeleteCustom(c)
		return
	}
	s.end(x, final)
}

// end deletes an object without a type.
func (s *Objects) end(x *Object, final []string) {
	if len(final) == 0 && x.resource != "namespaces" {
		s.drop(x)
		return
	}
	meta := map[string]any{}
	if !slices.Equal(x.Finalizers, final) {
		meta["finalizers"] = final
	}
	if !x.Deleting {
		meta["deletionTimestamp"] = stamp(s.Env.API.Now())
		if x.Generation > 0 {
			meta["generation"] = x.Generation + 1
		}
		if x.resource != "namespaces" {
			meta["deletionGracePeriodSeconds"] = 0
		}
	}
	if len(meta) == 0 {
		return
	}
	patch := map[string]any{"metadata": meta}
	if x.resource == "namespaces" && !x.Deleting {
		patch["status"] = map[string]any{"phase": "Terminating"}
	}
	s.patch(x, marshal(patch))
}

// release takes a finalizer away from an object, which goes with the last one if it is at its end.
func (s *Objects) release(x *Object, finalizer string) {
	if x.gone || !slices.Contains(x.Finalizers, finalizer) {
		return
	}
	api := s.Env.API
	switch x.resource {
	case "pods":
		if p := api.Pod(x.Namespace, x.Name); p != nil {
			api.UpdatePod(p, func(p *kube.Pod) { p.SetFinalizer(finalizer, false) })
		}
		return
	case "nodes":
		if n := api.Node(x.Name); n != nil {
			api.UpdateNode(n, func(n *kube.Node) { n.SetFinalizer(finalizer, false) })
		}
		return
	case "poddisruptionbudgets.policy":
		if b := api.Budget(x.Namespace, x.Name); b != nil && len(x.Finalizers) == 1 && x.Deleting {
			api.DeleteBudget(b)
		} else if b != nil {
			api.UpdateBudget(b, func(b *kube.Budget) { b.SetFinalizer(finalizer, false) })
		}
		return
	}
	if c := api.Custom(x.Resource.Resource, x.Namespace, x.Name); c != nil {
		api.UpdateCustom(c, func(c *kube.Custom) { c.SetFinalizer(finalizer, false) })
		return
	}
	left := slices.DeleteFunc(slices.Clone(x.Finalizers), func(f string) bool { return f == finalizer })
	switch {
	case len(left) > 0:
		s.patch(x, marshal(map[string]any{"metadata": map[string]any{"finalizers": left}}))
	case x.Deleting && !s.inhabited(x):
		s.drop(x)
	default:
		s.patch(x, []byte(`{"metadata":{"finalizers":null}}`))
	}
}

// own gives an object other owner references.
func (s *Objects) own(x *Object, refs []metav1.OwnerReference) {
	if x.gone {
		return
	}
	patch := []byte(`{"metadata":{"ownerReferences":null}}`)
	if len(refs) > 0 {
		patch = marshal(map[string]any{"metadata": map[string]any{"ownerReferences": refs}})
	}
	controlled := slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller })
	api := s.Env.API
	switch x.resource {
	case "pods":
		if p := api.Pod(x.Namespace, x.Name); p != nil {
			api.AmendPod(p, patch, func(p *kube.Pod) {
				if !controlled {
					p.Owner = nil
				}
			})
		}
		return
	case "nodes":
		if n := api.Node(x.Name); n != nil && !controlled && n.Owner != nil {
			api.UpdateNode(n, func(n *kube.Node) { n.Owner = nil }) // which has no owner at all then
			if len(refs) == 0 {
				return
			}
		}
	}
	if c := api.Custom(x.Resource.Resource, x.Namespace, x.Name); c != nil && !controlled && c.Owner != nil {
		api.UpdateCustom(c, func(c *kube.Custom) { c.Owner = nil }) // as above
		if len(refs) == 0 {
			return
		}
	}
	s.patch(x, patch)
}

// create adds an object without a type, with what the API server fills in.
func (s *Objects) create(resource, uid string, o metav1.Object) {
	now := s.Env.API.Now()
	o.SetUID(types.UID(uid))
	o.SetCreationTimestamp(metav1.NewTime(now.Second().Time()))
	d := &kube.Document{Meta: kube.Meta{Namespace: o.GetNamespace(), Name: o.GetName(), UID: uid}, Resource: resource}
	s.Env.API.CreateDocument(d, marshal(o))
}

// coordinates are an object's as the garbage collector's Events have them.
func coordinates(r *metav1.OwnerReference, namespace string) string {
	return fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", r.APIVersion, r.Kind, namespace, r.Name, r.UID)
}
