package kubeclient

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/apischeme"
)

// Creator creates objects of one resource.
type Creator[T any] interface {
	Create(ctx context.Context, object T, opts metav1.CreateOptions) (T, error)
}

// Resource is the client of one resource in one namespace, in all of them, or of the cluster.
type Resource[T, L any] interface {
	Creator[T]
	Update(ctx context.Context, object T, opts metav1.UpdateOptions) (T, error)
	Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error
	Get(ctx context.Context, name string, opts metav1.GetOptions) (T, error)
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// WithStatus is a Resource with a status that is written by itself.
type WithStatus[T, L any] interface {
	Resource[T, L]
	UpdateStatus(ctx context.Context, object T, opts metav1.UpdateOptions) (T, error)
}

// object is the pointer to a Go type of an object.
type object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// list is the pointer to a Go type of a list.
type list[L any] interface {
	*L
	runtime.Object
}

// creator makes requests about one resource.
type creator[T any, P object[T]] struct {
	client              rest.Interface
	namespace, resource string
}

// resource adds those that answer with a list.
type resource[T, L any, P object[T], PL list[L]] struct{ creator[T, P] }

func of[T, L any, P object[T], PL list[L]](client rest.Interface, namespace, name string) WithStatus[P, PL] {
	return resource[T, L, P, PL]{creator[T, P]{client, namespace, name}}
}

// about directs a request to the resource.
func (c creator[T, P]) about(r *rest.Request, opts runtime.Object) *rest.Request {
	return r.NamespaceIfScoped(c.namespace, c.namespace != "").Resource(c.resource).VersionedParams(opts, apischeme.ParameterCodec())
}

// Create implements Creator.
func (c creator[T, P]) Create(ctx context.Context, object P, opts metav1.CreateOptions) (P, error) {
	out := P(new(T))
	return out, c.about(c.client.Post(), &opts).Body(object).Do(ctx).Into(out)
}

// Update implements Resource.
func (r resource[T, L, P, PL]) Update(ctx context.Context, object P, opts metav1.UpdateOptions) (P, error) {
	out := P(new(T))
	return out, r.about(r.client.Put(), &opts).Name(object.GetName()).Body(object).Do(ctx).Into(out)
}

// UpdateStatus implements WithStatus.
func (r resource[T, L, P, PL]) UpdateStatus(ctx context.Context, object P, opts metav1.UpdateOptions) (P, error) {
	out := P(new(T))
	return out, r.about(r.client.Put(), &opts).Name(object.GetName()).SubResource("status").Body(object).Do(ctx).Into(out)
}

// Delete implements Resource.
func (r resource[T, L, P, PL]) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return r.client.Delete().NamespaceIfScoped(r.namespace, r.namespace != "").Resource(r.resource).Name(name).Body(&opts).Do(ctx).Error()
}

// Get implements Resource.
func (r resource[T, L, P, PL]) Get(ctx context.Context, name string, opts metav1.GetOptions) (P, error) {
	out := P(new(T))
	return out, r.about(r.client.Get(), &opts).Name(name).Do(ctx).Into(out)
}

// List implements Resource.
func (r resource[T, L, P, PL]) List(ctx context.Context, opts metav1.ListOptions) (PL, error) {
	out := PL(new(L))
	return out, r.about(r.client.Get(), &opts).Timeout(timeout(opts)).Do(ctx).Into(out)
}

// Watch implements Resource.
func (r resource[T, L, P, PL]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return r.about(r.client.Get(), &opts).Timeout(timeout(opts)).Watch(ctx)
}

// Patch implements Resource.
func (r resource[T, L, P, PL]) Patch(ctx context.Context, name string, kind types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (P, error) {
	out := P(new(T))
	return out, r.about(r.client.Patch(kind), &opts).Name(name).SubResource(subresources...).Body(data).Do(ctx).Into(out)
}

func timeout(opts metav1.ListOptions) time.Duration {
	if opts.TimeoutSeconds == nil {
		return 0
	}
	return time.Duration(*opts.TimeoutSeconds) * time.Second
}
