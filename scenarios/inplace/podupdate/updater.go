package podupdate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/inplace/imageresolver"
)

// Pods is how an Updater reads and writes pods. It needs get and patch on pods, and patch on pods/resize for Resize.
// inplace.Pods makes one of a controller-runtime client; a typed client of client-go does in a few lines, which don't link
// the clients of every group.
type Pods interface {
	// GetPod reads a pod into an object of its own.
	GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error)
	// PatchPod writes a strategic merge patch to a pod, or to a subresource where that isn't empty, and returns the pod as
	// it is then.
	PatchPod(ctx context.Context, namespace, name, subresource string, patch []byte) (*corev1.Pod, error)
}

// Updater is the state machine over a client: each method reads the pod again, decides by Keys, and writes with the version
// that it has read. A conflict is followed by the same again, five times in all. The pod that is handed in says which one
// is meant, by namespace, name and, where it has one, UID; it is never changed. What is returned is a fresh object of the
// API server's, or nil beside an error; callers replace their copy by it.
//
// An Updater may be used by several goroutines at once if its Digests may.
type Updater struct {
	// Pods reads and writes.
	Pods Pods
	// Keys are the labels and annotations.
	Keys Keys
	// Clock is the wall clock if nil.
	Clock clock.Clock
	// Digests may be nil.
	Digests Digests
	// Observe, if set, is told how each Trigger and Resize ended.
	Observe func(Ending)
}

// Ending is how an attempt to trigger an update ended.
type Ending string

// The endings. Conflict is a write that another came before, and a pod that is in another phase than expected.
const (
	Success  Ending = "success"
	Conflict Ending = "conflict"
	Error    Ending = "error"
)

// Trigger starts an update as Apply describes it. Where nothing is to be changed, nothing is written.
func (u Updater) Trigger(ctx context.Context, pod *corev1.Pod, opts UpdateOptions) (*corev1.Pod, error) {
	written, _, err := u.update(ctx, pod, !opts.DisableRetry, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		return u.Keys.Apply(live, opts, u.now())
	})
	u.ended(err)
	return written, err
}

// Marked is what Mark has found and done.
type Marked struct {
	// Pod is the pod as it is now.
	Pod *corev1.Pod
	// Written says whether this call completed the update.
	Written bool
	// Progress is how far the update had come.
	Progress Progress
}

// Mark completes the update of a pod if Progress says that it is done. It does nothing if the pod has another sandbox
// phase by now than the given one, whose caller then decided on something old.
func (u Updater) Mark(ctx context.Context, pod *corev1.Pod) (Marked, error) {
	return u.mark(ctx, pod, func(live *corev1.Pod) (Progress, error) {
		return u.Keys.Progress(live, u.Digests, 0, u.now())
	})
}

// MarkResolved is Mark for a caller that has a resolver in place of Digests: Keys.Completion says whether the update is done.
func (u Updater) MarkResolved(ctx context.Context, pod *corev1.Pod, resolver imageresolver.DigestResolver) (Marked, error) {
	return u.mark(ctx, pod, func(live *corev1.Pod) (Progress, error) {
		return u.Keys.completion(ctx, live, resolver)
	})
}

func (u Updater) mark(ctx context.Context, pod *corev1.Pod, progress func(*corev1.Pod) (Progress, error)) (Marked, error) {
	var m Marked
	expected := u.Keys.SandboxPhase(pod)
	var err error
	m.Pod, m.Written, err = u.update(ctx, pod, true, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		var err error
		if m.Progress, err = progress(live); err != nil {
			return nil, false, fmt.Errorf("mark pod %s: %w", name(live), err)
		}
		if m.Progress.State != Done || u.Keys.SandboxPhase(live) != expected {
			return live, false, nil
		}
		return u.Keys.Complete(live, u.now())
	})
	return m, err
}

// Rollback returns a pod to the images before, as RollbackFor describes it.
func (u Updater) Rollback(ctx context.Context, pod *corev1.Pod, why Progress, phase string) (*corev1.Pod, error) {
	written, _, err := u.update(ctx, pod, true, u.same(pod, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		return u.Keys.RollbackFor(live, why, phase, u.now())
	}))
	return written, err
}

// Fail gives an update up where it stands.
func (u Updater) Fail(ctx context.Context, pod *corev1.Pod, why Progress) (*corev1.Pod, error) {
	written, _, err := u.update(ctx, pod, true, u.same(pod, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		return u.Keys.Fail(live, why, u.now())
	}))
	return written, err
}

// same lets a decision stand only for the update that the caller has seen: another that was triggered meanwhile is not to
// be ended for the reasons of this one.
func (u Updater) same(seen *corev1.Pod, decide decision) decision {
	return func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		was, err := u.Keys.Read(seen)
		if err != nil {
			return nil, false, err
		}
		is, err := u.Keys.Read(live)
		if err != nil {
			return nil, false, err
		}
		if was != nil && is != nil && !was.Since().Equal(is.Since()) {
			return live, false, nil
		}
		return decide(live)
	}
}

// decision is what is to become of a pod. It gets an object of its own.
type decision func(live *corev1.Pod) (next *corev1.Pod, changed bool, err error)

func (u Updater) update(ctx context.Context, pod *corev1.Pod, again bool, decide decision) (*corev1.Pod, bool, error) {
	return u.updateAt(ctx, pod, again, "", decide)
}

// updateAt reads, decides and writes, to the pod or a subresource, again after each conflict if it may.
func (u Updater) updateAt(ctx context.Context, pod *corev1.Pod, again bool, subresource string, decide decision) (*corev1.Pod, bool, error) {
	if pod == nil {
		return nil, false, ErrNoPod
	}
	backoff := wait.Backoff{Steps: 5, Duration: 10 * time.Millisecond, Factor: 1, Jitter: 0.1}
	for {
		written, changed, err := u.once(ctx, pod, subresource, decide)
		if err == nil {
			return written, changed, nil
		}
		pause := backoff.Step()
		if !again || !apierrors.IsConflict(err) || backoff.Steps == 0 {
			return nil, false, err
		}
		timer := u.clock().NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, false, fmt.Errorf("update pod %s: %w", name(pod), context.Cause(ctx))
		case <-timer.C():
		}
	}
}

func (u Updater) once(ctx context.Context, pod *corev1.Pod, subresource string, decide decision) (*corev1.Pod, bool, error) {
	live, err := u.read(ctx, pod)
	if err != nil {
		return nil, false, err
	}
	next, changed, err := decide(live)
	if err != nil {
		return nil, false, err
	}
	if !changed {
		return live, false, nil
	}
	written, err := u.write(ctx, live, next, subresource)
	return written, err == nil, err
}

// read gets the pod into an object that holds nothing of an earlier read.
func (u Updater) read(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	live, err := u.Pods.GetPod(ctx, pod.Namespace, pod.Name)
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", name(pod), err)
	}
	if pod.UID != "" && live.UID != pod.UID {
		return nil, fmt.Errorf("read pod %s: %w: found uid %s, want %s", name(pod), ErrPodReplaced, live.UID, pod.UID)
	}
	return live, nil
}

// write sends what differs between two states of a pod, and no field that this program's types don't know.
func (u Updater) write(ctx context.Context, live, next *corev1.Pod, subresource string) (*corev1.Pod, error) {
	patch, err := difference(live, next)
	if err == nil {
		live, err = u.Pods.PatchPod(ctx, live.Namespace, live.Name, subresource, patch)
	}
	if err != nil {
		return nil, fmt.Errorf("write pod %s: %w", name(next), err)
	}
	return live, nil
}

// difference is the strategic merge patch between two states of a pod that only applies to the version of the first.
func difference(live, next *corev1.Pod) ([]byte, error) {
	if live.ResourceVersion == "" {
		return nil, errors.New("found no resourceVersion on the pod that was read: want the API server's object")
	}
	before, after := live.DeepCopy(), next.DeepCopy()
	before.ResourceVersion, after.ResourceVersion = "", live.ResourceVersion // so that the patch names it
	old, err := json.Marshal(before)
	if err != nil {
		return nil, err
	}
	changed, err := json.Marshal(after)
	if err != nil {
		return nil, err
	}
	return strategicpatch.CreateTwoWayMergePatch(old, changed, corev1.Pod{})
}

func (u Updater) clock() clock.Clock {
	if u.Clock == nil {
		return clock.RealClock{}
	}
	return u.Clock
}

func (u Updater) now() time.Time { return u.clock().Now() }

func (u Updater) ended(err error) {
	if u.Observe == nil {
		return
	}
	switch {
	case err == nil:
		u.Observe(Success)
	case apierrors.IsConflict(err), errors.Is(err, ErrUnexpectedPodPhase):
		u.Observe(Conflict)
	default:
		u.Observe(Error)
	}
}
