// Package nodemanager gives every waiting pod a machine of its own: it decides which nodes to boot and which to stop.
//
// BindingNodeScaler.Plan takes nodes, pods and a moment, and returns Changes: nodes to start, nodes to stop, bindings
// to save. It is a function of its arguments, so a simulation may call it as it is. Compute is the same decision in the
// form of ScalingAlgorithm, which has no moment and no error.
//
//	nodes, pods, now ──Plan──► Changes ──LimitBoots──► Changes ──(boot)──► Publish ──► pod to node
//
// It must never pack several pods on a node, or give a pod another instance type than it names; and it reads no clock,
// no global source of chance and no environment, and starts no goroutine.
package nodemanager
