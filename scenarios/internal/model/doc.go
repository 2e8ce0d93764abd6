// Package model holds what a simulated cluster is made of: random numbers, durations, machines, the shape of a node and the
// life of a pod, as plain data and pure functions. A simulation and a live run read the same tables, so that both
// tell the same story.
//
// What goes in is values: a seed, a provider, an instance type, a version, an event in a pod's life. What comes out is
// values too: durations, names, labels in their order, conditions with the texts that the kubelet of that version writes.
//
//   - Stream is a seeded source of random numbers, one for each actor; Dist is a distribution of durations.
//   - Timings names every duration of a cluster, with the default of a provider and an image family.
//   - Version is a version of Kubernetes and what it changes.
//   - Machine is an instance type; CapacityOf and AllocatableOf return what a node on it reports, to the byte.
//   - Image is the image of a group's machines, Shape holds what its nodes have in common; Shape.Node is one node
//     with its whole identity: names, labels, annotations, taints, addresses, who adds which and when.
//   - Condition is one of a node's or a pod's conditions; ReadyCondition and its like have the kubelet's texts.
//   - Pod and Container are the life of a pod under its kubelet; PodConditions and Container.Steps are its status.
//
// The package never reads a clock, the environment or a global random source, starts no goroutine, does no
// floating-point arithmetic and has no output. It knows no simulation, no tape and no API server, and imports nothing
// of this module. Nothing in it panics, whatever it is given.
package model
