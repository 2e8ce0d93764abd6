package live

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// Somebody else's Node under a machine's name is said once and waited for: when it has
// gone the machine's own comes, as its kubelet has posted it meanwhile. How long it was
// in the way is known.
func TestNodeInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		theirs := aNode("theirs", "")
		kube := fake.NewClientset(theirs)
		var said []string
		ks := newKubelets(faked(kube), 10*time.Second, 1, func(err error) { said = append(said, err.Error()) })
		index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		if err := index.Add(theirs); err != nil {
			t.Fatal(err)
		}
		ks.ctx, ks.label, ks.nodes = ctx, "surge", corev1listers.NewNodeLister(index)
		defer func() {
			cancel()
			ks.close()
		}()
		ready := make(chan struct{})
		close(ready)
		k := ks.register(aNode("", "surge"), ready)
		posted := aNode("", "surge")
		posted.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
		ks.post(posted)

		<-time.After(barredMost - time.Second)
		if err := ks.barred(); err != nil {
			t.Errorf("before the patience is over: %v", err)
		}
		<-time.After(2 * time.Second)
		if err := ks.barred(); err == nil || !strings.Contains(err.Error(), "found 1 node ") || !strings.Contains(err.Error(), "such as a, for 30s: want") {
			t.Errorf("when it is over: %v, want what is in the way", err)
		}
		if len(said) != 1 || !strings.Contains(said[0], "register node a: ") || !strings.Contains(said[0], "want it gone; waiting for that") {
			t.Errorf("said %q, want one line of what is in the way", said)
		}
		select {
		case <-k.created:
			t.Error("their node is taken for its own")
		case <-k.ended:
			t.Error("the kubelet has given up")
		default:
		}

		if err := kube.CoreV1().Nodes().Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := index.Delete(theirs); err != nil {
			t.Fatal(err)
		}
		<-k.created
		if err := ks.barred(); err != nil {
			t.Errorf("when it is gone: %v", err)
		}
		<-time.After(20 * time.Second)
		is, err := kube.CoreV1().Nodes().Get(ctx, "a", metav1.GetOptions{})
		if err != nil || is.Labels[Label] != "surge" || len(is.Status.Conditions) != 1 || is.Status.Conditions[0].Status != corev1.ConditionTrue {
			t.Errorf("the node is %v, %v; want its own, as its kubelet has posted it", is, err)
		}
	})
}

// The API server is away when a machine joins: the Node that it gets in the end has conditions of that moment, which
// stay as they are when the kubelet posts what the scenario says, with times from before.
func TestNodeRegisteredLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		kube := fake.NewClientset()
		var away atomic.Bool
		away.Store(true)
		kube.PrependReactor("*", "nodes", func(k8stesting.Action) (bool, runtime.Object, error) {
			return away.Load(), nil, errors.New("connection refused")
		})
		ks := newKubelets(faked(kube), 10*time.Second, 1, func(error) {})
		ks.ctx, ks.label, ks.nodes = ctx, "surge", corev1listers.NewNodeLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}))
		defer func() {
			cancel()
			ks.close()
		}()
		ready := make(chan struct{})
		close(ready)
		began := metav1.Now()
		node := aNode("", "surge")
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: began, LastTransitionTime: began}}
		k := ks.register(node, ready)
		<-time.After(20 * time.Second)
		away.Store(false)
		<-k.created
		registered := metav1.NewTime(time.Now().Truncate(time.Second))
		ks.post(node.DeepCopy())
		<-time.After(20 * time.Second)
		is, err := kube.CoreV1().Nodes().Get(ctx, "a", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if at := is.Status.Conditions[0].LastTransitionTime; !at.Truncate(time.Second).Equal(registered.Time) { // a server keeps whole seconds
			t.Errorf("a node that was registered %s after its machine joined is Ready since %s: want the time of the registration", registered.Sub(began.Time), at.Sub(began.Time))
		}
	})
}

// neverSettled is a scenario whose nodes aren't there.
type neverSettled struct{ simulation }

func (neverSettled) Unsettled() []string { return []string{"node a isn't Ready"} }
func (neverSettled) Now() time.Duration  { return 0 }

// A scenario whose beginning somebody else's Node is in the way of says so, and ends.
func TestNodeInTheWayOfTheBeginning(t *testing.T) {
	now := time.Now()
	for ago, ends := range map[time.Duration]bool{barredMost / 2: false, barredMost: true} {
		since, k := now.Add(-ago), &kubelet{name: "a"}
		k.barred.Store(&since)
		ks := newKubelets(nil, 0, 1, nil)
		ks.byName["a"] = k
		r := &run{
			Runner: &Runner{label: "surge", clock: clock.RealClock{}, config: &rest.Config{Host: "https://example.invalid"}, tell: func(Progress) {}},
			sim:    neverSettled{}, apiServer: &apiServer{kubelets: ks, writeQueue: &writeQueue{}},
			podCache: corev1listers.NewPodLister(cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})),
		}
		_, over, err := r.step(t.Context())
		if (err != nil) != ends || over {
			t.Errorf("%s in the way: over %t, %v; want an end: %t", ago, over, err, ends)
		}
	}
}
