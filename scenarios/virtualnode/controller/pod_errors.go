package controller

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// access is a request's verb, resource and namespace, for which it needs a right.
type access struct{ verb, resource, namespace string }

// errorReporter tells of what goes wrong again and again in one line, once.
type errorReporter struct {
	handler func(context.Context, error) error
	stop    context.CancelCauseFunc // ends the controller; set by Run

	mu      sync.Mutex
	refused map[access]bool
	end     error
}

func newErrorReporter(handler func(context.Context, error) error) *errorReporter {
	if handler == nil {
		handler = func(ctx context.Context, err error) error {
			klog.FromContext(ctx).Error(err, "Pod controller")
			return nil
		}
	}
	return &errorReporter{handler: handler, refused: map[access]bool{}}
}

// report hears how a request ended and returns its error. A refusal is said once, until the same access is granted.
func (t *errorReporter) report(ctx context.Context, what access, err error) error {
	forbidden := apierrors.IsForbidden(err)
	t.mu.Lock()
	news := forbidden && !t.refused[what]
	if forbidden {
		t.refused[what] = true
	} else if err == nil {
		delete(t.refused, what)
	}
	t.mu.Unlock()
	if news {
		where := "all namespaces"
		if what.namespace != metav1.NamespaceAll {
			where = fmt.Sprintf("namespace %q", what.namespace)
		}
		t.say(ctx, fmt.Errorf("pod controller: %s %s: %w: grant the verb %s on %s in %s",
			what.verb, what.resource, err, what.verb, what.resource, where))
	}
	return err
}

// gaveUp tells of work that its queue gave up. Refusals have been told of already.
func (t *errorReporter) gaveUp(ctx context.Context, queue, key string, err error) {
	if ctx.Err() == nil && !apierrors.IsForbidden(err) {
		klog.FromContext(ctx).Error(err, "Pod controller waits for its next look at all pods", "queue", queue, "pod", key)
	}
}

// say hands a line to the handler, and ends the controller if that wants it so.
func (t *errorReporter) say(ctx context.Context, err error) {
	end := t.handler(ctx, err)
	if end == nil {
		return
	}
	t.mu.Lock()
	if t.end == nil {
		t.end = end
	}
	t.mu.Unlock()
	t.stop(end)
}

// ended is the error with which the handler ended the controller; nil if it didn't.
func (t *errorReporter) ended() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.end
}
