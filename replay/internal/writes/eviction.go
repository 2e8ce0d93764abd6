package writes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/internal/rawjson"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// evict is EvictionREST of kubernetes/pkg/registry/core/pod/storage/eviction.go.
// Budgets are those on the tape: an eviction that is accepted leaves no mark on
// one, so that the next is checked against the same, unless it is kept.
func (w *write) evict() (Answer, error) {
	e, err := w.eviction()
	if err != nil {
		return Answer{}, err
	}
	opts := metav1.DeleteOptions{}
	if e.DeleteOptions != nil {
		opts = *e.DeleteOptions
	}
	switch asked := w.Options.DryRun; {
	case len(opts.DryRun) == 0:
		opts.DryRun = asked
	case len(asked) > 0 && !slices.Equal(asked, opts.DryRun):
		return Answer{}, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", asked, opts.DryRun)
	}
	w.Delete.DryRun = opts.DryRun // for the log
	if w.kind.onTape {
		counted, err := w.evictable()
		if err != nil {
			return Answer{}, err
		}
		if err := checkDelete(opts); err != nil {
			return Answer{}, err
		}
		live, err := w.live()
		if err != nil {
			return Answer{}, err
		}
		if err := w.displace(live, counted, opts); err != nil {
			return Answer{}, err
		}
		if _, err := w.finish(live, opts); err != nil {
			return Answer{}, err
		}
	}
	return status(http.StatusCreated, metav1.Status{Status: metav1.StatusSuccess, Code: http.StatusCreated})
}

// eviction reads the body; policy/v1 and policy/v1beta1 are taken alike.
func (w *write) eviction() (*policyv1.Eviction, error) {
	k := kind{builtIn: true, Resource: timeline.Resource{Group: "policy", Version: "v1", Kind: "Eviction", Resource: "evictions", Namespaced: true}}
	if compact, err := rawjson.Compact(nil, w.Body); err == nil && rawjson.Text(compact, "apiVersion") == "policy/v1beta1" {
		k.Version = "v1beta1"
	}
	u, err := w.decode(k)
	if err != nil {
		return nil, err
	}
	if err := w.settle(&u); err != nil {
		return nil, err
	}
	if u.GetName() != w.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	return as[policyv1.Eviction](u)
}

// evictable checks the pod against the budgets on the tape. counted is the one
// that counts its eviction, nil for none. Most evictions of a drain are refused
// here, and only one that isn't needs the pod as a write sees it.
func (w *write) evictable() (counted *policyv1.PodDisruptionBudget, err error) {
	o, _, err := w.handler.cluster.GetUnfaulted(w.Resource, w.Namespace, w.Name)
	if err != nil {
		return nil, err
	}
	pod, err := asked(o)
	if err != nil {
		return nil, err
	}
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return nil, nil
	}
	if ends := rawjson.Get(o.Raw(), "metadata", "deletionTimestamp"); ends != nil && string(ends) != "null" {
		return nil, nil
	}
	budgets, err := w.handler.budgets(pod)
	if err != nil || len(budgets) == 0 {
		return nil, err
	}
	if len(budgets) > 1 {
		return nil, errors.New("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.") //nolint:revive // the server's words
	}
	if counts, err := allows(budgets[0], pod); err != nil || !counts {
		return nil, err
	}
	return budgets[0], nil
}

// asked is what budgets ask of a pod: its labels, phase and conditions. To read all of it took longer than all else that an
// eviction which is refused does.
func asked(o *replay.Object) (*corev1.Pod, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace(), Name: o.Name(), Labels: o.Labels()}}
	pod.Status.Phase = corev1.PodPhase(rawjson.Text(o.Raw(), "status", "phase"))
	if all := rawjson.Get(o.Raw(), "status", "conditions"); all != nil {
		if err := json.Unmarshal(all, &pod.Status.Conditions); err != nil {
			return nil, fmt.Errorf("object %s/%s on the tape: %w", o.Namespace(), o.Name(), err)
		}
	}
	return pod, nil
}
