package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// removePod takes a deleted pod out of the API, as a kubelet does when the pod has ended: a deletion without grace.
func (pc *PodController) removePod(ctx context.Context, key string) error {
	pod, err := pc.keyed(ctx, key)
	if pod == nil || err != nil {
		return err
	}
	if grace := pod.DeletionGracePeriodSeconds; len(pod.Finalizers) > 0 && grace != nil && *grace == 0 {
		return nil // asked for already: it goes with its last finalizer
	}
	return pc.deletePod(ctx, pod, new(int64))
}

// deleteForProvider deletes a pod at the API that the provider ends by itself, with the provider's grace period, and
// with none if the time that it set is over.
func (pc *PodController) deleteForProvider(ctx context.Context, pod *corev1.Pod, told *podReport) error {
	grace := told.grace
	if told.deletion.Time.Before(pc.clock.Now()) {
		grace = new(int64)
	}
	return pc.deletePod(ctx, pod, grace)
}

// deletePod deletes exactly this pod at the API. It is a success if the pod is gone, or another one has its name.
func (pc *PodController) deletePod(ctx context.Context, pod *corev1.Pod, grace *int64) error {
	options := metav1.DeleteOptions{GracePeriodSeconds: grace}
	if pod.UID != "" {
		options.Preconditions = metav1.NewUIDPreconditions(string(pod.UID))
	}
	err := pc.client.Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		err = nil
	}
	if err := pc.trouble.told(ctx, access{"delete", "pods", pod.Namespace}, err); err != nil {
		return fmt.Errorf("pod %s: delete it: %w", nameOf(pod), err)
	}
	return nil
}
