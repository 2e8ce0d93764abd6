package live

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/internal/apischeme"
)

// prerequisites are what a scenario needs in the cluster: namespaces, workloads, budgets. They come before its
// nodes.
type prerequisites struct {
	label  string
	client dynamic.Interface
	// confined keeps the scenario's pods on its nodes: there are others, on which
	// their images would be pulled in earnest, and the scenario would never begin.
	confined bool
}

// A planned object is one that is to be created.
type planned struct {
	resource schema.GroupVersionResource
	object   *unstructured.Unstructured
}

// waits reports whether an object is a workload whose pods the scheduler places.
func (p planned) waits() bool {
	switch p.resource.Resource {
	case "deployments", "replicasets", "statefulsets", "jobs":
		return true
	}
	return false
}

func (p planned) key() string {
	name := p.object.GetName()
	if ns := p.object.GetNamespace(); ns != "" {
		name = ns + "/" + name
	}
	return p.resource.Resource + "/" + name
}

// plan labels an object and finds out what resource it is of. Of the kinds that
// Kubernetes has itself the plural follows from the kind.
func (g *prerequisites) plan(o runtime.Object) (planned, error) {
	kinds, _, err := apischeme.Scheme().ObjectKinds(o)
	if err != nil {
		return planned{}, fmt.Errorf("create %T: %w", o, err)
	}
	o = o.DeepCopyObject()
	labelClaims(o, g.label)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return planned{}, fmt.Errorf("create %s: %w", kinds[0].Kind, err)
	}
	p := planned{object: &unstructured.Unstructured{Object: fields}}
	p.resource, _ = meta.UnsafeGuessKindToResource(kinds[0])
	p.object.SetGroupVersionKind(kinds[0])
	delete(fields, "status")
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	p.object.SetLabels(withLabel(p.object.GetLabels(), g.label))
	return p, nil
}

func (g *prerequisites) planAll(objects []runtime.Object) ([]planned, error) {
	var all []planned
	for _, o := range objects {
		p, err := g.plan(o)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// resources are those of all that this run makes for the scenario, before it and in its course.
func (r *run) resources() []schema.GroupVersionResource {
	return resourcesOf(slices.Concat(r.objects, r.during))
}

// resourcesOf are the resources of planned objects, once each, in their order.
func resourcesOf(all []planned) []schema.GroupVersionResource {
	var out []schema.GroupVersionResource
	for _, p := range all {
		if !slices.Contains(out, p.resource) {
			out = append(out, p.resource)
		}
	}
	return out
}

// create makes an object, and reports whether it wasn't there. One that is there
// and isn't ours is an error, but for a namespace and for a DaemonSet of the
// system's, such as kube-proxy: those are left to whom they belong, and the pods of
// such a DaemonSet come to our nodes too.
func (g *prerequisites) create(ctx context.Context, p planned) (created bool, err error) {
	if g.confined {
		if err := g.confine(p.object); err != nil {
			return false, fmt.Errorf("create %s: %w", p.key(), err)
		}
	}
	client := g.of(p.resource, p.object.GetNamespace())
	_, err = client.Create(ctx, p.object, metav1.CreateOptions{FieldManager: fieldManager})
	if err == nil {
		return true, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return false, fmt.Errorf("create %s: %w", p.key(), err)
	}
	have, err := client.Get(ctx, p.object.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err): // it has just gone
		return false, apierrors.NewServiceUnavailable(p.key() + " was being deleted")
	case err != nil:
		return false, fmt.Errorf("create %s: it is there: %w", p.key(), err)
	case have.GetLabels()[Label] == g.label && have.GetDeletionTimestamp() == nil:
		return false, nil
	case have.GetDeletionTimestamp() != nil:
		return false, apierrors.NewServiceUnavailable(p.key() + " is still being deleted")
	case p.stays():
		return false, nil
	}
	return false, g.foreign(p)
}

// stays reports whether a planned object may be there and somebody else's.
func (p planned) stays() bool {
	return p.resource == namespacesResource || p.resource.Resource == "priorityclasses" || p.resource.Resource == "daemonsets" && p.object.GetNamespace() == metav1.NamespaceSystem
}

// foreign is the error of a planned object that is there and isn't ours.
func (g *prerequisites) foreign(p planned) error {
	return fmt.Errorf("create %s: %w", p.key(), foreign(p.resource.GroupResource(), p.object.GetName(), g.label))
}

// confine has the pods of a workload choose the scenario's nodes.
func (g *prerequisites) confine(workload *unstructured.Unstructured) error {
	if _, is, err := unstructured.NestedMap(workload.Object, "spec", "template"); !is || err != nil {
		return err
	}
	return unstructured.SetNestedField(workload.Object, g.label, "spec", "template", "spec", "nodeSelector", Label)
}

func (g *prerequisites) of(r schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return g.client.Resource(r)
	}
	return g.client.Resource(r).Namespace(namespace)
}
