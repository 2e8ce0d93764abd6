package testcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// ErrEvictionTimeout ends a Roll without Force where pods are left on a node at its EvictionTimeout. A
// managed node group reports a PodEvictionFailure then.
var ErrEvictionTimeout = errors.New("reached the time limit for evicting its pods")

// drain evicts until no pod is bound to the node, as `kubectl drain` does. At the time limit it gives up, or deletes
// what isn't leaving yet and waits on. The limit is looked at between requests: a context with that deadline would cut
// requests off, and its rate limiter would refuse them before it.
func (r Roll) drain(ctx context.Context, client kubernetes.Interface, node string, report *RollReport) error {
	began := time.Now()
	return poll(ctx, cmp.Or(r.Retry, 250*time.Millisecond), "the pods to leave "+node, func(ctx context.Context) (bool, error) {
		pods, err := podsOn(ctx, client, node)
		if err != nil || len(pods) == 0 {
			return err == nil, err
		}
		leave := r.evict
		if r.EvictionTimeout > 0 && time.Since(began) >= r.EvictionTimeout {
			if !r.Force {
				return false, ErrEvictionTimeout
			}
			leave = r.force
		}
		for _, pod := range pods {
			if pod.DeletionTimestamp != nil {
				continue
			}
			if err := leave(ctx, client, &pod, report); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}

// force deletes a pod, which no budget is asked about.
func (r Roll) force(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, report *RollReport) error {
	err := client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	switch {
	case err == nil:
		report.Forced[pod.Spec.NodeName]++
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("delete %s: %w", pod.Name, err)
	}
	return nil
}

// evict asks once; a refusal is no error.
func (r Roll) evict(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, report *RollReport) error {
	err := client.PolicyV1().Evictions(pod.Namespace).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	})
	switch {
	case err == nil:
		report.Evicted[pod.Spec.NodeName]++
	case apierrors.IsTooManyRequests(err):
		report.Refused[pod.Spec.NodeName]++
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("evict %s: %w", pod.Name, err)
	}
	return nil
}
