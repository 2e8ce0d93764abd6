package writes

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// assign binds a pod to a node (assignPod and setPodNodeAndMetadata of
// kubernetes/pkg/registry/core/pod/storage/storage.go). A server's admission
// says in which zone and region the pod is
// (kubernetes/plugin/pkg/admission/podtopologylabels).
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
	if node, _, err := w.handler.cluster.GetUnfaulted(nodes, "", b.Target.Name); err == nil && b.Target.Kind == "Node" {
		for _, k := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
			if v, has := node.Labels()[k]; has {
				metav1.SetMetaDataLabel(&pod.ObjectMeta, k, v)
			}
		}
	}
	return w.condition(live, pod, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue})
}
