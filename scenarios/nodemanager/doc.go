// Package nodemanager gives every waiting pod a machine of its own: it decides which nodes to boot and which to stop,
// boots and watches them, and hands them out.
//
// Of it, the simulation's cluster autoscaler uses Assign, the decision over plain data. All of it is the autoscaler of
// scenarios that say so, such as standby-pools (scenarios/internal/standby), and a library for programs that own machines in
// a cloud: ExampleNodeController is such a program in small.
//
// # The decision
//
// BindingNodeScaler.Plan takes nodes, pods and a moment, and returns Changes: nodes to start, nodes to stop, bindings
// to save. It is a function of its arguments and of the boots that the scaler was told of (BootObserver), so a
// simulation may call it as it is; Assign is its core, for callers with neither pods nor nodes. Compute is the same decision in the
// form of ScalingAlgorithm, which has no moment and no error.
//
//	nodes, pods, now ──Plan──► Changes ──LimitBoots──► Changes ──(boot)──► Publish ──► pod to node
//
// # The doing
//
// NodeController runs it against a cloud.CloudClient: a pool loop that plans, boots and stops, a dispatch loop that
// hands nodes out through a NodeDispenser, heartbeats, and a reaper for nodes that have to go. Its time is a
// k8s.io/utils/clock, so that tests step it; all it starts ends before the WaitGroup given to Start is done. What
// survives it is in the registry, and a new controller on the same registry continues from there.
//
// What the package promises about instances: one that was started is stopped before its node is purged, however often
// that takes; a node that has to go while its start is on the way is stopped when the start returns; no pod is told of a
// node that wasn't created.
//
// # What it must never do
//
// Pack several pods on a node, or give a pod another instance type than it names. Nothing here
// reads the environment or a global random source; scaler*.go and changes.go know no clock either. Goroutines are
// started by package tasks alone, which joins them; in a simulation there are none, and tasks take turns (NodeController.Turns). The collaborators are in the folders below: api, cloud, registry,
// events, nodeclient, and smaller ones.
//
// Its API may still change (docs/stability.md).
package nodemanager
