package testcluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
)

// KubeletLabel is on every node whose kubelet lives: the kubelets of this package keep those nodes alive and run their
// pods, and touch no other. Taking it away lets the kubelet fall silent, as SilenceKubelet does.
const (
	KubeletLabel = "testcluster.nodesim.dev/kubelet"
	kubeletAlive = "alive"
)

// kubelets play what kwok would with the stages of stages.yaml, in this process: nodes become Ready, pods run and leave,
// each after a delay; statuses are reported again after five minutes, and leases are renewed. Nothing is lost on the
// way: what a refused write wanted is tried again.
type kubelets struct {
	o      Options
	client kubernetes.Interface
	nodes  corev1listers.NodeLister
	pods   corev1listers.PodLister
	ctx    context.Context
	end    context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	due    map[types.UID]*scheduledStep // of nodes and pods
	leases map[types.UID]context.CancelFunc
	given  int // addresses of pods
}

// A step is a kubelet's next action with a node or a pod.
type step string

const (
	nodeReady step = "node-ready"
	heartbeat step = "node-heartbeat"
	podReady  step = "pod-ready"
	podDelete step = "pod-delete"
)

// A scheduledStep is a step that is to come.
type scheduledStep struct {
	step step
	end  context.CancelFunc
}

// retryAfter is the pause after a write that was refused.
const retryAfter = 500 * time.Millisecond

// startKubelets starts the kubelets of every node with KubeletLabel.
func startKubelets(config *rest.Config, o Options) (*kubelets, error) {
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(rest.CopyConfig(config), "kubelets"))
	if err != nil {
		return nil, fmt.Errorf("start kubelets: %w", err)
	}
	k := &kubelets{o: o, client: client, due: map[types.UID]*scheduledStep{}, leases: map[types.UID]context.CancelFunc{}}
	k.ctx, k.end = context.WithCancel(klog.NewContext(context.Background(), klog.Logger{})) // a watch that ends is no news
	// The informers of core/v1 alone: a factory links those of every group.
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	nodes := informers.NewNodeInformer(client, 0, cache.Indexers{})
	pods := informers.NewPodInformer(client, metav1.NamespaceAll, 0, byNamespace)
	k.nodes, k.pods = corev1listers.NewNodeLister(nodes.GetIndexer()), corev1listers.NewPodLister(pods.GetIndexer())
	_, err = nodes.AddEventHandler(handler(k.node, k.nodeGone))
	if err == nil {
		_, err = pods.AddEventHandler(handler(k.pod, func(pod *corev1.Pod) { k.plan(pod.UID, "", 0, nil) }))
	}
	if err != nil {
		k.end()
		return nil, fmt.Errorf("start kubelets: %w", err)
	}
	k.work.Go(func() { nodes.RunWithContext(k.ctx) })
	k.work.Go(func() { pods.RunWithContext(k.ctx) })
	return k, nil
}

func handler[T any](changed, gone func(*T)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { changed(o.(*T)) },
		UpdateFunc: func(_, o any) { changed(o.(*T)) },
		DeleteFunc: func(o any) {
			if lost, is := o.(cache.DeletedFinalStateUnknown); is {
				o = lost.Obj
			}
			gone(o.(*T))
		},
	}
}

// close ends the kubelets and waits for them. nil has none.
func (k *kubelets) close() {
	if k == nil {
		return
	}
	k.end()
	k.work.Wait()
}

// plan has a step done after a delay, unless the object's next step is another one by then. The same step keeps its
// time; "" is none.
func (k *kubelets) plan(uid types.UID, s step, after time.Duration, do func(context.Context) error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if was := k.due[uid]; was != nil {
		if was.step == s {
			return
		}
		was.end()
		delete(k.due, uid)
	}
	if s == "" || k.ctx.Err() != nil {
		return
	}
	ctx, end := context.WithCancel(k.ctx)
	a := &scheduledStep{s, end}
	k.due[uid] = a
	k.work.Go(func() {
		defer end()
		for elapsed(ctx, after) && do(ctx) != nil {
			after = retryAfter
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.due[uid] == a {
			delete(k.due, uid)
		}
	})
}

// elapsed reports whether the time has passed before the context ended.
func elapsed(ctx context.Context, d time.Duration) bool {
	return retry.Pause(ctx, clock.RealClock{}, d) == nil
}

func lives(n *corev1.Node) bool { return n.Labels[KubeletLabel] == kubeletAlive }

// node plans what comes next for a node, and for its pods where its kubelet has come or gone.
func (k *kubelets) node(n *corev1.Node) {
	switch {
	case !lives(n):
		k.plan(n.UID, "", 0, nil)
	case ready(n) != corev1.ConditionTrue:
		k.plan(n.UID, nodeReady, k.o.nodeStart(), func(ctx context.Context) error { return k.makeReady(ctx, n.Name) })
	default:
		k.planHeartbeat(n)
	}
	if k.lease(n, lives(n)) {
		all, err := k.pods.List(labels.Everything())
		if err != nil { // a lister of a cache has none
			return
		}
		for _, pod := range all {
			if pod.Spec.NodeName == n.Name {
				k.pod(pod)
			}
		}
	}
}

func (k *kubelets) nodeGone(n *corev1.Node) {
	k.plan(n.UID, "", 0, nil)
	k.lease(n, false)
}

// pod plans what comes next for a pod.
func (k *kubelets) pod(pod *corev1.Pod) {
	n, err := k.nodes.Get(pod.Spec.NodeName)
	key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	switch {
	case err != nil || !lives(n):
		k.plan(pod.UID, "", 0, nil)
	case pod.DeletionTimestamp != nil:
		k.plan(pod.UID, podDelete, k.o.podStop(), func(ctx context.Context) error { return k.deletePod(ctx, key, pod.UID) })
	case !podIsReady(pod):
		k.plan(pod.UID, podReady, k.o.podStart(), func(ctx context.Context) error { return k.runPod(ctx, key, pod.UID) })
	default:
		k.plan(pod.UID, "", 0, nil)
	}
}

func podIsReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (k *kubelets) deletePod(ctx context.Context, key types.NamespacedName, uid types.UID) error {
	now := int64(0)
	err := k.client.CoreV1().Pods(key.Namespace).Delete(ctx, key.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
