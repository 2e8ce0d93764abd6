package writes

import (
	"errors"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nodesim/nodesim/internal/kubedefaults"
)

// delete is Store.Delete of k8s.io/apiserver/pkg/registry/generic/registry/store.go.
func (w *write) delete() (Answer, error) {
	if w.keeps() && w.kind.immortal(w.Name) {
		return Answer{}, apierrors.NewForbidden(w.kind.groupResource(), w.Name, errors.New("this namespace may not be deleted"))
	}
	live, err := w.live()
	if err != nil {
		return Answer{}, err
	}
	if live == nil {
		return w.deleted(metav1.StatusDetails{Name: w.Name})
	}
	pending, err := w.finish(live, w.Delete)
	if err != nil {
		return Answer{}, err
	}
	if pending || w.kind.returned() {
		code := http.StatusOK
		if orphans := w.Delete.OrphanDependents; pending && orphans != nil && !*orphans { //nolint:staticcheck // SA1019: old clients send it
			code = http.StatusAccepted
		}
		return w.answer(code, live.Unstructured)
	}
	return w.deleted(metav1.StatusDetails{Name: live.GetName(), UID: live.GetUID()})
}

func (w *write) deleted(d metav1.StatusDetails) (Answer, error) {
	d.Group, d.Kind = w.kind.Group, w.kind.Resource.Resource // the resource, where a kind is expected
	return status(http.StatusOK, metav1.Status{Status: metav1.StatusSuccess, Details: &d})
}

// finish ends an object, where that is kept.
func (w *write) finish(o *object, opts metav1.DeleteOptions) (pending bool, err error) {
	if !w.keeps() {
		return w.end(o, opts)
	}
	was := *o.DeepCopy()
	switch {
	case w.kind.is("namespaces"):
		pending, err = w.endNamespace(o, opts)
	case w.kind.isDefinition() && o.GetDeletionTimestamp() == nil:
		pending, err = true, w.endDefinition(o, opts)
	default:
		pending, err = w.end(o, opts)
	}
	if err != nil {
		return pending, err
	}
	return pending, w.keepEnd(o, was, pending)
}

// end marks an object as a delete leaves it: terminating, where it has time
// left or finalizers to wait for, and pending is true then; or else as it was
// at its end. It is rest.BeforeDelete and what the store does about finalizers.
func (w *write) end(o *object, opts metav1.DeleteOptions) (pending bool, err error) {
	if err := w.preconditions(o, opts); err != nil {
		return false, err
	}
	before := o.GetDeletionTimestamp()
	graceful, already := w.grace(o, opts)
	if already {
		return true, nil // nothing changes any more
	}
	finalizers := w.kind.finalizers(o, opts)
	if len(finalizers) > 0 || len(o.GetFinalizers()) > 0 {
		o.SetFinalizers(finalizers)
	}
	if !graceful && len(finalizers) > 0 {
		w.mark(o, before)
	}
	if graceful || len(finalizers) > 0 {
		o.SetResourceVersion(o.newest)
	}
	left := o.GetDeletionGracePeriodSeconds()
	return len(finalizers) > 0 || graceful && left != nil && *left > 0, nil
}

// preconditions checks the UID and the version that a client gave against the
// object's.
func (w *write) preconditions(o *object, opts metav1.DeleteOptions) error {
	p := opts.Preconditions
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != o.GetUID() {
		return w.kind.unmet(o.GetName(), "UID", string(*p.UID), string(o.GetUID()), "deleted and then recreated")
	}
	if p.ResourceVersion == nil {
		return nil
	}
	if was, err := o.wasAt(*p.ResourceVersion); !was || err != nil {
		return w.kind.unmet(o.GetName(), "ResourceVersion", *p.ResourceVersion, o.GetResourceVersion(), "modified")
	}
	return nil
}

// mark is markAsDeleting: no grace, but finalizers to wait for.
func (w *write) mark(o *object, before *metav1.Time) {
	now := w.now()
	if before == nil {
		if g := o.GetGeneration(); g > 0 {
			o.SetGeneration(g + 1)
		}
	}
	if before == nil || before.After(now.Time) {
		o.SetDeletionTimestamp(&now)
	}
	none := int64(0)
	o.SetDeletionGracePeriodSeconds(&none)
}

// grace gives a pod its time to end, counted from the tape's present; other
// kinds have none. already says that the pod is terminating and that this
// changes nothing.
func (w *write) grace(o *object, opts metav1.DeleteOptions) (graceful, already bool) {
	if !w.kind.isPod() {
		return false, false
	}
	asked := opts.GracePeriodSeconds
	if asked != nil && *asked < 0 {
		one := int64(1)
		asked = &one
	}
	if o.GetDeletionTimestamp() != nil {
		return w.shorten(o, asked)
	}
	period, said, _ := unstructured.NestedInt64(o.Object, "spec", "terminationGracePeriodSeconds")
	if !said && w.keeps() {
		period = corev1.DefaultTerminationGracePeriodSeconds
	}
	if asked != nil {
		period = *asked
	}
	node, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	switch {
	case node == "" || phase == "Failed" || phase == "Succeeded":
		period = 0
	case period < 0:
		period = 1
	}
	until := metav1.NewTime(w.now().Add(time.Duration(period) * time.Second))
	o.SetDeletionTimestamp(&until)
	o.SetDeletionGracePeriodSeconds(&period)
	if g := o.GetGeneration(); g > 0 {
		o.SetGeneration(g + 1)
	}
	return true, false
}

// shorten gives a terminating pod less time; more is never given.
func (w *write) shorten(o *object, asked *int64) (graceful, already bool) {
	left := o.GetDeletionGracePeriodSeconds()
	if left == nil || *left == 0 {
		return false, false
	}
	if asked == nil || *asked >= *left {
		return false, true
	}
	period, now := *asked, w.now()
	until := metav1.NewTime(o.GetDeletionTimestamp().Add(time.Duration(period-*left) * time.Second))
	if until.Before(&now) {
		until = now
		if period != 0 {
			period = 1
		}
	}
	o.SetDeletionTimestamp(&until)
	o.SetDeletionGracePeriodSeconds(&period)
	return true, false
}

// finalizers are those of an object that is deleted. Jobs and ReplicationControllers leave their pods unless they are asked to
// take them along (DefaultGarbageCollectionPolicy of kubernetes/pkg/registry/batch/job/strategy.go, and of
// pkg/registry/core/replicationcontroller).
func (k kind) finalizers(o *object, opts metav1.DeleteOptions) []string {
	if k.is("events") || k.is("events.events.k8s.io") {
		return o.GetFinalizers()
	}
	return kubedefaults.Finalizers(o.GetFinalizers(), &opts, k.is("jobs.batch") || k.is("replicationcontrollers"))
}
