package virtualnode

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		pc.book.remember(pod)
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
	record := pc.book.read(key, pod.UID)
	if pod.DeletionTimestamp != nil && !pc.stillRuns(pod, &record) {
		pc.removals.add(keyOf(pod))
		return nil
	}
	wanted := podPrint(pod)
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
		pc.book.write(key, pod.UID, func(r *podRecord) { r.synced = wanted })
	}
	return err
}

// stillRuns says whether a container of the pod runs, by the provider's last word, else by the API's.
func (pc *PodController) stillRuns(pod *corev1.Pod, record *podRecord) bool {
	if record.told != nil {
		return anyContainerRuns(record.told.status)
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
	pc.book.write(nameOf(pod), pod.UID, func(r *podRecord) { r.removeAt = at })
	pc.removals.addAfter(keyOf(pod), wait)
	return nil
}

// gracePeriod is how long a deleted pod may take to end.
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

// end tells the provider to end a pod, and says whether it may still run: not if the provider doesn't know it.
func (pc *PodController) end(ctx context.Context, pod *corev1.Pod) (runs bool, err error) {
	err = pc.provider.DeletePod(ctx, forProvider(pod))
	switch {
	case err == nil:
	case IsNotFound(err):
		return false, nil
	default:
		pc.happened(pod, corev1.EventTypeWarning, reasonDeleteFailed, err.Error())
		return true, fmt.Errorf("pod %s: the provider can't delete it: %w", nameOf(pod), err)
	}
	pc.happened(pod, corev1.EventTypeNormal, reasonDeleteSuccess, "Delete pod in provider successfully")
	return true, nil
}

// endGone ends what the provider still runs of pods of the name that have left the API. present is the pod that has the
// name now, if any.
func (pc *PodController) endGone(ctx context.Context, key, namespace, name string, present *corev1.Pod) error {
	uids := pc.book.goneBy(key)
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
	pc.book.ended(key, uids)
	return nil
}

// held is the provider's pod of that name and UID; an empty UID, or a provider that can't be asked by UID, gives the pod
// of that name. Nil if there is none.
func (pc *PodController) held(ctx context.Context, namespace, name string, uid types.UID) (*corev1.Pod, error) {
	var held *corev1.Pod
	var err error
	if pc.getter != nil && uid != "" {
		held, err = pc.getter.GetPodByUID(ctx, namespace, name, uid)
	} else {
		held, err = pc.provider.GetPod(ctx, namespace, name)
	}
	switch {
	case err == nil:
		return held, nil
	case IsNotFound(err):
		return nil, nil
	default:
		return nil, fmt.Errorf("pod %s/%s: ask the provider for it: %w", namespace, name, err)
	}
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
			return fmt.Errorf("pod %s: the provider can't update it: %w", nameOf(pod), err)
		}
		pc.happened(pod, corev1.EventTypeNormal, reasonUpdateSuccess, "Update pod in provider successfully")
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

// forProvider is a pod's copy for the provider to keep, without the API server's notes on who wrote which field, which
// are often the larger half of an object.
func forProvider(pod *corev1.Pod) *corev1.Pod {
	slim := *pod
	slim.ManagedFields = nil
	return slim.DeepCopy()
}

// Reasons of the Events about the provider.
const (
	reasonCreateFailed  = "ProviderCreateFailed"
	reasonCreateSuccess = "ProviderCreateSuccess"
	reasonUpdateFailed  = "ProviderUpdateFailed"
	reasonUpdateSuccess = "ProviderUpdateSuccess"
	reasonDeleteFailed  = "ProviderDeleteFailed"
	reasonDeleteSuccess = "ProviderDeleteSuccess"
)

// happened writes an Event about the provider.
func (pc *PodController) happened(pod *corev1.Pod, kind, reason, message string) {
	if !pc.cfg.SkipProviderEvents {
		pc.cfg.EventRecorder.Event(pod, kind, reason, message)
	}
}

// reasonProviderFailed is the status reason of a pod that the provider can't create.
const reasonProviderFailed = "ProviderFailed"

// writeFailure shows in a pod's status that the provider can't create it: Pending, or Failed if it must never be
// restarted. The creation is tried again either way, so that this write fails unheard but for a missing right.
func (pc *PodController) writeFailure(ctx context.Context, pod *corev1.Pod, cause error) {
	status := *pod.Status.DeepCopy()
	status.Phase, status.Reason, status.Message = corev1.PodPending, reasonProviderFailed, cause.Error()
	if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		status.Phase = corev1.PodFailed
	}
	if status.Phase == pod.Status.Phase && status.Reason == pod.Status.Reason && status.Message == pod.Status.Message {
		return
	}
	_, _ = pc.writeStatus(ctx, pod, status) // told of by writeStatus
}
