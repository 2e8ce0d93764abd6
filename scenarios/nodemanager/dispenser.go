package nodemanager

import (
	"context"
	"errors"
	"sync"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
)

// ErrNoDispenser says that nobody hands out nodes (any more).
var ErrNoDispenser = errors.New("no node dispenser: the controller has ended, or the dispenser has no channels")

// NodeReply is the answer to a request. Node is nil where the pod's node isn't available (yet): ask again.
type NodeReply struct {
	Node *api.Node
	// NoBinding says that no node is on its way for the pod: the pod is new, or no node can be had for it now. A pod for
	// which this goes on too long may be given up.
	NoBinding bool
}

// NodeRequest is a pod that asks for its node. The answer is sent once; a caller that is gone by then gets none.
type NodeRequest struct {
	requestingPod api.Pod
	ReplyChan     chan NodeReply
	gone          chan struct{} // closed when nobody waits for the answer any more
}

// NodeReturn is a node that a pod gives back. Unused says that the pod never started on it.
type NodeReturn struct {
	NodeName string
	Unused   bool
}

// NodeDispenser passes requests for nodes, and nodes that are given back, to a NodeController. Its methods may be called
// from any goroutine; they return when the controller ends.
type NodeDispenser struct {
	NodeRequestChan chan NodeRequest
	NodeReturnChan  chan NodeReturn

	ended chan struct{} // see over
	made  sync.Once
	once  sync.Once
	// direct is nil where the controller's tasks are goroutines.
	direct *direct
	// returning is held for reading while a node is given back, so that none comes in after the last look.
	returning sync.RWMutex
}

// NewNodeDispenser returns a dispenser for one controller.
func NewNodeDispenser() *NodeDispenser {
	return &NodeDispenser{
		NodeRequestChan: make(chan NodeRequest),
		NodeReturnChan:  make(chan NodeReturn, 1),
	}
}

// RequestNode is RequestNodeContext for those who can wait; where there is no dispenser, the reply is empty.
func (e *NodeDispenser) RequestNode(requestingPod api.Pod) NodeReply {
	reply, err := e.RequestNodeContext(context.Background(), requestingPod)
	if err != nil {
		return NodeReply{}
	}
	return reply
}

// RequestNodeContext asks for the node of a pod and waits for the answer, which comes once the first plan is made. The
// pod is copied. The node of the reply is claimed for the pod: give it back with ReturnNode. Where the context or the
// controller ends first, the error says so (ErrNoDispenser for the latter), and no node is claimed.
func (e *NodeDispenser) RequestNodeContext(ctx context.Context, requestingPod api.Pod) (NodeReply, error) {
	if e.NodeRequestChan == nil || e.hasEnded() {
		return NodeReply{}, ErrNoDispenser
	}
	if e.direct != nil {
		return e.direct.request(ctx, requestingPod.Name)
	}
	r := NodeRequest{requestingPod: requestingPod, ReplyChan: make(chan NodeReply), gone: make(chan struct{})}
	defer close(r.gone)
	select {
	case e.NodeRequestChan <- r:
	case <-e.over():
		return NodeReply{}, ErrNoDispenser
	case <-ctx.Done():
		return NodeReply{}, ctx.Err()
	}
	select {
	case reply := <-r.ReplyChan:
		return reply, nil
	case <-e.over():
		return NodeReply{}, ErrNoDispenser
	case <-ctx.Done():
		return NodeReply{}, ctx.Err()
	}
}

// ReturnNode is ReturnNodeContext for those who can wait. Without a name it does nothing.
func (e *NodeDispenser) ReturnNode(nodeName string, unused bool) {
	// What can't be returned stays Claimed in the registry; there is nobody to tell.
	_ = e.ReturnNodeContext(context.Background(), nodeName, unused)
}

// ReturnNodeContext gives a node back. An unused one may serve another pod; any other is stopped. When it returns nil the
// controller has the node, and settles it even if it ends at once; otherwise the node stays Claimed.
func (e *NodeDispenser) ReturnNodeContext(ctx context.Context, nodeName string, unused bool) error {
	if nodeName == "" {
		return nil
	}
	e.returning.RLock()
	defer e.returning.RUnlock()
	if e.NodeReturnChan == nil || e.hasEnded() {
		return ErrNoDispenser
	}
	if e.direct != nil {
		e.direct.controller.takeBack(NodeReturn{NodeName: nodeName, Unused: unused})
		return nil
	}
	select {
	case e.NodeReturnChan <- NodeReturn{NodeName: nodeName, Unused: unused}:
		return nil
	case <-e.over():
		return ErrNoDispenser
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *NodeDispenser) hasEnded() bool {
	select {
	case <-e.over():
		return true
	default:
		return false
	}
}

// end frees everybody who waits, and returns when nobody gives nodes back any more.
func (e *NodeDispenser) end() {
	e.once.Do(func() {
		close(e.over())
		e.returning.Lock()
		defer e.returning.Unlock()
	})
}

// over is closed when the controller has ended. A dispenser may have been made by hand.
func (e *NodeDispenser) over() chan struct{} {
	e.made.Do(func() { e.ended = make(chan struct{}) })
	return e.ended
}
