// Package actors holds the components of a simulated cluster: kubelets, the controllers of kube-controller-manager
// and the cloud controller manager, the scheduler, the API server's eviction, and an autoscaler. One file each.
//
// An actor sees the simulated API (scenarios/internal/kube) and at the provider (scenarios/internal/cloud), and
// nothing else: no scenario's name, no script, no other actor's memory. So whatever is done to the cluster, they
// answer as they would. What they see they note within a watch, and act on later, from the loop, after the time that
// it takes them.
//
// Every draw of chance comes from a stream of its own, named by the actor and,
// where there are many, by the object, so that no actor changes another's luck.
package actors
