// Package workloads is the controllers of workloads in a simulated cluster that takes writes: Deployments, ReplicaSets,
// ReplicationControllers, StatefulSets, DaemonSets, Jobs and CronJobs as Kubernetes 1.36 has them.
//
// In: the workloads' own objects as clients and other actors write them ([Actor.Put]), and changes of pods and nodes.
// Out: writes of those objects and of pods, and Events. Each controller reads all that it needs and answers once,
// a reaction time after something has changed. It must never keep a count of its own, read a clock or a global source
// of randomness.
//
// The controllers of package controllers keep the pods of a simulation that takes no writes; those workloads have no
// objects.
package workloads
