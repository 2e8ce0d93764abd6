package controller

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"
)

// A NodeController keeps one Node object alive: it registers the node, pings its provider, writes its status and
// renews its lease, and creates the node again when it is deleted. Make it with NewNodeController and Run it once.
// Its other methods are safe for concurrent use.
//
// Between two beats of its loops a controller is one goroutine, the caller of Run, and three timers.
type NodeController struct {
	provider NodeProvider
	nodes    NodeClient
	name     string

	// What the options say; not changed after NewNodeController.
	pingInterval, pingTimeout      time.Duration
	statusInterval, reportInterval time.Duration
	statusTrouble, leaseTrouble    ErrorHandler
	lister                         corelisters.NodeLister
	notReady, keepSpec             bool
	clock                          clock.WithDelayedExecution
	fraction                       float64
	tracer                         Tracer
	lease                          *leaseKeeper // nil without leases
	limit                          RequestLimit

	ran   atomic.Bool
	ready chan struct{}
	done  chan struct{}
	err   error // how Run ended; to be read after done

	// The loops; made by Run.
	pinger  *pinger
	status  *periodicTask
	renewal *periodicTask // nil without leases

	reported reported // of the status loop alone
	failures int      // updates of the status that failed in a row; of the status loop alone

	mu     sync.Mutex
	wanted desired
	server *identity // nil until the node is registered
}

// NewNodeController returns a controller of the given node, of which it keeps a copy. It asks the server nothing. The node
// needs a name. It fails where an option does, and panics where the timeout of pings isn't above 0.
func NewNodeController(p NodeProvider, node *corev1.Node, nodes NodeClient, opts ...NodeControllerOpt) (*NodeController, error) {
	switch {
	case p == nil:
		return nil, errors.New("node controller: the provider is nil")
	case node == nil || node.Name == "":
		return nil, errors.New("node controller: found a node without a name, want one with")
	case nodes == nil:
		return nil, fmt.Errorf("node controller of %s: the client for nodes is nil", node.Name)
	}
	n := &NodeController{
		provider: p, nodes: nodes, name: node.Name,
		pingTimeout: DefaultPingTimeout, clock: clock.RealClock{}, fraction: DefaultJitter,
		ready: make(chan struct{}), done: make(chan struct{}),
		wanted: desired{node: given(node)},
	}
	for _, option := range opts {
		if option == nil {
			continue
		}
		if err := option(n); err != nil {
			return nil, fmt.Errorf("node controller of %s: %w", node.Name, err)
		}
	}
	if n.pingInterval <= 0 {
		n.pingInterval = DefaultPingInterval
	}
	if n.statusInterval <= 0 {
		n.statusInterval = DefaultStatusUpdateInterval
	}
	if n.pingTimeout <= 0 {
		panic(fmt.Sprintf("virtualnode: node controller of %s: timeout of pings: found %s, want more than 0", node.Name, n.pingTimeout))
	}
	if n.clock == nil {
		n.clock = clock.RealClock{}
	}
	return n, nil
}

// Ready is closed when the node is registered and its loops run. It stays open where Run fails before.
func (n *NodeController) Ready() <-chan struct{} { return n.ready }

// Done is closed when Run has ended and nothing of the controller is left running.
func (n *NodeController) Done() <-chan struct{} { return n.done }

// Err returns how Run ended: nil before that, and where the end of its context ended it.
func (n *NodeController) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// Reconcile has the controller ping its provider and look at the node now, and not at their next intervals: for the owner
// of one informer of all nodes that has seen that a node was deleted or made again, and for a provider that knows that its
// next answer is another one. It never blocks, and does nothing before Ready.
func (n *NodeController) Reconcile() {
	select {
	case <-n.ready:
		n.pinger.task.trigger()
		n.status.trigger()
	default:
	}
}
