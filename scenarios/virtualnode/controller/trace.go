package controller

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A Tracer begins a span. It returns the context that carries the span and the function that ends it, which is called
// once, with the error of the work or nil. It may be called from any goroutine, and its function from the same one.
//
// A controller with a Tracer begins a span for each piece of work of its queues and, within it, one for each call of the
// provider, whose method gets the context of that span: the provider's own spans become its children. With OpenTelemetry:
//
//	func(ctx context.Context, o virtualnode.Operation) (context.Context, func(error)) {
//		ctx, span := tracer.Start(ctx, o.Name, trace.WithAttributes(attribute.String("pod", o.Pod)))
//		return ctx, func(err error) {
//			span.RecordError(err)
//			span.End()
//		}
//	}
type Tracer func(ctx context.Context, operation Operation) (context.Context, func(error))

// An Operation is the subject of a span.
type Operation struct {
	// Name is the method of the provider that is called (CreatePod, UpdatePod, DeletePod, GetPod, GetPodByUID, GetPodStatus,
	// GetPods, Ping), or SyncPod, SyncStatus or RemovePod for the work of a queue.
	Name string
	// Namespace, Pod and UID say which pod it is about, as far as the caller knows.
	Namespace, Pod string
	UID            types.UID
}

// begin begins a span, if tracing is on.
func (t Tracer) begin(ctx context.Context, o Operation) (context.Context, func(error)) {
	if t == nil {
		return ctx, func(error) {}
	}
	return t(ctx, o)
}

// do runs work within a span.
func (t Tracer) do(ctx context.Context, o Operation, work func(context.Context) error) (err error) {
	ctx, end := t.begin(ctx, o)
	defer func() { end(err) }()
	return work(ctx)
}

// onPod is an operation on one pod.
func onPod(name string, pod *corev1.Pod) Operation {
	return Operation{Name: name, Namespace: pod.Namespace, Pod: pod.Name, UID: pod.UID}
}

// ofKey is an operation on the pod of a queue's key: namespace/name, or namespace/name/UID.
func ofKey(name, key string) Operation {
	parts := append(strings.SplitN(key, "/", 3), "", "")
	return Operation{Name: name, Namespace: parts[0], Pod: parts[1], UID: types.UID(parts[2])}
}

// traced is a provider whose methods are called within spans.
type traced struct {
	PodLifecycleHandler
	by Tracer
}

func (p traced) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	return p.by.do(ctx, onPod("CreatePod", pod), func(ctx context.Context) error { return p.PodLifecycleHandler.CreatePod(ctx, pod) })
}

func (p traced) UpdatePod(ctx context.Context, pod *corev1.Pod) error {
	return p.by.do(ctx, onPod("UpdatePod", pod), func(ctx context.Context) error { return p.PodLifecycleHandler.UpdatePod(ctx, pod) })
}

func (p traced) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	return p.by.do(ctx, onPod("DeletePod", pod), func(ctx context.Context) error { return p.PodLifecycleHandler.DeletePod(ctx, pod) })
}

func (p traced) GetPod(ctx context.Context, namespace, name string) (pod *corev1.Pod, err error) {
	ctx, end := p.by.begin(ctx, Operation{Name: "GetPod", Namespace: namespace, Pod: name})
	defer func() { end(err) }()
	return p.PodLifecycleHandler.GetPod(ctx, namespace, name)
}

func (p traced) GetPodStatus(ctx context.Context, namespace, name string) (status *corev1.PodStatus, err error) {
	ctx, end := p.by.begin(ctx, Operation{Name: "GetPodStatus", Namespace: namespace, Pod: name})
	defer func() { end(err) }()
	return p.PodLifecycleHandler.GetPodStatus(ctx, namespace, name)
}

func (p traced) GetPods(ctx context.Context) (pods []*corev1.Pod, err error) {
	ctx, end := p.by.begin(ctx, Operation{Name: "GetPods"})
	defer func() { end(err) }()
	return p.PodLifecycleHandler.GetPods(ctx)
}

// tracedGetter is a PodUIDGetter that is called within spans.
type tracedGetter struct {
	PodUIDGetter
	by Tracer
}

func (p tracedGetter) GetPodByUID(ctx context.Context, namespace, name string, uid types.UID) (pod *corev1.Pod, err error) {
	ctx, end := p.by.begin(ctx, Operation{Name: "GetPodByUID", Namespace: namespace, Pod: name, UID: uid})
	defer func() { end(err) }()
	return p.PodUIDGetter.GetPodByUID(ctx, namespace, name, uid)
}
