package scenarios_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nodesim/nodesim/scenarios"
)

// fakeControlPlane is the plainest control plane: an API server, a scheduler, controllers of
// Deployments, StatefulSets and DaemonSets, budgets and pod GC, each of which does
// its work at once. What it tells the live run waits in news, as on a watch.
type fakeControlPlane struct {
	p       *scenarios.LiveSimulation
	now     func() time.Time
	version int
	nodes   map[string]*corev1.Node
	pods    map[string]*corev1.Pod
	owners  map[string]*owner
	budgets []*policyv1.PodDisruptionBudget
	customs map[string]*unstructured.Unstructured
	taken   map[string]*unstructured.Unstructured // that nobody has taken over yet
	news    []func()
	quiet   map[string]time.Time // since when a kubelet isn't heard
	ever    map[string]bool      // the nodes that have been there; of others a pod waits, as in podgc's quarantine
	late    string               // the node whose posts come too late
	log     []string             // what was written, a phrase each
	shelf   fakeVolumes
	watcher func(resource string, t watch.EventType, o metav1.Object) // told of each change, where there is one
}

type owner struct {
	namespace, name, kind string
	replicas              int
	template              corev1.PodTemplateSpec
	made                  int
	last                  map[string]time.Time // when a DaemonSet's pod of a node was made
	claims                []corev1.PersistentVolumeClaim
}

func newPlane(now func() time.Time) *fakeControlPlane {
	return &fakeControlPlane{now: now, nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}, owners: map[string]*owner{}, customs: map[string]*unstructured.Unstructured{}, ever: map[string]bool{}, quiet: map[string]time.Time{}, shelf: newShelf()}
}

func (w *fakeControlPlane) say(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *fakeControlPlane) stamp(m *metav1.ObjectMeta) {
	w.version++
	m.ResourceVersion = strconv.Itoa(w.version)
	if m.UID == "" {
		m.UID = types.UID(fmt.Sprintf("real-%d", w.version))
		m.CreationTimestamp = metav1.NewTime(w.now())
	}
}

func (w *fakeControlPlane) nodeNews(t watch.EventType, n *corev1.Node) {
	w.stamp(&n.ObjectMeta)
	is := n.DeepCopy()
	if w.watcher != nil {
		w.watcher("nodes", t, is)
	}
	w.news = append(w.news, func() { w.p.NodeSeen(t, is) })
}

func (w *fakeControlPlane) podNews(t watch.EventType, pod *corev1.Pod) {
	w.stamp(&pod.ObjectMeta)
	is := pod.DeepCopy()
	if w.watcher != nil {
		w.watcher("pods", t, is)
	}
	w.news = append(w.news, func() { w.p.PodSeen(t, is) })
	if t != watch.Deleted && is.Spec.NodeName != "" {
		w.news = append(w.news, func() {
			if w.reachable(is.Spec.NodeName) {
				w.p.PodGiven(is)
			}
		})
	}
}

// settle lets controllers work and tells the news until there are none.
func (w *fakeControlPlane) settle() {
	for {
		w.control()
		if len(w.news) == 0 {
			return
		}
		next := w.news[0]
		w.news = w.news[1:]
		next()
	}
}

func (w *fakeControlPlane) create(objects []runtime.Object) {
	for _, o := range objects {
		switch o := o.(type) {
		case *appsv1.Deployment:
			w.owners["Deployment/"+o.Namespace+"/"+o.Name] = &owner{o.Namespace, o.Name, "ReplicaSet", int(*o.Spec.Replicas), o.Spec.Template, 0, map[string]time.Time{}, nil}
		case *appsv1.StatefulSet:
			w.owners["StatefulSet/"+o.Namespace+"/"+o.Name] = &owner{o.Namespace, o.Name, "StatefulSet", int(*o.Spec.Replicas), o.Spec.Template, 0, map[string]time.Time{}, o.Spec.VolumeClaimTemplates}
		case *appsv1.DaemonSet:
			w.owners["DaemonSet/"+o.Namespace+"/"+o.Name] = &owner{o.Namespace, o.Name, "DaemonSet", 0, o.Spec.Template, 0, map[string]time.Time{}, nil}
		case *policyv1.PodDisruptionBudget:
			w.budgets = append(w.budgets, o)
		}
	}
}

// control is what the control plane's controllers and the scheduler do.
func (w *fakeControlPlane) control() {
	w.monitor()
	for _, key := range slices.Sorted(maps.Keys(w.owners)) {
		w.keep(w.owners[key])
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		pod := w.pods[name]
		if pod.Spec.NodeName != "" && w.nodes[pod.Spec.NodeName] == nil && w.ever[pod.Spec.NodeName] {
			w.gone(pod)
		} else if pod.Spec.NodeName == "" {
			w.bind(pod)
		}
	}
	w.attachDetach()
}

func (w *fakeControlPlane) keep(o *owner) {
	have := map[string]int{}
	for _, pod := range w.pods {
		if pod.Labels["owner"] == o.kind+o.name && pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed {
			have[pod.Spec.NodeName]++
			have["all"]++
		}
	}
	if o.kind == "StatefulSet" {
		w.keepOrdinals(o)
		return
	}
	if o.kind != "DaemonSet" {
		for ; have["all"] < o.replicas; have["all"]++ {
			w.make(o, "")
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		// failedPodsBackoff of pkg/controller/daemon: a second at the least.
		if have[name] == 0 && w.now().Sub(o.last[name]) >= time.Second {
			o.last[name] = w.now()
			w.make(o, name)
		}
	}
}

// keepOrdinals has the pods of a StatefulSet keep their names.
func (w *fakeControlPlane) keepOrdinals(o *owner) {
	for i := range o.replicas {
		pod := w.pods[fmt.Sprintf("%s/%s-%d", o.namespace, o.name, i)]
		if pod != nil && (pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded) {
			w.gone(pod)
			pod = nil
		}
		if pod == nil {
			o.made = i - 1
			w.make(o, "")
		}
	}
}

func (w *fakeControlPlane) make(o *owner, node string) {
	o.made++
	pod := &corev1.Pod{ObjectMeta: *o.template.ObjectMeta.DeepCopy(), Spec: *o.template.Spec.DeepCopy()}
	pod.Namespace, pod.Name, pod.Generation = o.namespace, fmt.Sprintf("%s-%d", o.name, o.made), 1
	pod.Labels["owner"] = o.kind + o.name
	yes := true
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: o.kind, Name: o.name, UID: types.UID(o.kind + o.name), Controller: &yes}}
	pod.Status.Phase = corev1.PodPending
	for _, c := range o.claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: c.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name + "-" + pod.Name},
		}})
	}
	w.pods[pod.Namespace+"/"+pod.Name] = pod
	w.podNews(watch.Added, pod)
	if node != "" {
		pod.Spec.NodeName = node
		w.podNews(watch.Modified, pod)
	}
}

// bind is a scheduler: the node with the fewest pods.
func (w *fakeControlPlane) bind(pod *corev1.Pod) {
	best, least, claim := "", 0, w.claim(pod)
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		n, count := w.nodes[name], 0
		if n.Spec.Unschedulable || !ready(n) || len(n.Spec.Taints) > 0 || !w.suits(claim, n) {
			continue
		}
		for _, other := range w.pods {
			if other.Spec.NodeName == name {
				count++
			}
		}
		if best == "" || count < least {
			best, least = name, count
		}
	}
	unplaced := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	switch {
	case best != "" && w.waits(claim, best): // for its volume
	case best != "":
		pod.Spec.NodeName = best
		pod.Status.Conditions = nil
		w.podNews(watch.Modified, pod)
	case !unplaced:
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable})
		w.podNews(watch.Modified, pod)
	}
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func (w *fakeControlPlane) gone(pod *corev1.Pod) {
	delete(w.pods, pod.Namespace+"/"+pod.Name)
	w.unclaim(pod)
	w.podNews(watch.Deleted, pod)
}

// The APIServer.

func (w *fakeControlPlane) Register(n *corev1.Node) {
	w.ever[n.Name] = true
	defer func() { // what looks at all pods again gives it those that were bound before it came
		for _, pod := range w.pods {
			if is := pod.DeepCopy(); pod.Spec.NodeName == n.Name {
				w.news = append(w.news, func() { w.p.PodGiven(is) })
			}
		}
	}()
	w.say("register %s", n.Name)
	is := n.DeepCopy()
	if was := w.nodes[n.Name]; was != nil {
		is.Status.VolumesAttached = was.Status.VolumesAttached
	}
	w.nodes[n.Name] = is
	w.nodeNews(watch.Added, is)
}

func (w *fakeControlPlane) PostNode(n *corev1.Node) {
	if is := w.nodes[n.Name]; is != nil && w.reachable(n.Name) && n.Name != w.late {
		attached := is.Status.VolumesAttached
		is.Status = n.Status
		is.Status.VolumesAttached = attached
		if ready(is) { // the node lifecycle controller
			is.Spec.Taints = slices.DeleteFunc(is.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady })
		}
		w.nodeNews(watch.Modified, is)
	}
}

func (w *fakeControlPlane) reachable(node string) bool { return w.quiet[node].IsZero() }

func (w *fakeControlPlane) SetLeaseRenewal(node string, beats bool) {
	if delete(w.quiet, node); !beats {
		w.quiet[node] = w.now()
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) { // it is told of its pods again
		if is := w.pods[name].DeepCopy(); is.Spec.NodeName == node {
			w.news = append(w.news, func() { w.p.PodGiven(is) })
		}
	}
}

func (w *fakeControlPlane) ReleaseNode(node string) { w.say("retire %s", node) }

// monitor is the node lifecycle controller: what isn't heard for four seconds of
// the wall, forty of the scenario, is Unknown.
func (w *fakeControlPlane) monitor() {
	for _, name := range slices.Sorted(maps.Keys(w.quiet)) {
		n := w.nodes[name]
		if n == nil || w.now().Sub(w.quiet[name]) < 4*time.Second || !ready(n) {
			continue
		}
		w.miss(n)
	}
}

// miss says of a node that it is Unknown.
func (w *fakeControlPlane) miss(n *corev1.Node) {
	for i := range n.Status.Conditions {
		c := &n.Status.Conditions[i]
		c.Status, c.Reason, c.Message, c.LastTransitionTime = corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status.", metav1.NewTime(w.now())
	}
	w.nodeNews(watch.Modified, n)
}

func (w *fakeControlPlane) PostPod(pod *corev1.Pod) {
	is := w.pods[pod.Namespace+"/"+pod.Name]
	if is == nil || is.UID != pod.UID || !w.reachable(is.Spec.NodeName) {
		return
	}
	is.Status = pod.Status
	w.mounts(is)
	running := slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.State.Running != nil })
	if is.DeletionTimestamp != nil && !running {
		w.gone(is)
		return
	}
	w.podNews(watch.Modified, is)
}

func (w *fakeControlPlane) Record(r scenarios.Report) { w.say("event %s %s", r.Component, r.Reason) }

func (w *fakeControlPlane) WriteNode(old, is *corev1.Node) {
	n := w.nodes[is.Name]
	if n == nil {
		return
	}
	n.Labels, n.OwnerReferences = is.Labels, is.OwnerReferences
	for k := range old.Annotations {
		delete(n.Annotations, k)
	}
	maps.Copy(n.Annotations, is.Annotations)
	if old.Spec.Unschedulable != is.Spec.Unschedulable {
		w.say("cordon %s %t", is.Name, is.Spec.Unschedulable)
	}
	n.Spec.Unschedulable, n.Spec.Taints, n.Finalizers = is.Spec.Unschedulable, is.Spec.Taints, is.Finalizers
	if n.DeletionTimestamp != nil && len(n.Finalizers) == 0 {
		delete(w.nodes, n.Name)
		w.nodeNews(watch.Deleted, n)
		return
	}
	w.nodeNews(watch.Modified, n)
}

func (w *fakeControlPlane) DeleteNode(name string, _ types.UID) {
	w.say("delete node %s", name)
	switch n := w.nodes[name]; {
	case n == nil:
	case len(n.Finalizers) > 0:
		now := metav1.NewTime(w.now())
		n.DeletionTimestamp = &now
		w.nodeNews(watch.Modified, n)
	default:
		delete(w.nodes, name)
		w.nodeNews(watch.Deleted, n)
	}
}

func (w *fakeControlPlane) WriteCustom(kind scenarios.CustomKind, old, is *unstructured.Unstructured) {
	key := kind.Resource + "/" + is.GetName()
	delete(w.taken, key)
	o := w.customs[key]
	if o == nil && old == nil {
		o = &unstructured.Unstructured{}
		w.say("create %s", key)
	}
	if o == nil {
		return
	}
	deleting := o.GetDeletionTimestamp()
	o.Object = is.DeepCopy().Object
	o.SetDeletionTimestamp(deleting)
	w.customs[key] = o
	if deleting != nil && len(o.GetFinalizers()) == 0 {
		delete(w.customs, key)
	}
}

func (w *fakeControlPlane) DeleteCustom(kind scenarios.CustomKind, name types.NamespacedName) {
	w.say("delete %s/%s", kind.Resource, name.Name)
	w.dropCustom(kind, name.Name)
}

// dropCustom is a deletion, by whomever.
func (w *fakeControlPlane) dropCustom(kind scenarios.CustomKind, name string) {
	o := w.customs[kind.Resource+"/"+name]
	switch {
	case o == nil || o.GetDeletionTimestamp() != nil:
		return
	case len(o.GetFinalizers()) == 0:
		delete(w.customs, kind.Resource+"/"+name)
		w.news = append(w.news, func() { w.p.CustomSeen(watch.Deleted, kind, o) })
		return
	}
	now := metav1.NewTime(w.now())
	o.SetDeletionTimestamp(&now)
	w.news = append(w.news, func() { w.p.CustomSeen(watch.Modified, kind, o) })
}

func (w *fakeControlPlane) WritePod(_, _ *corev1.Pod) {}

func (w *fakeControlPlane) Evict(name types.NamespacedName, uid types.UID) error {
	pod := w.pods[name.String()]
	if pod == nil || pod.UID != uid {
		return nil
	}
	for _, b := range w.budgets {
		if b.Namespace != pod.Namespace || !labels.SelectorFromSet(b.Spec.Selector.MatchLabels).Matches(labels.Set(pod.Labels)) {
			continue
		}
		healthy, all := 0, 0
		for _, other := range w.pods {
			if other.Namespace == b.Namespace && labels.SelectorFromSet(b.Spec.Selector.MatchLabels).Matches(labels.Set(other.Labels)) {
				all++
				if other.DeletionTimestamp == nil && slices.ContainsFunc(other.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue }) {
					healthy++
				}
			}
		}
		var least int
		if b.Spec.MinAvailable != nil {
			least, _ = intstr.GetScaledValueFromIntOrPercent(b.Spec.MinAvailable, all, true)
		} else {
			most, _ := intstr.GetScaledValueFromIntOrPercent(b.Spec.MaxUnavailable, all, true)
			least = all - most
		}
		if healthy-1 < least {
			w.say("refuse %s", name)
			return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		}
	}
	w.say("evict %s", name)
	w.deleting(pod)
	return nil
}

func (w *fakeControlPlane) DeletePod(name types.NamespacedName, _ types.UID, _ *int64) error {
	if pod := w.pods[name.String()]; pod != nil {
		w.say("delete %s", name)
		w.deleting(pod)
	}
	return nil
}

func (w *fakeControlPlane) deleting(pod *corev1.Pod) {
	switch {
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || pod.Spec.NodeName == "":
		w.gone(pod)
	case pod.DeletionTimestamp == nil:
		grace := *pod.Spec.TerminationGracePeriodSeconds
		until := metav1.NewTime(w.now().Add(time.Duration(grace) * time.Second))
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &until, &grace
		w.podNews(watch.Modified, pod)
	}
}

// Bind is the API server's, which doesn't ask for the node.
func (w *fakeControlPlane) Bind(name types.NamespacedName, uid types.UID, node string) {
	if pod := w.pods[name.String()]; pod != nil && pod.UID == uid && pod.Spec.NodeName == "" {
		w.say("bind %s to %s", name.Name, node)
		pod.Spec.NodeName, pod.Status.Conditions = node, nil
		w.podNews(watch.Modified, pod)
	}
}

func (w *fakeControlPlane) CreateWorkload(objects []runtime.Object) { w.create(objects) }

func (w *fakeControlPlane) Scale(kind, namespace, name string, replicas int32) {
	w.owners[kind+"/"+namespace+"/"+name].replicas = int(replicas)
}

func (w *fakeControlPlane) Mark(name, reason string) { w.say("mark %s %s", name, reason) }
