package cycle

import "context"

// Environment is the world in which a cluster stands. Its methods may be called from several goroutines at once; they
// obey the context.
type Environment interface {
	// LookupClusterID finds the cluster of a name.
	LookupClusterID(context.Context, string) (ClusterID, error)

	// DescribeCluster says how the cluster stands now. Terminated instances are not listed.
	DescribeCluster(context.Context, ClusterID) (Cluster, error)

	// StartInstances orders that many more instances of the cluster's configuration. It returns as soon as the order is
	// accepted; the new instances show up in later descriptions.
	StartInstances(context.Context, ClusterID, int) error

	// DrainInstances lets instances give up their work and returns when that has begun. Unknown ids are no error.
	DrainInstances(context.Context, ...InstanceID) error

	// TerminateInstances removes instances from the cluster for good. Unknown ids are no error.
	TerminateInstances(context.Context, ...InstanceID) error

	// WaitInstances waits until the instances are in the state. It may return earlier: the planner looks again
	// anyway.
	WaitInstances(context.Context, InstanceState, ...InstanceID) error
}
