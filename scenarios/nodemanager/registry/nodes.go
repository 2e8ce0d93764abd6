package registry

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/scenarios/nodemanager/api"
	"github.com/nodesim/nodesim/scenarios/nodemanager/events"
)

// DeletedTTL is how long ListAllNodes still lists a purged node.
const DeletedTTL = 60 * time.Second

// What a caller may have to tell apart.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	ErrPhase    = errors.New("phase can't follow")
)

// NodeRegistry stores nodes. Its methods may be called from any goroutine, and return copies. The zero value is empty,
// dates nodes by the computer's clock and tells nobody of purges.
type NodeRegistry struct {
	clock   clock.PassiveClock
	events  *events.EventSystem
	mu      sync.Mutex
	nodes   map[string]*api.Node
	deleted []tombstone // in the order of their times
}

type tombstone struct {
	node *api.Node
	at   time.Time
}

// NewNodeRegistry returns an empty store. Purges are told to the event system, which may be nil.
func NewNodeRegistry(c clock.PassiveClock, e *events.EventSystem) *NodeRegistry {
	return &NodeRegistry{clock: c, events: e, nodes: map[string]*api.Node{}}
}

// CreateNode stores a new node. A name that is in use is ErrExists.
func (r *NodeRegistry) CreateNode(node *api.Node) (*api.Node, error) {
	if node == nil || node.Name == "" {
		return nil, errors.New("create node: nil or without a name: want a named node")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.nodes[node.Name]; ok {
		return nil, fmt.Errorf("create node %s: %w: choose another name", node.Name, ErrExists)
	}
	stored := node.DeepCopy()
	if stored.CreationTimestamp.IsZero() {
		stored.CreationTimestamp = r.now()
	}
	if r.nodes == nil {
		r.nodes = map[string]*api.Node{}
	}
	r.nodes[node.Name] = stored
	return stored.DeepCopy(), nil
}

// GetNode returns a node, or ErrNotFound.
func (r *NodeRegistry) GetNode(name string) (*api.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	node, ok := r.nodes[name]
	if !ok {
		return nil, fmt.Errorf("get node %s: %w", name, ErrNotFound)
	}
	return node.DeepCopy(), nil
}

// ListNodes returns the nodes that a filter accepts, all without one. The filter must not change them.
func (r *NodeRegistry) ListNodes(filter func(*api.Node) bool) (*api.NodeList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list(filter), nil
}

// ListAllNodes is ListNodes and the nodes that were purged in the last DeletedTTL, as long as no new node has the name.
func (r *NodeRegistry) ListAllNodes(filter func(*api.Node) bool) (*api.NodeList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	all := r.list(filter)
	listed := make(map[string]bool, len(r.deleted))
	for _, d := range slices.Backward(r.deleted) {
		_, alive := r.nodes[d.node.Name]
		if (filter == nil || filter(d.node)) && !alive && !listed[d.node.Name] {
			listed[d.node.Name] = true
			all.Items = append(all.Items, d.node.DeepCopy())
		}
	}
	byName(all.Items)
	return all, nil
}

// Change reads a node, lets f change the copy, and stores it, with nobody in between. Where f returns an error, or a
// phase that can't follow (ErrPhase), nothing is stored. f must not call the registry.
func (r *NodeRegistry) Change(name string, f func(*api.Node) error) (*api.Node, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.change(name, f)
}

// change is Change for those who hold the lock.
func (r *NodeRegistry) change(name string, f func(*api.Node) error) (*api.Node, error) {
	before, ok := r.nodes[name]
	if !ok {
		return nil, fmt.Errorf("change node %s: %w", name, ErrNotFound)
	}
	after := before.DeepCopy()
	if err := f(after); err != nil {
		return nil, fmt.Errorf("change node %s: %w", name, err)
	}
	if !before.Status.Phase.MayBecome(after.Status.Phase) {
		return nil, fmt.Errorf("change node %s: phase %q after %q: %w: want one of %q", name, after.Status.Phase,
			before.Status.Phase, ErrPhase, before.Status.Phase.Successors())
	}
	after.Name, after.CreationTimestamp = before.Name, before.CreationTimestamp
	after.Spec.Terminate = after.Spec.Terminate || before.Spec.Terminate // there is no way back
	r.nodes[name] = after.DeepCopy()
	return after, nil
}

// UpdateStatus stores the status of a node and nothing else of it.
func (r *NodeRegistry) UpdateStatus(node *api.Node) (*api.Node, error) {
	return r.Change(node.Name, func(n *api.Node) error {
		n.Status = node.DeepCopy().Status
		return nil
	})
}

// UpdateNode stores spec and status of a node. Terminate stays set once it was.
func (r *NodeRegistry) UpdateNode(node *api.Node) (*api.Node, error) {
	return r.Change(node.Name, func(n *api.Node) error {
		n.Spec, n.Status = node.Spec, node.DeepCopy().Status
		return nil
	})
}

// MarkForTermination says that a node has to go.
func (r *NodeRegistry) MarkForTermination(node *api.Node) error {
	_, err := r.Change(node.Name, func(n *api.Node) error {
		n.Spec.Terminate = true
		return nil
	})
	return err
}

// PurgeNode puts a node in phase Terminated, removes it, and tells it as events.NodePurged.
func (r *NodeRegistry) PurgeNode(node *api.Node) (*api.Node, error) {
	r.mu.Lock()
	purged, err := r.change(node.Name, func(n *api.Node) error {
		n.Status.Phase = api.NodeTerminated
		return nil
	})
	if err == nil {
		r.forget()
		delete(r.nodes, node.Name)
		r.deleted = append(r.deleted, tombstone{purged.DeepCopy(), r.now()})
	}
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r.events.Emit(events.Event{Type: events.NodePurged, Source: "node-registry", Node: purged})
	return purged, nil
}

func (r *NodeRegistry) list(filter func(*api.Node) bool) *api.NodeList {
	list := &api.NodeList{}
	for _, node := range r.nodes {
		if filter == nil || filter(node) {
			list.Items = append(list.Items, node.DeepCopy())
		}
	}
	byName(list.Items)
	return list
}

// forget drops what was deleted too long ago.
func (r *NodeRegistry) forget() {
	now := r.now()
	r.deleted = slices.DeleteFunc(r.deleted, func(d tombstone) bool { return now.Sub(d.at) >= DeletedTTL })
}

func byName(nodes []*api.Node) {
	slices.SortFunc(nodes, func(a, b *api.Node) int { return cmp.Compare(a.Name, b.Name) })
}

// now is the moment at which nodes are created and purged.
func (r *NodeRegistry) now() time.Time {
	if r.clock == nil {
		return clock.RealClock{}.Now()
	}
	return r.clock.Now()
}
