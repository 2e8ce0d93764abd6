package scenarios

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// A World is the API server of a performance, a real one, as the kubelets, the
// provider and whoever rolls write to it.
//
// Its methods are called one at a time, by the goroutine that calls the
// Performance's, and none may call the Performance back. Where a method returns
// nothing the World delivers what it was told in its own time, in order for each
// object, again where the server doesn't answer, the latest state where several
// wait. Those that return an error wait for the server's answer. Objects belong
// to the World; their times are wall times, never in the future.
type World interface {
	// Register creates the Node of a machine whose kubelet has started, or takes
	// over the one that is there. The annotations name the machine for [Performance.Adopt].
	Register(node *corev1.Node)
	// PostNode is a kubelet's post of its node's status.
	PostNode(node *corev1.Node)
	// Beat says whether a node's kubelet renews its Lease from now on. A node that
	// doesn't beat is silent: nothing of it is written until it beats again.
	Beat(node string, beats bool)
	// Retire says that a machine is gone for good: what keeps its Node alive ends.
	// The Node object isn't deleted by that.
	Retire(node string)

	// PostPod is a kubelet's post of a pod's status. A pod that is being deleted
	// and none of whose containers runs may be removed.
	PostPod(pod *corev1.Pod)

	// Record writes an Event, as client-go's recorder of the component would.
	Record(r Report)

	// WriteNode is what a controller changes of a node's metadata and spec: from
	// old to new; whatever else stands on the server stays.
	WriteNode(old, new *corev1.Node)
	// WriteNodeStatus is what a controller that isn't the kubelet changes of a node's status.
	WriteNodeStatus(old, new *corev1.Node)
	// DeleteNode deletes a Node object.
	DeleteNode(name string, uid types.UID)
	// WritePod is what a controller changes of a pod's metadata.
	WritePod(old, new *corev1.Pod)
	// Evict posts an Eviction and returns the server's answer: nil, or an error of
	// k8s.io/apimachinery/pkg/api/errors. A pod that is gone is no error.
	Evict(pod types.NamespacedName, uid types.UID) error
	// DeletePod deletes a pod; grace is nil for its own grace period.
	DeletePod(pod types.NamespacedName, uid types.UID, grace *int64) error

	// CreateWorkload creates what a fault has created in the middle of the scenario, Scale sets replicas.
	CreateWorkload(objects []runtime.Object)
	Scale(kind, namespace, name string, replicas int32)
	// Mark is a named moment of the scenario: a roll that has begun, failed or is complete.
	Mark(name, reason string)
}

// A Report is an Event to be recorded.
type Report struct {
	// Component and Host are the source; Host is that of a kubelet.
	Component, Host string
	About           corev1.ObjectReference
	// Type is Normal or Warning.
	Type, Reason, Message string
	// Action is that of the events.k8s.io form, "" in the older one.
	Action string
}

// PerformConfig is what a performance is given.
type PerformConfig struct {
	// Speed divides the scenario's durations; 0 is 1.
	Speed float64
	// Start is the wall time of the scenario's 0s; for a performance that is
	// adopted, that of the first.
	Start time.Time
	// World is where everything is written.
	World World
}

// ErrNotPerformable is wrapped by the errors of scenarios that can't be performed
// on a real API server.
var ErrNotPerformable = errors.New("can't be performed live")

// The annotations by which a performance finds its machines again.
const (
	// AnnotationMachine holds a machine as JSON; see [Performance.Adopt].
	AnnotationMachine = "nodesim.dev/machine"
)

// ... methods of *Performance, all for one goroutine:
//
//	func (f *File) Perform(c PerformConfig) (*Performance, error)
//	func (f *File) Objects() []runtime.Object           what has to be created before: Namespaces, PriorityClasses (none), Deployments, StatefulSets, DaemonSets, Jobs, PodDisruptionBudgets
//	func (p *Performance) Adopt(nodes []*corev1.Node, at time.Duration) error   before Seed: machines that are there, scenario time at which to go on
//	func (p *Performance) Seed() error                  registers the nodes of 0s (those that weren't adopted)
//	func (p *Performance) Unsettled() []string           what is missing before Begin: nodes not Ready, pods not running
//	func (p *Performance) Begin()                       the scenario's 0s is now: rolls and faults are planned
//	func (p *Performance) Advance(to time.Duration) error   does what is due up to a moment of the scenario
//	func (p *Performance) Next() (at time.Duration, ok bool)   when something is due next
//	func (p *Performance) Now() time.Duration
//	func (p *Performance) Ended() bool; Outcomes() []string
//	func (p *Performance) NodeSeen(t watch.EventType, n *corev1.Node)
//	func (p *Performance) PodSeen(t watch.EventType, pod *corev1.Pod)
//	func (p *Performance) BudgetSeen(t watch.EventType, b *policyv1.PodDisruptionBudget)
//	func (p *Performance) Groups() []string
//	func (p *Performance) Instances(group string) []Instance
//	func (p *Performance) Launch(group string, count int) error; Terminate(id string) error; Drain(node string, done func(error)) error
var (
	_ = watch.Added
	_ *policyv1.PodDisruptionBudget
)

// An Instance is a machine of a group, as the provider and the API describe it.
type Instance struct {
	ID, Node, Group, Zone string
	// Config names what it runs: the template's image and launch version.
	Config string
	// Wanted says that this is what the group's instances shall run.
	Wanted bool
	// State is the provider's: pending, running, shutting-down, stopped.
	State string
	// Ready says that its Node is there and Ready, Cordoned that it takes no new pods.
	Ready, Cordoned bool
	// Drained says that nothing is left on it that a drain would evict.
	Drained bool
	Launched time.Duration
}
