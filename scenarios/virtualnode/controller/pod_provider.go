package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

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

// reasonProviderFailed is the status reason of a pod that the provider can't create or update.
const reasonProviderFailed = "ProviderFailed"

// writeFailure shows in a pod's status that the provider can't create or update it: Pending, or Failed if it must never be
// restarted and doesn't run. A pending one is tried again, so that this write fails unheard but for a missing right. It stands until
// the provider says something new, or has done what it couldn't.
func (pc *PodController) writeFailure(ctx context.Context, pod *corev1.Pod, cause error) {
	status := *pod.Status.DeepCopy()
	status.Phase, status.Reason, status.Message = corev1.PodPending, reasonProviderFailed, cause.Error()
	if pod.Spec.RestartPolicy == corev1.RestartPolicyNever && pod.Status.Phase != corev1.PodRunning {
		status.Phase = corev1.PodFailed
	}
	if status.Phase == pod.Status.Phase && status.Reason == pod.Status.Reason && status.Message == pod.Status.Message {
		return
	}
	written, err := pc.writeStatus(ctx, pod, status)
	if err != nil || written == nil {
		return // told of by writeStatus
	}
	pc.store.write(nameOf(pod), pod.UID, func(r *podRecord) { r.accepted = statusFingerprint(&written.Status) })
}
