// Package standby has nodemanager as the autoscaler of a simulated cluster, whole: its NodeController with dispenser, registry
// and standby pools.
//
// In: pods that name it as their scheduler, nodes, and groups at the provider. Out: instances, bindings and Events. Every such
// pod gets a node of its own, and a node that a pod has left is terminated. The pools hold nodes that are Ready for the
// next pods.
//
//	manager.go   the controller, and what starts it
//	cloud.go     the provider and the nodes' health, as the controller asks for them
//	pods.go      pods as the controller knows them
//	dispatch.go  asks for the nodes of pods, binds them, and gives nodes back
//
// The controller's tasks take turns in the simulation's time (nodemanager.NodeController.Turns): nothing here is a goroutine,
// and the same scenario makes the same tape. What the controller calls an instance type is the name of a group here.
package standby
