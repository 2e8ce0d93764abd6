package writes

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/internal/kubedefaults"
	"github.com/nodesim/nodesim/internal/podadmission"
	"github.com/nodesim/nodesim/timeline"
)

var (
	limits         = corev1.SchemeGroupVersion.WithResource("limitranges")
	quotas         = corev1.SchemeGroupVersion.WithResource("resourcequotas")
	storageClasses = storagev1.SchemeGroupVersion.WithResource("storageclasses")

	accounts   = corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
	classes    = schedulingv1.SchemeGroupVersion.WithResource("priorityclasses")
)

// admit has a new object go through the admission of its kind, and gives it what the server does.
func (w *write) admit(u unstructured.Unstructured) error {
	switch w.kind.Resource.String() {
	case "namespaces":
		beginNamespace(u)
	case "pods":
		w.beginPod(u)
		return w.admitPod(u)
	case "services":
		return w.allocate(u, nil)
	case "persistentvolumes":
		protect(u, "kubernetes.io/pv-protection")
	case "persistentvolumeclaims":
		protect(u, "kubernetes.io/pvc-protection")
		return w.classify(u)
	case "daemonsets.apps":
		countTemplates(u, nil)
	case "jobs.batch":
		return w.kind.beginJob(u)
	}
	return w.oneDefault(u)
}

// protect is plugin/pkg/admission/storage/storageobjectinuseprotection.
func protect(u unstructured.Unstructured, finalizer string) {
	if has := u.GetFinalizers(); !slices.Contains(has, finalizer) {
		u.SetFinalizers(append(has, finalizer))
	}
}

// classify gives a claim the default StorageClass (plugin/pkg/admission/storage/storageclass/setdefault).
func (w *write) classify(u unstructured.Unstructured) error {
	if _, named, _ := unstructured.NestedString(u.Object, "spec", "storageClassName"); named || u.GetAnnotations()[corev1.BetaStorageClassAnnotation] != "" {
		return nil
	}
	best := podadmission.DefaultStorageClass(listed[storagev1.StorageClass](w, storageClasses, ""))
	if best == nil {
		return nil
	}
	return unstructured.SetNestedField(u.Object, best.Name, "spec", "storageClassName")
}

// admitPod completes a new pod, where the cluster has what that needs.
func (w *write) admitPod(u unstructured.Unstructured) error {
	if !w.holds(accounts) || !w.holds(classes) {
		return nil
	}
	pod, err := as[corev1.Pod](u)
	if err != nil {
		return err
	}
	id := fnv.New64a()
	_, _ = id.Write([]byte(pod.UID)) // a hash takes everything
	if prefix := pod.GenerateName; prefix != "" && strings.HasPrefix(pod.Name, prefix) {
		pod.Name = "" // as it is when the plugins see it
	}
	if err := podadmission.Admit(pod, podadmission.Suffix(id.Sum64()), w); err != nil {
		return err
	}
	u.SetAnnotations(pod.Annotations)
	if err := unstructured.SetNestedField(u.Object, string(kubedefaults.QOSOf(&pod.Spec)), "status", "qosClass"); err != nil {
		return err
	}
	return respec(u, &pod.Spec)
}

// readmit has a changed object go through the admission of its kind, and keep what the server has given it.
func (w *write) readmit(v view, u unstructured.Unstructured, live *object) error {
	switch {
	case !v.creates: // a subresource
		return nil
	case w.kind.is("services"):
		return w.allocate(u, live)
	case !w.kind.isPod():
		return w.oneDefault(u)
	case !w.holds(classes):
		return nil
	}
	pod, err := as[corev1.Pod](u)
	if err != nil {
		return err
	}
	was, err := as[corev1.Pod](live.Unstructured)
	if err != nil {
		return err
	}
	podadmission.Keep(&pod.Spec, &was.Spec)
	podadmission.Tolerate(&pod.Spec)
	return respec(u, &pod.Spec)
}

func respec(u unstructured.Unstructured, spec *corev1.PodSpec) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	u.Object["spec"] = content
	return err
}

// holds reports whether the cluster has a resource.
func (w *write) holds(r schema.GroupVersionResource) bool {
	_, held := w.handler.cluster.Resource(r)
	return held
}

// read reads an object that is there.
func (w *write) read(r schema.GroupVersionResource, namespace, name string, into any) bool {
	o, _, err := w.handler.cluster.GetUnfaulted(r, namespace, name)
	return err == nil && json.Unmarshal(o.Raw(), into) == nil
}

// youngest is how long a namespace may have no account: the plugin asks ten times for it before it gives up.
const youngest = 2 * time.Second

// Account implements podadmission.Cluster, as the following do.
func (w *write) Account(namespace, name string) *corev1.ServiceAccount {
	a := &corev1.ServiceAccount{}
	if w.read(accounts, namespace, name, a) {
		return a
	}
	space := &corev1.Namespace{}
	if name == "default" && w.read(namespaces, "", namespace, space) && w.now().Sub(space.CreationTimestamp.Time) <= youngest {
		return a
	}
	return nil
}

// Class returns a PriorityClass.
func (w *write) Class(name string) *schedulingv1.PriorityClass {
	c := &schedulingv1.PriorityClass{}
	if w.read(classes, "", name, c) {
		return c
	}
	return nil
}

// Classes returns the PriorityClasses.
func (w *write) Classes() []*schedulingv1.PriorityClass {
	return listed[schedulingv1.PriorityClass](w, classes, "")
}

// oneDefault is 403 for a second PriorityClass that is marked as default (validatePriorityClass of
// plugin/pkg/admission/priority).
func (w *write) oneDefault(u unstructured.Unstructured) error {
	if is, _, _ := unstructured.NestedBool(u.Object, "globalDefault"); !is || !w.kind.is("priorityclasses.scheduling.k8s.io") {
		return nil
	}
	if c := podadmission.DefaultClass(w.Classes()); c != nil && c.Name != u.GetName() {
		return apierrors.NewForbidden(w.kind.groupResource(), u.GetName(), fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", c.Name))
	}
	return nil
}

// Ranges returns the LimitRanges of a namespace.
func (w *write) Ranges(namespace string) []*corev1.LimitRange {
	return listed[corev1.LimitRange](w, limits, namespace)
}

// listed are the objects of a resource in a namespace; none where the cluster hasn't the resource.
func listed[T any](w *write, r schema.GroupVersionResource, namespace string) (all []*T) {
	l, err := w.handler.cluster.ListUnfaulted(r, namespace, metav1.ListOptions{})
	if err != nil {
		return nil
	}
	for _, o := range l.Items {
		into := new(T)
		if json.Unmarshal(o.Raw(), into) == nil {
			all = append(all, into)
		}
	}
	return all
}

// allow asks LimitRanges and quotas about an object that is valid; live is nil of a new one. What quotas charge for it is in
// w.charged then.
func (w *write) allow(u unstructured.Unstructured, live *object) error {
	if w.Namespace == "" || w.kind.among([]string{"events", "events.events.k8s.io"}) {
		return nil
	}
	forbidden := func(why error) error {
		return apierrors.NewForbidden(w.kind.groupResource(), u.GetName(), why)
	}
	if ranges := w.Ranges(w.Namespace); len(ranges) > 0 {
		if err := w.within(u, live, ranges); err != nil {
			return forbidden(err)
		}
	}
	all := listed[corev1.ResourceQuota](w, quotas, w.Namespace)
	if len(all) == 0 {
		return nil
	}
	is, err := w.item(u)
	var old *podadmission.Item
	if live != nil && err == nil {
		var was podadmission.Item
		was, err = w.item(live.Unstructured)
		old = &was
	}
	if err != nil {
		return err
	}
	if w.charged, err = podadmission.Charge(all, is, old, w.now().Time); err != nil {
		return forbidden(err)
	}
	return nil
}

// within asks the LimitRanges of a namespace about a new pod or a claim.
func (w *write) within(u unstructured.Unstructured, live *object, ranges []*corev1.LimitRange) error {
	switch {
	case live != nil && live.GetDeletionTimestamp() != nil:
	case w.kind.isPod() && live == nil:
		pod, err := as[corev1.Pod](u)
		if err != nil {
			return err
		}
		return podadmission.CheckLimits(pod, ranges)
	case w.kind.is("persistentvolumeclaims"):
		claim, err := as[corev1.PersistentVolumeClaim](u)
		if err != nil {
			return err
		}
		return podadmission.CheckClaim(claim, ranges)
	}
	return nil
}

// item is an object as quotas count it.
func (w *write) item(u unstructured.Unstructured) (i podadmission.Item, err error) {
	i.Resource = w.kind.Resource.String()
	switch i.Resource {
	case "pods":
		i.Pod, err = as[corev1.Pod](u)
	case "services":
		i.Service, err = as[corev1.Service](u)
	case "persistentvolumeclaims":
		i.Claim, err = as[corev1.PersistentVolumeClaim](u)
	}
	return i, err
}

// charge stores the quotas that a write charges, before it is stored itself.
func (w *write) charge() error {
	for _, q := range w.charged {
		k, err := w.handler.kind(Request{Resource: quotas, Namespace: q.Namespace, Name: q.Name})
		if err != nil {
			return err
		}
		u, err := k.untyped(q)
		if err != nil {
			return err
		}
		if _, err := w.putOf(k, timeline.Modified, u); err != nil {
			return err
		}
	}
	return nil
}
