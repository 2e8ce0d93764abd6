package live

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/internal/phrase"
)

const (
	// quietFor is the time without events from the server before the scenario begins, quietMost bounds the wait for
	// that: a cluster may have a life of its own.
	quietFor  = 500 * time.Millisecond
	quietMost = 5 * time.Second
)

// untold names a pod on a node of ours that its kubelet doesn't know yet: one of an earlier live run. A drain must
// not miss it.
func (r *run) untold() []string {
	all, err := r.podCache.List(labels.Everything())
	if err != nil {
		return []string{err.Error()}
	}
	ks := r.world.kubelets
	for _, pod := range all {
		over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil
		if !over && pod.Spec.NodeName != "" && ks.serves(pod.Spec.NodeName) && !ks.pods.knows(pod.UID) {
			return []string{fmt.Sprintf("pod %s/%s isn't known to its kubelet", pod.Namespace, pod.Name)}
		}
	}
	return nil
}

// undelivered says that writes are under way. The scenario begins with the cluster's content at 0s: the provider's
// objects, too, of which a server creates the first of a new kind only after two seconds
// (k8s.io/apiextensions-apiserver, pkg/apiserver/customresource_handler.go).
func (r *run) undelivered() []string {
	if n := r.world.courier.under(); n > 0 {
		return []string{phrase.Count(n, "write") + " under way"}
	}
	return nil
}

// quiet reports whether the server has come to rest, so that what is seen from the
// scenario's 0s on is the scenario.
func (r *run) quiet() bool {
	now := r.clock.Now()
	if r.still.IsZero() {
		r.still = now
	}
	return now.Sub(r.heard) >= quietFor || now.Sub(r.still) >= quietMost
}
