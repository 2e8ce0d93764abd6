package cycle

import (
	"context"
	"slices"
)

// Call is one call of an Environment as Observe saw it. Fields that the method has no use for are zero.
type Call struct {
	Method  string // the name of the method: "DrainInstances"
	Name    string // of LookupClusterID
	Cluster ClusterID
	Count   int
	Await   InstanceState
	IDs     []InstanceID
	Err     error // what the call returned
}

// Observe returns an environment that tells seen of each call after it returned, and hands every result on as it is, the
// errors too. seen may be called from several goroutines at once and may keep the Call.
func Observe(env Environment, seen func(Call)) Environment { return observed{env, seen} }

type observed struct {
	base Environment
	seen func(Call)
}

func (o observed) LookupClusterID(ctx context.Context, name string) (ClusterID, error) {
	id, err := o.base.LookupClusterID(ctx, name)
	o.seen(Call{Method: "LookupClusterID", Name: name, Cluster: id, Err: err})
	return id, err
}

func (o observed) DescribeCluster(ctx context.Context, id ClusterID) (Cluster, error) {
	cluster, err := o.base.DescribeCluster(ctx, id)
	o.seen(Call{Method: "DescribeCluster", Cluster: id, Count: len(cluster.Instances), Err: err})
	return cluster, err
}

func (o observed) StartInstances(ctx context.Context, id ClusterID, count int) error {
	err := o.base.StartInstances(ctx, id, count)
	o.seen(Call{Method: "StartInstances", Cluster: id, Count: count, Err: err})
	return err
}

func (o observed) DrainInstances(ctx context.Context, ids ...InstanceID) error {
	err := o.base.DrainInstances(ctx, ids...)
	o.seen(Call{Method: "DrainInstances", Count: len(ids), IDs: slices.Clone(ids), Err: err})
	return err
}

func (o observed) TerminateInstances(ctx context.Context, ids ...InstanceID) error {
	err := o.base.TerminateInstances(ctx, ids...)
	o.seen(Call{Method: "TerminateInstances", Count: len(ids), IDs: slices.Clone(ids), Err: err})
	return err
}

func (o observed) WaitInstances(ctx context.Context, state InstanceState, ids ...InstanceID) error {
	err := o.base.WaitInstances(ctx, state, ids...)
	o.seen(Call{Method: "WaitInstances", Count: len(ids), Await: state, IDs: slices.Clone(ids), Err: err})
	return err
}
