package live

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/nodesim/nodesim/scenarios"
)

func invalid(action clienttesting.Action) (bool, runtime.Object, error) {
	name := action.(clienttesting.PatchAction).GetName()
	return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: action.GetResource().Resource}, name, nil)
}

// written is what a world writes to a fake API server with these objects, and what the
// the write queue has to say of it.
func written(t *testing.T, write func(*apiServer), meddle func(*fake.Clientset), objects ...runtime.Object) (kube *fake.Clientset, r Report, warnings []string) {
	t.Helper()
	kube = fake.NewClientset(objects...)
	if meddle != nil {
		meddle(kube)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan string, 100)
	w := &apiServer{
		ctx: ctx, label: "surge", client: faked(kube), customResources: &customResources{},
		writeQueue: newWriteQueue(ctx, func(err error) { told <- err.Error() }),
		kubelets:   &kubelets{client: faked(kube), label: "surge", byName: map[string]*kubelet{}, nodes: cached(objects...)},
	}
	write(w)
	if err := w.writeQueue.delivered(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	w.writeQueue.close()
	close(told)
	for warning := range told {
		warnings = append(warnings, warning)
	}
	w.writeQueue.count(&r)
	return kube, r, warnings
}

// cached is an informer's cache of the Nodes among these objects.
func cached(objects ...runtime.Object) corev1listers.NodeLister {
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, o := range objects {
		if n, is := o.(*corev1.Node); is {
			_ = index.Add(n) // it has a name
		}
	}
	return corev1listers.NewNodeLister(index)
}

func aNode(uid types.UID, label string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: uid}}
	if label != "" {
		n.Labels = map[string]string{Label: label}
	}
	return n
}

// A write to an object that was created again meanwhile has nothing to be written to any
// more; one that the server refuses is told of.
func TestWriteToWhatWasMadeAnew(t *testing.T) {
	pod := func(uid types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: uid}}
	}
	attachment := func(uid types.UID) *storagev1.VolumeAttachment {
		return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: uid}}
	}
	write := func(w *apiServer) {
		cordoned, marked := aNode("1", "surge"), pod("1")
		cordoned.Spec.Unschedulable, marked.Labels = true, map[string]string{"marked": ""}
		w.WriteNode(aNode("1", "surge"), cordoned)
		w.WritePod(pod("1"), marked)
		attached := attachment("1")
		attached.Finalizers = []string{"external-attacher/ebs"}
		w.WriteAttachment(attachment("1"), attached)
	}
	meddle := func(kube *fake.Clientset) { kube.PrependReactor("patch", "*", invalid) }
	for uid, refused := range map[types.UID]int{"2": 0, "1": 3} {
		_, r, warnings := written(t, write, meddle, aNode(uid, "surge"), pod(uid), attachment(uid))
		if r.Refused != refused || len(warnings) != refused {
			t.Errorf("the server has uid %s: %d refused with warnings %q, want %d", uid, r.Refused, warnings, refused)
		}
	}
}

// The same of the provider's own objects; their kind is resumed.
func TestWriteToACustomThatWasMadeAnew(t *testing.T) {
	kind := scenarios.CustomKind{GroupVersionResource: schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}, Kind: "NodeClaim"}
	claim := func(uid types.UID, node string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": map[string]any{"name": "a", "uid": string(uid)},
			"spec": map[string]any{"node": node}, "status": map[string]any{"nodeName": node},
		}}
	}
	for uid, fails := range map[types.UID]bool{"2": false, "1": true} {
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{kind.GroupVersionResource: "NodeClaimList"}, claim(uid, "n"))
		client.PrependReactor("patch", "*", invalid)
		known := &customResource{made: make(chan struct{})}
		known.done("1")
		c := &customResources{client: client, kinds: []scenarios.CustomKind{kind}, known: map[string]*customResource{keyOf(kind, "", "a"): known}}
		if err := c.patch(t.Context(), kind, claim("1", "n"), claim("1", "m")); (err != nil) != fails {
			t.Errorf("patch: the server has uid %s: found %v, want an error: %t", uid, err, fails)
		}
		if err := c.status(t.Context(), kind, claim("1", "m")); (err != nil) != fails {
			t.Errorf("status: the server has uid %s: found %v, want an error: %t", uid, err, fails)
		}
	}
}

// What was created again between two looks doesn't end the removal.
func TestReleaseOfWhatWasMadeAnew(t *testing.T) {
	for uid, fails := range map[types.UID]bool{"2": false, "1": true} {
		client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, aNode(uid, "surge"))
		client.PrependReactor("patch", "*", invalid)
		if err := release(t.Context(), client.Resource(nodesResource), "a", "1"); (err != nil) != fails {
			t.Errorf("the server has uid %s: found %v, want an error: %t", uid, err, fails)
		}
	}
}

// The same of pods whose finalizers are taken away.
func TestSweepOfPodsThatWereMadeAnew(t *testing.T) {
	now := metav1.Now()
	listed := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: "1", Finalizers: []string{"example.com/f"}, DeletionTimestamp: &now},
		Spec:       corev1.PodSpec{NodeName: "a"},
	}
	anew := listed.DeepCopy()
	anew.UID, anew.Finalizers, anew.DeletionTimestamp = "2", nil, nil
	kube := fake.NewClientset(anew)
	kube.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.PodList{Items: []corev1.Pod{*listed}}, nil
	})
	live := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, aNode("1", "surge"), anew)
	patches := 0
	live.PrependReactor("patch", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) { patches++; return invalid(a) })
	kube.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("pods"), "web-0", nil)
	})
	s := &sweep{
		p: &Runner{label: "surge"}, seen: map[string]bool{}, hosts: map[string]bool{"a": true},
		clients: &clients{kube: faked(kube), dynamic: live},
	}
	if _, _, err := s.pods(t.Context()); err != nil || patches != 1 {
		t.Errorf("found %v after %d patches, want it to go on after one", err, patches)
	}
}

// A Node of somebody else's is no machine's, whatever its name: it isn't written to,
// nor deleted, nor are the pods on it taken in.
func TestNodeOfSomebodyElse(t *testing.T) {
	for label, ours := range map[string]bool{"": false, "other": false, "surge": true} {
		write := func(w *apiServer) {
			k := &kubelet{name: "a"}
			k.beats.Store(true)
			w.kubelets.byName["a"] = k
			cordoned := aNode("", "surge") // its UID isn't known yet
			cordoned.Spec.Unschedulable = true
			w.WriteNode(aNode("", "surge"), cordoned)
			if serves := w.kubelets.serves("a"); serves != ours {
				t.Errorf("label %q: its pods are taken in: %t, want %t", label, serves, ours)
			}
			if uid := w.kubelets.uid("a"); (uid == "1") != ours {
				t.Errorf("label %q: its uid is found as %q", label, uid)
			}
			w.DeleteNode("a", "")
		}
		kube, r, warnings := written(t, write, nil, aNode("1", label))
		var verbs []string
		for _, a := range kube.Actions() {
			if a.GetVerb() != "get" {
				verbs = append(verbs, a.GetVerb())
			}
		}
		want := ""
		if ours {
			want = "patch delete"
		}
		if got := strings.Join(verbs, " "); got != want || r.Refused > 0 || len(warnings) > 0 {
			t.Errorf("label %q: requests %q and warnings %q, want %q and none", label, got, warnings, want)
		}
	}
}

// A cordon is awaited until the server has taken it, however often it has to be sent.
func TestCordonsAreAwaited(t *testing.T) {
	open := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "1"}}
	earlier := metav1.Now()
	open.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &earlier}}
	shut, tainted := open.DeepCopy(), open.DeepCopy() // with a time of its own
	shut.Spec.Unschedulable = true
	tainted.Spec.Taints = append(tainted.Spec.Taints, corev1.Taint{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule})
	for _, to := range []*corev1.Node{shut, tainted} {
		refused := false
		_, _, warnings := written(t, func(w *apiServer) {
			w.WriteNode(open, to)
			w.awaitCordons()
			is, err := w.client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{})
			if err != nil || len(is.Spec.Taints) != len(to.Spec.Taints) || is.Spec.Unschedulable != to.Spec.Unschedulable || len(w.closing) > 0 {
				t.Errorf("the node is %+v, %v, %d writes are awaited: want it closed", is.Spec, err, len(w.closing))
			}
			w.WriteNode(to, open)
			if len(w.closing) > 0 {
				t.Error("the end of a cordon is awaited")
			}
		}, func(server *fake.Clientset) {
			server.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
				if refused {
					return false, nil, nil
				}
				refused = true
				return true, nil, apierrors.NewServiceUnavailable("busy")
			})
		}, open.DeepCopy())
		if len(warnings) != 1 || !strings.Contains(warnings[0], "trying again") {
			t.Errorf("it says %q, want that the cordon is tried again", warnings)
		}
	}
}
