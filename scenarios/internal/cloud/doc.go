// Package cloud is the provider of the simulation: groups of instances, what an
// instance is told and what it suffers, the registry that images are pulled
// from, and the volumes that pods mount.
//
// What goes in: what rollers and autoscalers ask for, and what faults do. What comes out: instances and their states,
// which watchers learn at once. The cloud knows nothing of Kubernetes: a kubelet is a program on an instance (see
// scenarios/internal/kubelet), and sees from its instance what has befallen it.
//
// Everything happens in the loop; random numbers come from streams, one for each
// instance. A function that watches may take notes and put calls in the loop, and must
// not call the cloud.
package cloud
