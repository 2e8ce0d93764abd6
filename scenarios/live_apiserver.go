package scenarios

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// An APIServer is the real API server of a live run, as the kubelets, the provider and the rollers write to it.
//
// Its methods are called one at a time, by the goroutine that calls the LiveSimulation's, and none may call back into
// the LiveSimulation. Where a method returns nothing the APIServer delivers what it was told in its own time, in order for
// each object, again where the server doesn't answer, the latest state where several wait. Those that return an error
// wait for the server's answer. Objects belong to the APIServer; their times are wall times.
type APIServer interface {
	// Register creates the Node of a machine whose kubelet has started, or takes over the one that is there. Its
	// annotation [AnnotationMachine] names the machine for [LiveSimulation.Adopt].
	Register(node *corev1.Node)
	// PostNode is a kubelet's post of its node's status. Labels and annotations are
	// those that it has registered with.
	PostNode(node *corev1.Node)
	// SetLeaseRenewal says whether a node's kubelet renews its Lease from now on. A node that
	// doesn't beat is silent: nothing of it is written, and no pod of it confirmed,
	// until it beats again.
	SetLeaseRenewal(node string, beats bool)
	// ReleaseNode says that a machine is gone for good: what keeps its Node alive ends.
	// The Node object isn't deleted by that.
	ReleaseNode(node string)
	// PostPod is a kubelet's post of a pod's status. A pod that is being deleted
	// and none of whose containers runs may be removed.
	PostPod(pod *corev1.Pod)
	// Record writes an Event, as client-go's recorder of the component would.
	Record(r Report)
	// WriteNode writes a controller's change of a node's metadata and spec, from old to new; other fields on the
	// server stay.
	WriteNode(old, new *corev1.Node)
	// DeleteNode deletes a Node object. uid is empty where it isn't known yet.
	DeleteNode(name string, uid types.UID)
	// WriteCustom creates an object of one of [LiveSimulation.CustomKinds], or takes over the one of its name that is
	// there, where old is nil; or it writes the provider's change of its metadata, spec and status, from old to new.
	// The UID of an owner, where that is of one of these kinds, and of the node in status.nodeRef are the
	// simulation's, as are those in a Node's owner references and in a [Report] about such an object: the APIServer puts
	// its own there.
	WriteCustom(kind CustomKind, old, new *unstructured.Unstructured)
	// DeleteCustom deletes one. Finalizers hold it until a WriteCustom takes them
	// away.
	DeleteCustom(kind CustomKind, name types.NamespacedName)
	// WritePod writes a controller's change of a pod's metadata.
	WritePod(old, new *corev1.Pod)
	// Evict posts an Eviction and returns the server's answer: nil, or an error of
	// k8s.io/apimachinery/pkg/api/errors. A pod that is gone is no error.
	Evict(pod types.NamespacedName, uid types.UID) error
	// DeletePod deletes a pod; grace is nil for its own grace period.
	DeletePod(pod types.NamespacedName, uid types.UID, grace *int64) error
	// Bind binds a pod to a node, which may come later. A pod that has a node, or is gone, stays as it is.
	Bind(pod types.NamespacedName, uid types.UID, node string)
	// CreateWorkload creates a workload that the scenario creates in its course,
	// with its budgets; Scale sets the replicas of one.
	CreateWorkload(objects []runtime.Object)
	Scale(kind, namespace, name string, replicas int32)
	// Mark is a named moment: a roll that goes back, has failed, the time limit.
	Mark(name, reason string)
	Disks
}

// A Report is an Event to be recorded.
type Report struct {
	// Component and Host are the source; Host is that of a kubelet.
	Component, Host string
	// About is as its reporter fills it in: a kubelet gives a node's name as its
	// UID. The UID of a Node that isn't known yet is empty: fill it in.
	About corev1.ObjectReference
	// Type is Normal or Warning. Action is that of the events.k8s.io form, "" for
	// the older one.
	Type, Reason, Action, Message string
}

// AnnotationMachine is the annotation by which a live run finds its machines again; see [LiveSimulation.Adopt].
const AnnotationMachine = "nodesim.dev/machine"
