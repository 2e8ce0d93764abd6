package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reporter is the function that the provider calls; it does nothing once the controller has ended.
func (pc *PodController) reporter(ctx context.Context) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod == nil || ctx.Err() != nil {
			return
		}
		status := normalPodStatus(&pod.Status)
		said := &podReport{uid: pod.UID, status: &status, deletion: pod.DeletionTimestamp.DeepCopy()}
		if grace := pod.DeletionGracePeriodSeconds; grace != nil {
			said.grace = new(*grace)
		}
		said.fingerprint = statusFingerprint(said.status)
		of := metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		if !pc.early.keep(of, said) {
			pc.report(of, said)
		}
	}
}

// report notes what the provider says of a pod and asks for its status to be written. A pod whose event hasn't come yet
// is known by the cache already; one that isn't there either is dropped.
func (pc *PodController) report(of metav1.ObjectMeta, said *podReport) {
	pod := &corev1.Pod{ObjectMeta: of}
	uid, news := pc.store.report(nameOf(pod), of.UID, said)
	if uid == "" && !news { // there is no record: a pod without a UID has an empty one
		cached, err := pc.cached(context.Background(), of.Namespace, of.Name, string(of.UID))
		if err != nil || cached == nil {
			return
		}
		pc.store.remember(cached)
		uid, news = pc.store.report(nameOf(pod), cached.UID, said)
	}
	if news {
		pod.UID = uid
		pc.statuses.add(keyOf(pod))
	}
}

// syncStatus writes what the provider said last of a pod, and draws the conclusions: a pod that the provider deletes by
// itself is deleted at the API, and a deleted pod of which nothing runs any more leaves it.
func (pc *PodController) syncStatus(ctx context.Context, key string) error {
	pod, err := pc.keyed(ctx, key)
	if pod == nil || err != nil {
		return err
	}
	record := pc.store.read(nameOf(pod), pod.UID)
	if record.lastReported == nil {
		return nil
	}
	if record.newest != nil && newer(record.newest, pod) {
		pod = record.newest
	}
	if !terminal(pod.Status.Phase) {
		if err := pc.writeTold(ctx, pod, &record); err != nil {
			return err
		}
	}
	switch {
	case pod.DeletionTimestamp != nil && !anyContainerRuns(record.lastReported.status):
		pc.removals.add(key)
	case pod.DeletionTimestamp == nil && record.lastReported.deletion != nil && pc.means(pod, record.lastReported):
		return pc.deleteForProvider(ctx, pod, record.lastReported)
	}
	return nil
}

// means says whether the provider's deletion is this pod's. A provider that tells no UIDs may still end an earlier pod of
// the name: it is believed where its status agrees with the pod's, which has just been written unless the pod had ended.
func (pc *PodController) means(pod *corev1.Pod, reported *podReport) bool {
	return reported.uid != "" || !terminal(pod.Status.Phase) || reported.status.Phase == pod.Status.Phase
}

// writeTold writes the provider's last word into a pod's status.
func (pc *PodController) writeTold(ctx context.Context, pod *corev1.Pod, record *podRecord) error {
	reported := record.lastReported
	merged := mergePodStatus(pod, reported.status, pc.cfg.ProviderConditions, pc.now())
	if apiequality.Semantic.DeepEqual(&merged, &pod.Status) {
		return nil
	}
	written, err := pc.writeStatus(ctx, pod, merged)
	if err != nil || written == nil {
		return err
	}
	pc.store.write(nameOf(pod), pod.UID, func(r *podRecord) {
		if r.lastReported == reported {
			r.accepted = statusFingerprint(&written.Status)
		}
	})
	return nil
}

// writeStatus writes a status upon exactly this state of the pod: where another client was faster, the API server
// answers with a conflict, and the work is done again upon the newer state. Nil without an error means that the pod
// is gone.
func (pc *PodController) writeStatus(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) (*corev1.Pod, error) {
	next := *pod
	next.Status = status
	written, err := pc.client.Pods(pod.Namespace).UpdateStatus(ctx, &next, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err := pc.trouble.report(ctx, access{"update", "pods/status", pod.Namespace}, err); err != nil {
		return nil, fmt.Errorf("pod %s: write its status: %w", nameOf(pod), err)
	}
	if cached, err := pc.lister.Pods(pod.Namespace).Get(pod.Name); err == nil && newer(written, cached) {
		pc.store.write(nameOf(pod), pod.UID, func(r *podRecord) { r.newest = written })
	}
	return written, nil
}
