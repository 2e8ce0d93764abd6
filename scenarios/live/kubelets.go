package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios/virtualnode/controller"
)

// errSilent is the answer of a kubelet that is down to a ping.
var errSilent = errors.New("the kubelet is silent")

// kubelets keep the Nodes of the scenario's machines alive, a NodeController each. register, post, beat and retire
// are called on the event loop.
type kubelets struct {
	ctx    context.Context // ends all of them
	client kubeclient.Interface
	label  string // of the Nodes that are ours
	nodes  corev1listers.NodeLister
	renew  time.Duration // of leases
	limit  *controller.RequestLimit
	warn   func(error)
	pods   *pods
	line   *sequence[string, *corev1.Node] // of what is posted

	owned  sync.WaitGroup
	mu     sync.RWMutex
	byName map[string]*kubelet
}

// registerMost is how many nodes of a process register at once. Five processes with a thousand nodes each are too much
// for an API server on two cores, where a node asks again after ten seconds.
const registerMost = 16

// renewMost is how many leases of so many nodes are renewed at once, each of them in that interval: enough where a request
// takes 40 ms. A server that takes longer has more than it can do, and time for others, until leases are half expired.
func renewMost(nodes int, every time.Duration) int {
	return max(4, int(time.Duration(nodes)*40*time.Millisecond/max(every, time.Millisecond)))
}

// A kubelet is the [controller.NodeProvider] of one machine.
type kubelet struct {
	name  string
	beats atomic.Bool
	quiet atomic.Pointer[time.Time] // since when it doesn't
	end   context.CancelFunc
	ended chan struct{}
	// created is closed once the Node is there.
	created chan struct{}
	// controller is the one that runs.
	controller atomic.Pointer[controller.NodeController]
	// barred is the moment since which a foreign Node has its name; nil where none has.
	barred atomic.Pointer[time.Time]
	// first is the Node to register, until it is registered; keep alone uses it.
	first *corev1.Node

	mu     sync.Mutex
	notify func(*corev1.Node) // of the controller that runs
	latest *corev1.Node       // what was posted last, until the Node is registered
	done   bool               // it is
}

func newKubelets(client kubeclient.Interface, renew time.Duration, nodes int, warn func(error)) *kubelets {
	ks := &kubelets{client: client, renew: renew, limit: controller.NewRequestLimit(registerMost, renewMost(nodes, renew)), warn: warn, byName: map[string]*kubelet{}, pods: newPods()}
	ks.line = newSequence(func(name string, node *corev1.Node) {
		if k := ks.find(name); k != nil {
			k.post(node)
		}
	}, nodeStands)
	return ks
}

// register has a machine's kubelet create its Node, or take over the one that is
// there, when ready is closed: what was written of that name before comes first.
// One that was registered before ends first.
func (ks *kubelets) register(node *corev1.Node, ready <-chan struct{}) *kubelet {
	first := *node
	first.UID, first.ResourceVersion, first.ManagedFields = "", "", nil
	k := &kubelet{name: node.Name, ended: make(chan struct{}), created: make(chan struct{}), first: &first}
	k.beats.Store(true)
	ctx, end := context.WithCancel(ks.ctx)
	k.end = end
	ks.mu.Lock()
	before := ks.byName[k.name]
	ks.byName[k.name] = k
	ks.mu.Unlock()
	ks.owned.Go(func() {
		defer close(k.ended)
		defer end()
		if before != nil {
			before.end()
			<-before.ended
		}
		select {
		case <-ready:
		case <-ctx.Done():
			return
		}
		if err := ks.keep(ctx, k); err != nil && ctx.Err() == nil {
			ks.warn(fmt.Errorf("kubelet of %s: %w", k.name, err))
		}
	})
	return k
}

// post is a kubelet's post of its node's status.
func (ks *kubelets) post(node *corev1.Node) {
	ks.line.post(node.Name, node)
}

// setRenewal says whether a kubelet lives.
func (ks *kubelets) setRenewal(node string, beats bool) {
	k := ks.find(node)
	if k == nil {
		return
	}
	if !beats {
		now := time.Now()
		k.quiet.Store(&now)
	}
	if k.beats.Swap(beats) == beats {
		return
	}
	if c := k.controller.Load(); c != nil {
		c.Reconcile()
	}
	if beats {
		ks.pods.back(node)
	}
}

// release ends what keeps a Node alive. No kubelet owns its pods from then on.
func (ks *kubelets) release(node string) {
	ks.mu.Lock()
	k := ks.byName[node]
	delete(ks.byName, node)
	ks.mu.Unlock()
	ks.line.drop(node)
	if k != nil {
		k.end()
	}
	ks.pods.gone(node)
}

// lastWords bounds how long a status that a kubelet posted before it fell silent is still written: it was on its way.
const lastWords = time.Second

// serves reports whether a node's kubelet lives and does what it is told. Where a foreign Node has the name, the pods
// on it belong to that.
func (ks *kubelets) serves(node string) bool {
	k := ks.find(node)
	if k == nil {
		return false
	}
	if n, err := ks.nodes.Get(node); err == nil && !ks.owns(n) {
		return false
	}
	since := k.quiet.Load()
	return k.beats.Load() || since != nil && time.Since(*since) < lastWords
}

func (ks *kubelets) find(node string) *kubelet {
	ks.mu.RLock()
	defer ks.mu.RUnlock()
	return ks.byName[node]
}

// owns reports whether a Node belongs to a live run of this scenario: by its label, or, where that was removed, by the
// UID that its kubelet has registered.
func (ks *kubelets) owns(n *corev1.Node) bool {
	if n.Labels[Label] == ks.label {
		return true
	}
	k := ks.find(n.Name)
	if k == nil {
		return false
	}
	c := k.controller.Load()
	return c != nil && c.UID() == n.UID
}

// uid is that of a node's object, "" while it isn't known.
func (ks *kubelets) uid(node string) types.UID {
	if n, err := ks.nodes.Get(node); err == nil && ks.owns(n) {
		return n.UID
	}
	return ""
}

// standing is the UID of a node's object, as the cache or the server has it; "" where
// it is gone, or hasn't been registered.
func (ks *kubelets) standing(ctx context.Context, node string) (types.UID, error) {
	if uid := ks.uid(node); uid != "" {
		return uid, nil
	}
	n, err := ks.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	if err != nil || !ks.owns(n) {
		return "", gone(err)
	}
	return n.UID, nil
}

// close waits until all of them have ended; their context has to have.
func (ks *kubelets) close() {
	ks.line.close()
	ks.pods.line.close()
	ks.owned.Wait()
}

// Ping implements controller.NodeProvider.
func (k *kubelet) Ping(context.Context) error {
	if !k.beats.Load() {
		return errSilent
	}
	return nil
}

// NotifyNodeStatus implements controller.NodeProvider.
func (k *kubelet) NotifyNodeStatus(_ context.Context, notify func(*corev1.Node)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notify = notify
	if k.latest != nil {
		notify(k.latest) // which an earlier controller may have had
	}
}

func (k *kubelet) post(node *corev1.Node) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.done {
		k.latest = node
	}
	if k.notify != nil {
		k.notify(node)
	}
}

// registered releases what another controller would have to be told: there will be
// none, and the one that runs has a copy of its own.
func (k *kubelet) registered() {
	k.first = nil
	k.mu.Lock()
	defer k.mu.Unlock()
	k.latest, k.done = nil, true
}
