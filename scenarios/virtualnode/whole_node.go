package virtualnode

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	coordclientset "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"github.com/nodesim/nodesim/scenarios/virtualnode/informer"
)

// A Node is one virtual node as a whole: a [NodeController] with a lease, a [PodController] for the pods that are bound to
// it, and the informers that these need. Make it with NewNode and Run it once. Its other methods are safe for concurrent
// use.
//
// It needs the rights of both controllers, list and watch on pods, create and patch on events and, unless
// [PodControllerConfig].SkipEnvironment is set, list and watch on config maps, secrets and services. Many nodes in one
// process share their informers and have no need for it.
type Node struct {
	name      string
	client    Client
	cfg       NodeConfig
	informers informer.Set
	events    lateRecorder
	nodes     *NodeController
	pods      *PodController

	ran   atomic.Bool
	ready chan struct{}
	done  chan struct{}
	err   error // how Run ended; to be read after done
}

// Client is the API client that a Node needs. kubernetes.Interface has these methods.
type Client interface {
	CoreV1() corev1client.CoreV1Interface
	CoordinationV1() coordclientset.CoordinationV1Interface
}

// NewNode returns the node of that name. It asks the server nothing. The provider says of the node itself what there is to
// say where it also implements [NodeProvider]; otherwise the node always lives and never changes. It fails where the
// configuration, after opts, is none that the controllers take.
func NewNode(name string, client Client, provider PodLifecycleHandler, opts ...func(*NodeConfig)) (*Node, error) {
	if name == "" || client == nil || provider == nil {
		return nil, InvalidInputf("new node %q: a name, a client and a provider are wanted: give all three", name)
	}
	n := &Node{name: name, client: client, ready: make(chan struct{}), done: make(chan struct{})}
	if n.cfg = newNodeConfig(name, provider, opts); n.cfg.Workers < 0 {
		return nil, InvalidInputf("new node %s: Workers is %d: want more than 0, or 0 for the number of CPUs", name, n.cfg.Workers)
	}
	about, ok := provider.(NodeProvider)
	if !ok {
		about = NaiveNodeProvider{}
	}
	var err error
	n.nodes, err = NewNodeController(about, n.cfg.Node, client.CoreV1().Nodes(), append([]NodeControllerOpt{
		WithNodeEnableLeaseV1(client.CoordinationV1().Leases(corev1.NamespaceNodeLease), 0),
	}, n.cfg.NodeOptions...)...)
	if err != nil {
		return nil, fmt.Errorf("new node: %w", err)
	}
	if n.pods, err = n.podController(provider); err != nil {
		return nil, fmt.Errorf("new node %s: %w", name, err)
	}
	return n, nil
}

// podController makes the controller and the informers that it uses; nothing runs yet.
func (n *Node) podController(provider PodLifecycleHandler) (*PodController, error) {
	resync := max(n.cfg.Resync, 0)
	pods := informer.Pods(n.client, informer.Options{Resync: resync, Tweak: PodInformerFilter(n.name)})
	configMaps, secrets, services := informer.ConfigMaps(n.client, informer.Options{Resync: resync}),
		informer.Secrets(n.client, informer.Options{Resync: resync}), informer.Services(n.client, informer.Options{Resync: resync})
	cfg := PodControllerConfig{
		PodClient: n.client.CoreV1(), PodInformer: pods, Provider: provider, EventRecorder: &n.events,
		ConfigMapInformer: configMaps, SecretInformer: secrets, ServiceInformer: services,
	}
	if n.cfg.Pods != nil {
		n.cfg.Pods(&cfg)
	}
	// What isn't used isn't watched, and needs no right.
	if cfg.PodInformer == PodInformer(pods) {
		n.informers.Add(pods.Informer())
	}
	if !cfg.SkipEnvironment && cfg.ConfigMapInformer == ConfigMapInformer(configMaps) {
		n.informers.Add(configMaps.Informer())
	}
	if !cfg.SkipEnvironment && cfg.SecretInformer == SecretInformer(secrets) {
		n.informers.Add(secrets.Informer())
	}
	if !cfg.SkipEnvironment && cfg.ServiceInformer == ServiceInformer(services) {
		n.informers.Add(services.Informer())
	}
	return NewPodController(cfg)
}

// Run starts the informers, then the pod controller, then the node controller, and keeps the node until ctx ends. So pods
// are followed before the node is there, and ready, for a scheduler to see. Then Run waits for everything that it has
// started, and returns nil; an Event that is being written then may outlast it. An error means that one of the controllers could not start or gave up; the other one has been
// ended as well. Node, lease and pods stay on the server. It can be called once.
func (n *Node) Run(ctx context.Context) (err error) {
	if !n.ran.CompareAndSwap(false, true) {
		return fmt.Errorf("run node %s: it has run before: make a new one", n.name)
	}
	defer func() {
		n.err = err
		close(n.done)
	}()
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: n.client.CoreV1().Events(metav1.NamespaceAll)})
	n.events.EventRecorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: n.name})

	informing, stopInforming := context.WithCancel(context.WithoutCancel(ctx)) // the caches outlive their readers
	n.informers.Start(informing)
	defer n.informers.Wait()
	defer stopInforming()
	return n.keep(ctx)
}

// keep runs the controllers one after the other, until ctx or one of them ends.
func (n *Node) keep(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	var podsErr, nodesErr error
	running.Go(func() {
		defer end()
		podsErr = n.pods.Run(ctx, n.cfg.Workers)
	})
	select {
	case <-n.pods.Ready():
		running.Go(func() {
			defer end()
			nodesErr = n.nodes.Run(ctx)
		})
		select {
		case <-n.nodes.Ready():
			close(n.ready)
		case <-ctx.Done():
		}
	case <-ctx.Done():
	}
	running.Wait() // until ctx or a controller ends
	return errors.Join(podsErr, nodesErr)
}

// Ready is closed when the node is registered, is ready in the API, and its pods are followed. It stays open where Run
// fails before.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// Done is closed when Run has ended and nothing that it has started runs any more, but for the write of an Event.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err returns how Run ended: nil before that, and where the end of its context ended it.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// Controller is the part that keeps the Node object.
func (n *Node) Controller() *NodeController { return n.nodes }

// Pods is the part that follows the pods.
func (n *Node) Pods() *PodController { return n.pods }

// A lateRecorder gets its recorder from Run, since a broadcaster is a goroutine from the beginning.
type lateRecorder struct{ record.EventRecorder }
