package podupdate

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Resize writes the intention and then the resources. It is done again by calling it again, wherever it was cut short.
// If the server refuses the resources, as it does where the pod's node isn't there or hasn't room for them, the
// intention is marked as failed, and the error is an ErrRefused that says why. An intention that is refused itself marks
// nothing.
func (u Updater) Resize(ctx context.Context, pod *corev1.Pod, resources Resources) (*corev1.Pod, error) {
	written, _, err := u.update(ctx, pod, true, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		return u.Keys.BeginResize(live, resources, u.now())
	})
	if err == nil {
		written, err = u.resources(ctx, written, resources)
	}
	u.ended(err)
	return written, err
}

// resources gives a pod the resources of the intention that is written on it, or marks that as failed where the server
// refuses them. If the mark can't be written, the error is that of the mark: the same is to be tried again then.
func (u Updater) resources(ctx context.Context, pod *corev1.Pod, resources Resources) (*corev1.Pod, error) {
	written, err := u.allocate(ctx, pod, resources)
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		return written, err
	}
	if _, failed := u.FailResize(ctx, pod, Progress{Reason: ReasonRefused, Message: line(err.Error())}); failed != nil {
		return nil, fmt.Errorf("%s: note that on the pod: %w", line(err.Error()), failed)
	}
	return nil, fmt.Errorf("%w: %w", ErrRefused, err)
}

// allocate writes to the subresource alone.
func (u Updater) allocate(ctx context.Context, pod *corev1.Pod, resources Resources) (*corev1.Pod, error) {
	written, _, err := u.updateAt(ctx, pod, true, "resize", func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		return ApplyResize(live, resources)
	})
	if err != nil {
		return nil, fmt.Errorf("resize: %w", err)
	}
	return written, nil
}

// MarkResize completes the resize of a pod if it is done.
func (u Updater) MarkResize(ctx context.Context, pod *corev1.Pod) (Marked, error) {
	var m Marked
	var err error
	m.Pod, m.Written, err = u.update(ctx, pod, true, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		var err error
		if m.Progress, err = u.Keys.ResizeProgress(live, 0, u.now()); err != nil {
			return nil, false, fmt.Errorf("mark pod %s: %w", name(live), err)
		}
		if m.Progress.State != Done {
			return live, false, nil
		}
		return u.Keys.CompleteResize(live, u.now())
	})
	return m, err
}

// RollbackResize returns a pod to the resources before its last resize. One that was begun since the pod was seen stays,
// and isn't taken back for the reasons of another.
func (u Updater) RollbackResize(ctx context.Context, pod *corev1.Pod, why Progress) (*corev1.Pod, error) {
	another := true
	written, _, err := u.update(ctx, pod, true, u.sameResize(pod, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		another = false
		return u.Keys.RollbackResize(live, why, u.now())
	}))
	if err != nil || another {
		return written, err
	}
	s, err := u.Keys.ReadResize(written)
	if err != nil {
		return nil, err
	}
	return u.resources(ctx, written, s.TargetResources)
}

// FailResize gives a resize up where it stands. One that was begun since the pod was seen goes on.
func (u Updater) FailResize(ctx context.Context, pod *corev1.Pod, why Progress) (*corev1.Pod, error) {
	written, _, err := u.update(ctx, pod, true, u.sameResize(pod, func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		return u.Keys.FailResize(live, why, u.now())
	}))
	return written, err
}

// sameResize is same of resizes: a decision stands only for the one that the caller has seen.
func (u Updater) sameResize(seen *corev1.Pod, decide decision) decision {
	return func(live *corev1.Pod) (*corev1.Pod, bool, error) {
		was, err := u.Keys.ReadResize(seen)
		if err != nil {
			return nil, false, err
		}
		is, err := u.Keys.ReadResize(live)
		if err != nil {
			return nil, false, err
		}
		if was != nil && is != nil && !was.UpdateTime.Equal(&is.UpdateTime) {
			return live, false, nil
		}
		return decide(live)
	}
}
