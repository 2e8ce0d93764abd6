package live

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios"
)

// answerMost bounds how long the event loop waits for an answer that it can't continue without.
const answerMost = 10 * time.Second

// An apiServer is the API server as the scenario's actors write to it: [scenarios.APIServer]. Its methods are called on the
// event loop.
type apiServer struct {
	ctx             context.Context
	label           string
	client          kubeclient.Interface
	writeQueue      *writeQueue
	reporter        *reporter
	kubelets        *kubelets
	prerequisites   *prerequisites
	customResources *customResources
	kubeletServer   *kubeletServer
	mark            func(name, reason string)
	alike           interner

	evictions, denied int
	closing           []<-chan struct{} // one for each cordon that was queued; closed once the server has taken or refused it
}

var _ scenarios.APIServer = (*apiServer)(nil)

// Register implements [scenarios.APIServer].
func (w *apiServer) Register(node *corev1.Node) {
	ready := make(chan struct{})
	w.writeQueue.send("node/"+node.Name, "register node "+node.Name, func(context.Context) error {
		close(ready)
		return nil
	})
	k := w.kubelets.register(w.labelled(node), ready)
	// What is written to the node next has to find it.
	w.writeQueue.hold("node/"+node.Name, k.created, k.ended)
}

// PostNode implements [scenarios.APIServer].
func (w *apiServer) PostNode(node *corev1.Node) { w.kubelets.post(w.labelled(node)) }

// labelled says of a node that it is ours, and where its kubelet is reached.
func (w *apiServer) labelled(node *corev1.Node) *corev1.Node {
	node.Labels = withLabel(node.Labels, w.label)
	w.kubeletServer.mark(node)
	w.alike.node(node)
	return node
}

// SetLeaseRenewal implements [scenarios.APIServer].
func (w *apiServer) SetLeaseRenewal(node string, beats bool) { w.kubelets.setRenewal(node, beats) }

// ReleaseNode implements [scenarios.APIServer].
func (w *apiServer) ReleaseNode(node string) { w.kubelets.release(node) }

// PostPod implements [scenarios.APIServer].
func (w *apiServer) PostPod(pod *corev1.Pod) { w.kubelets.pods.post(pod) }

// Record implements [scenarios.APIServer].
func (w *apiServer) Record(r scenarios.Report) {
	if r.About.Kind == "Node" && r.About.UID == "" {
		r.About.UID = w.kubelets.uid(r.About.Name)
	}
	about := w.customResources.find(r.About.APIVersion, r.About.Kind, r.About.Namespace, r.About.Name)
	if about == nil {
		w.reporter.record(r)
		return
	}
	w.customResources.recordEvent(r, about, w.reporter.record)
}

// WriteCustom implements [scenarios.APIServer].
func (w *apiServer) WriteCustom(kind scenarios.CustomKind, old, new *unstructured.Unstructured) {
	w.customResources.write(kind, old, new)
}

// DeleteCustom implements [scenarios.APIServer].
func (w *apiServer) DeleteCustom(kind scenarios.CustomKind, name types.NamespacedName) {
	w.customResources.drop(kind, name)
}

// Mark implements [scenarios.APIServer].
func (w *apiServer) Mark(name, reason string) { w.mark(name, reason) }

// Bind implements [scenarios.APIServer].
func (w *apiServer) Bind(pod types.NamespacedName, uid types.UID, node string) {
	w.writeQueue.send("pod/"+pod.String(), "bind pod "+pod.String(), func(ctx context.Context) error {
		err := w.client.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("binding").Body(&corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: uid},
			Target:     corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node},
		}).Do(ctx).Error()
		if apierrors.IsConflict(err) {
			return nil // it has a node
		}
		return gone(err)
	})
}

// WriteNode implements [scenarios.APIServer].
func (w *apiServer) WriteNode(old, new *corev1.Node) {
	nodes, key := w.client.CoreV1().Nodes(), "node/"+new.Name
	w.customResources.awaitOwners(key, old)
	w.customResources.awaitOwners(key, new)
	w.writeQueue.send(key, "patch nodes "+new.Name, func(ctx context.Context) (err error) {
		old, new := w.owned(old), w.owned(new)
		var live *corev1.Node
		if new.UID == "" || taintsDiffer(old, new) {
			if live, err = nodes.Get(ctx, new.Name, metav1.GetOptions{}); err != nil {
				return gone(err)
			}
			if other(live, new.UID) || new.UID == "" && !w.kubelets.owns(live) {
				return nil
			}
			new.UID = live.UID
		}
		patch, err := patchNode(old, new, live)
		if err != nil || patch == nil {
			return err
		}
		_, err = nodes.Patch(ctx, new.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		return replaced(err, new.UID, func() (*corev1.Node, error) { return nodes.Get(ctx, new.Name, metav1.GetOptions{}) })
	})
	if closes(old, new) {
		w.closing = append(w.closing, w.writeQueue.past(key))
	}
}

// closes reports whether a write keeps new pods off a node from then on, by a cordon or a taint.
func closes(old, new *corev1.Node) bool {
	return new.Spec.Unschedulable && !old.Spec.Unschedulable ||
		slices.ContainsFunc(lacking(new.Spec.Taints, old.Spec.Taints, false), func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoSchedule })
}

// awaitCordons waits until the server has taken or refused the cordons so far, as a drain does before it evicts: else evicted pods may come
// back to the node. After answerMost it stops waiting for these, since the event loop stands still meanwhile.
func (w *apiServer) awaitCordons() {
	ctx, cancel := context.WithTimeout(w.ctx, answerMost)
	defer cancel()
	cordons := w.closing
	w.closing = nil
	for _, done := range cordons {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}

// owned returns a state of a node with the owners that are on the server.
func (w *apiServer) owned(node *corev1.Node) *corev1.Node {
	is := node.DeepCopy()
	is.OwnerReferences = w.customResources.owners(node)
	return is
}

// DeleteNode implements [scenarios.APIServer].
func (w *apiServer) DeleteNode(name string, uid types.UID) {
	w.writeQueue.send("node/"+name, "delete nodes "+name, func(ctx context.Context) error {
		nodes, uid := w.client.CoreV1().Nodes(), uid
		if uid == "" {
			live, err := nodes.Get(ctx, name, metav1.GetOptions{})
			if err != nil || !w.kubelets.owns(live) {
				return gone(err)
			}
			uid = live.UID
		}
		return deleted(nodes.Delete(ctx, name, onlyThis(uid, nil)))
	})
}

// onlyThis are the options to delete the object of one UID.
func onlyThis(uid types.UID, grace *int64) metav1.DeleteOptions {
	o := metav1.DeleteOptions{GracePeriodSeconds: grace}
	if uid != "" {
		o.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	return o
}

// deleted drops the errors that say that there is nothing left to delete: a
// conflict is another object of the name.
func deleted(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return gone(err)
}

// WritePod implements [scenarios.APIServer].
func (w *apiServer) WritePod(old, new *corev1.Pod) {
	pods := w.client.CoreV1().Pods(new.Namespace)
	w.writeQueue.send("pod/"+new.Namespace+"/"+new.Name, "patch pods "+new.Namespace+"/"+new.Name, func(ctx context.Context) error {
		patch, err := patchPod(old, new)
		if err != nil || patch == nil {
			return err
		}
		_, err = pods.Patch(ctx, new.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		return replaced(err, new.UID, func() (*corev1.Pod, error) { return pods.Get(ctx, new.Name, metav1.GetOptions{}) })
	})
}

// Evict implements [scenarios.APIServer].
func (w *apiServer) Evict(pod types.NamespacedName, uid types.UID) error {
	w.awaitCordons()
	ctx, cancel := context.WithTimeout(w.ctx, answerMost)
	defer cancel()
	options := onlyThis(uid, nil)
	// Without the client's own patience: who drains has one.
	err := w.client.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("eviction").
		MaxRetries(0).Body(&policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &options,
	}).Do(ctx).Error()
	switch {
	case err == nil:
		w.evictions++
	case apierrors.IsNotFound(err), apierrors.IsConflict(err) && strings.Contains(err.Error(), "UID"):
		return nil
	case apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause):
		w.denied++
	}
	return err
}

// DeletePod implements [scenarios.APIServer].
func (w *apiServer) DeletePod(pod types.NamespacedName, uid types.UID, grace *int64) error {
	ctx, cancel := context.WithTimeout(w.ctx, answerMost)
	defer cancel()
	return deleted(w.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, onlyThis(uid, grace)))
}

// CreateWorkload implements [scenarios.APIServer].
func (w *apiServer) CreateWorkload(objects []runtime.Object) {
	for _, o := range objects {
		made, err := w.prerequisites.plan(o)
		if err != nil {
			w.writeQueue.warn(err)
			continue
		}
		w.writeQueue.send(made.key(), "create "+made.key(), func(ctx context.Context) error {
			_, err := w.prerequisites.create(ctx, made)
			return err
		})
	}
}

// Scale implements [scenarios.APIServer].
func (w *apiServer) Scale(kind, namespace, name string, replicas int32) {
	what := fmt.Sprintf("%s/%s/%s", strings.ToLower(kind), namespace, name)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"replicas": replicas}})
	if err != nil {
		return // of a number: can't be
	}
	w.writeQueue.send(what, "scale "+what, func(ctx context.Context) (err error) {
		switch kind {
		case "Deployment":
			_, err = w.client.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "scale")
		case "StatefulSet":
			_, err = w.client.AppsV1().StatefulSets(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "scale")
		default:
			return apierrors.NewBadRequest(kind + " can't be scaled: want Deployment or StatefulSet")
		}
		return err
	})
}
