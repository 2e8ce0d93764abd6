package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// syncPod makes the provider follow what the API shows under one namespace/name.
func (pc *PodController) syncPod(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return nil //nolint:nilerr // no pod has such a key, and it won't get better
	}
	pod, err := pc.lister.Pods(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		pod, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("pod %s: read the cache: %w", key, err)
	}
	ours := pod != nil && pc.filter(ctx, pod)
	if ours {
		pc.store.remember(pod)
	}
	if err := pc.endGone(ctx, key, namespace, name, pod); err != nil {
		return err
	}
	if !ours {
		return nil
	}
	return pc.syncLive(ctx, key, pod)
}

// syncLive makes the provider follow a pod that is in the API.
func (pc *PodController) syncLive(ctx context.Context, key string, pod *corev1.Pod) error {
	record := pc.store.read(key, pod.UID)
	if record.newest != nil && newer(record.newest, pod) {
		pod = record.newest // the cache doesn't have the controller's own write yet, which may have ended the pod
	}
	if pod.DeletionTimestamp != nil && !pc.stillRuns(pod, &record) {
		pc.removals.add(keyOf(pod))
		return nil
	}
	wanted := podFingerprint(pod)
	if record.synced == wanted {
		return nil
	}
	var err error
	switch {
	case pod.DeletionTimestamp != nil:
		err = pc.endDeleted(ctx, pod)
	case terminal(pod.Status.Phase):
	default:
		err = pc.createOrUpdate(ctx, pod)
	}
	if err == nil {
		pc.store.write(key, pod.UID, func(r *podRecord) { r.synced = wanted })
	}
	return err
}

// stillRuns says whether a container of the pod runs, by the provider's last word, else by the API's.
func (pc *PodController) stillRuns(pod *corev1.Pod, record *podRecord) bool {
	if record.lastReported != nil {
		return anyContainerRuns(record.lastReported.status)
	}
	return anyContainerRuns(&pod.Status)
}

// endDeleted hands a pod's deletion to the provider, and sets the time at which its object leaves the API at the latest.
func (pc *PodController) endDeleted(ctx context.Context, pod *corev1.Pod) error {
	runs, err := pc.end(ctx, pod)
	if err != nil {
		return err
	}
	wait := time.Duration(0)
	if runs {
		wait = gracePeriod(pod) + max(0, orDefault(pc.cfg.DeletionMargin, DefaultDeletionMargin))
	}
	at := pc.clock.Now().Add(wait)
	pc.store.write(nameOf(pod), pod.UID, func(r *podRecord) { r.removeAt = at })
	pc.removals.addAfter(keyOf(pod), wait)
	return nil
}

// gracePeriod returns how long a deleted pod may take to end.
func gracePeriod(pod *corev1.Pod) time.Duration {
	for _, seconds := range []*int64{pod.DeletionGracePeriodSeconds, pod.Spec.TerminationGracePeriodSeconds} {
		if seconds != nil {
			return time.Duration(min(max(*seconds, 0), int64(maxGrace/time.Second))) * time.Second
		}
	}
	return corev1.DefaultTerminationGracePeriodSeconds * time.Second
}

// maxGrace bounds a grace period, which may be any number of seconds.
const maxGrace = 100 * 365 * 24 * time.Hour

// endGone ends what the provider still runs of pods of the name that have left the API. present is the pod that has the
// name now, if any.
func (pc *PodController) endGone(ctx context.Context, key, namespace, name string, present *corev1.Pod) error {
	uids := pc.store.goneBy(key)
	if present != nil && len(uids) == 0 {
		return nil
	}
	ask := uids
	if pc.getter == nil || len(ask) == 0 {
		ask = []types.UID{""}
	}
	for _, uid := range ask {
		held, err := pc.held(ctx, namespace, name, uid)
		if err != nil {
			return err
		}
		if held == nil || present != nil && (held.UID == "" || held.UID == present.UID) {
			continue
		}
		if _, err := pc.end(ctx, held); err != nil {
			return err
		}
	}
	pc.store.ended(key, uids)
	return nil
}

// createOrUpdate makes the provider run a pod as the API shows it.
func (pc *PodController) createOrUpdate(ctx context.Context, pod *corev1.Pod) error {
	wanted := forProvider(pod)
	if pc.env != nil {
		if err := pc.env.resolve(wanted); err != nil {
			return fmt.Errorf("pod %s: resolve its environment: %w", nameOf(pod), err)
		}
	}
	held, err := pc.held(ctx, pod.Namespace, pod.Name, pod.UID)
	if err != nil {
		return err
	}
	if held != nil && held.UID != "" && held.UID != pod.UID { // an earlier pod of the name
		if _, err := pc.end(ctx, held); err != nil {
			return err
		}
		held = nil
	}
	if held != nil {
		if podsEqual(held, wanted) {
			return nil
		}
		if err := pc.provider.UpdatePod(ctx, wanted); err != nil {
			pc.happened(pod, corev1.EventTypeWarning, reasonUpdateFailed, err.Error())
			pc.writeFailure(ctx, pod, err)
			return fmt.Errorf("pod %s: the provider can't update it: %w", nameOf(pod), err)
		}
		pc.happened(pod, corev1.EventTypeNormal, reasonUpdateSuccess, "Update pod in provider successfully")
		pc.statuses.add(keyOf(pod)) // in place of a failure's
		return nil
	}
	if err := pc.provider.CreatePod(ctx, wanted); err != nil {
		pc.happened(pod, corev1.EventTypeWarning, reasonCreateFailed, err.Error())
		pc.writeFailure(ctx, pod, err)
		return fmt.Errorf("pod %s: the provider can't create it: %w", nameOf(pod), err)
	}
	pc.happened(pod, corev1.EventTypeNormal, reasonCreateSuccess, "Create pod in provider successfully")
	return nil
}

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
func (pc *PodController) deleteForProvider(ctx context.Context, pod *corev1.Pod, reported *podReport) error {
	grace := reported.grace
	if reported.deletion.Time.Before(pc.clock.Now()) {
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
	if err := pc.trouble.report(ctx, access{"delete", "pods", pod.Namespace}, err); err != nil {
		return fmt.Errorf("pod %s: delete it: %w", nameOf(pod), err)
	}
	return nil
}
