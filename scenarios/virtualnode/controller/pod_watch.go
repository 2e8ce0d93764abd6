package controller

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// handler turns what the informer sees into work.
func (pc *PodController) handler(ctx context.Context) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*corev1.Pod); ok {
				pc.appeared(ctx, pod)
			}
		},
		UpdateFunc: func(before, after any) {
			old, ok := before.(*corev1.Pod)
			pod, also := after.(*corev1.Pod)
			if ok && also {
				pc.changed(ctx, old, pod)
			}
		},
		DeleteFunc: func(object any) {
			switch gone := object.(type) {
			case *corev1.Pod:
				pc.vanished(ctx, gone)
			case cache.DeletedFinalStateUnknown: // the watch missed the deletion; a list found it
				if pod, ok := gone.Obj.(*corev1.Pod); ok {
					pc.vanished(ctx, pod)
				}
			}
		},
	}
}

// appeared takes in a pod that is new in the cache.
func (pc *PodController) appeared(ctx context.Context, pod *corev1.Pod) {
	if pc.filter(ctx, pod) {
		pc.store.remember(pod)
		pc.pods.add(nameOf(pod))
	}
}

// changed looks at a new state of a pod. A list after a lost watch shows a pod that was re-created under its name as a
// change of the earlier one.
func (pc *PodController) changed(ctx context.Context, old, pod *corev1.Pod) {
	if old.UID != pod.UID {
		pc.vanished(ctx, old)
		pc.appeared(ctx, pod)
		return
	}
	pc.store.caughtUp(pod)
	if !pc.filter(ctx, pod) {
		return
	}
	if pc.store.remember(pod) || podShouldEnqueue(old, pod) {
		pc.pods.add(nameOf(pod))
	}
	if record := pc.store.read(nameOf(pod), pod.UID); pc.statusDiffers(pod, &record) {
		pc.statuses.add(keyOf(pod))
	}
}

// vanished follows the removal of a pod from the API: the provider is told to end it, if it still runs.
func (pc *PodController) vanished(ctx context.Context, pod *corev1.Pod) {
	ours := pc.filter(ctx, pod)
	if !pc.store.forget(pod) && !ours {
		return
	}
	pc.pods.forget(nameOf(pod))
	pc.pods.add(nameOf(pod))
	pc.statuses.forget(keyOf(pod))
	pc.removals.forget(keyOf(pod))
}

// statusDiffers says whether the API shows another status than the provider's, so that it has to be written (again):
// the last write has failed, or another client wrote over it. Where they agree, the record shares the cache's.
func (pc *PodController) statusDiffers(pod *corev1.Pod, record *podRecord) bool {
	if record.lastReported == nil || record.newest != nil && newer(record.newest, pod) {
		return false
	}
	if record.lastReported.status == &pod.Status { // as they were at the last look
		return false
	}
	merged := mergePodStatus(pod, record.lastReported.status, pc.cfg.ProviderConditions, pc.now())
	if apiequality.Semantic.DeepEqual(&merged, &pod.Status) {
		pc.store.share(pod, record.lastReported)
		return false
	}
	return !terminal(pod.Status.Phase) && (record.accepted == 0 || record.accepted != statusFingerprint(&pod.Status))
}

// cached is the pod of that UID as the cache shows it, if it is this controller's; nil otherwise. An empty UID means the
// pod that has the name now.
func (pc *PodController) cached(ctx context.Context, namespace, name, uid string) (*corev1.Pod, error) {
	pod, err := pc.lister.Pods(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	case uid != "" && string(pod.UID) != uid, !pc.filter(ctx, pod):
		return nil, nil
	}
	return pod, nil
}

// keyed is the pod of a key of keyOf as the cache shows it, if it is this controller's; nil otherwise.
func (pc *PodController) keyed(ctx context.Context, key string) (*corev1.Pod, error) {
	parts := strings.Split(key, "/")
	if len(parts) != 3 || parts[1] == "" {
		return nil, nil
	}
	return pc.cached(ctx, parts[0], parts[1], parts[2])
}

// now is the present as the API keeps it: in whole seconds.
func (pc *PodController) now() metav1.Time { return metav1.NewTime(pc.clock.Now()).Rfc3339Copy() }
