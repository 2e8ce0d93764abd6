package writes

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nodesim/nodesim/timeline"
)

var nodes = corev1.SchemeGroupVersion.WithResource("nodes")

// displace stores what an eviction says before it deletes the pod: the budget
// allows one disruption less and awaits the pod's end, and the pod says why it
// ends (checkAndDecrement and addConditionAndDeletePod of
// kubernetes/pkg/registry/core/pod/storage/eviction.go).
func (w *write) displace(live *object, counted *policyv1.PodDisruptionBudget, opts metav1.DeleteOptions) error {
	if !w.keeps() || w.dryRun() {
		return nil
	}
	if counted != nil {
		if err := w.count(counted); err != nil {
			return err
		}
	}
	if err := w.preconditions(live, opts); err != nil {
		return err
	}
	pod, err := as[corev1.Pod](live.Unstructured)
	if err != nil {
		return err
	}
	version := pod.ResourceVersion
	err = w.condition(live, pod, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
	})
	if p := opts.Preconditions; p != nil && p.ResourceVersion != nil && *p.ResourceVersion == version {
		v := live.GetResourceVersion()
		p.ResourceVersion = &v // this write is no other client's
	}
	return err
}

// count takes a pod off what a budget allows.
func (w *write) count(b *policyv1.PodDisruptionBudget) error {
	b.Status.DisruptionsAllowed--
	if b.Status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
			ObservedGeneration: b.Status.ObservedGeneration, LastTransitionTime: w.now(),
		})
	}
	if b.Status.DisruptedPods == nil {
		b.Status.DisruptedPods = map[string]metav1.Time{}
	}
	b.Status.DisruptedPods[w.Name] = w.now()
	gvr := policyv1.SchemeGroupVersion.WithResource("poddisruptionbudgets")
	k, err := w.handler.kind(Request{Resource: gvr, Namespace: b.Namespace, Name: b.Name})
	if err != nil {
		return err
	}
	u, err := k.untyped(b)
	if err != nil {
		return err
	}
	_, err = w.putOf(k, timeline.Modified, u)
	return err
}

// condition gives a pod a condition, and stores it where it is new
// (UpdatePodCondition of kubernetes/pkg/api/v1/pod/util.go).
func (w *write) condition(live *object, pod *corev1.Pod, c corev1.PodCondition) error {
	setCondition(pod, c, w.now())
	u, err := w.kind.untyped(pod)
	if err != nil || equality.Semantic.DeepEqual(u.Object, live.Object) {
		return err
	}
	_, err = w.put(timeline.Modified, u)
	live.Unstructured = u
	return err
}

func setCondition(pod *corev1.Pod, c corev1.PodCondition, now metav1.Time) {
	c.LastTransitionTime = now
	for i, was := range pod.Status.Conditions {
		if was.Type != c.Type {
			continue
		}
		if was.Status == c.Status {
			c.LastTransitionTime = was.LastTransitionTime
		}
		pod.Status.Conditions[i] = c
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, c)
}

// beginPod gives a new pod what its node says of it, where it names one, and its
// condition a time.
func (w *write) beginPod(u unstructured.Unstructured) {
	if node, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName"); node != "" {
		if more := w.whereabouts(node); len(more) > 0 {
			labels := u.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			maps.Copy(labels, more)
			u.SetLabels(labels)
		}
	}
	// A negative grace is a second, as a real server answers.
	if grace, is, _ := unstructured.NestedInt64(u.Object, "spec", "terminationGracePeriodSeconds"); is && grace < 0 {
		_ = unstructured.SetNestedField(u.Object, int64(1), "spec", "terminationGracePeriodSeconds") // spec is there
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		c.(map[string]any)["lastTransitionTime"] = w.now().Format(time.RFC3339)
	}
	if len(conditions) > 0 {
		_ = unstructured.SetNestedSlice(u.Object, conditions, "status", "conditions") // it was one
	}
}

// whereabouts are the labels of zone and region that a server's admission copies
// from a node to its pods (kubernetes/plugin/pkg/admission/podtopologylabels).
func (w *write) whereabouts(node string) map[string]string {
	labels := map[string]string{}
	o, _, err := w.handler.cluster.GetUnfaulted(nodes, "", node)
	if err != nil {
		return labels
	}
	for _, k := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if v, has := o.Labels()[k]; has {
			labels[k] = v
		}
	}
	return labels
}

// assign binds a pod to a node (assignPod and setPodNodeAndMetadata of
// kubernetes/pkg/registry/core/pod/storage/storage.go).
func (w *write) assign(b *corev1.Binding, live *object) error {
	if !w.keeps() || w.dryRun() {
		return nil
	}
	pod, err := as[corev1.Pod](live.Unstructured)
	if err != nil {
		return err
	}
	pod.Spec.NodeName = b.Target.Name
	pod.Status.NominatedNodeName = ""
	for k, v := range b.Annotations {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, k, v)
	}
	for k, v := range b.Labels {
		metav1.SetMetaDataLabel(&pod.ObjectMeta, k, v)
	}
	if b.Target.Kind == "Node" {
		for k, v := range w.whereabouts(b.Target.Name) {
			metav1.SetMetaDataLabel(&pod.ObjectMeta, k, v)
		}
	}
	return w.condition(live, pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
}
